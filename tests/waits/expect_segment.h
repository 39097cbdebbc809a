/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace whose first tick is 1 became as a wait history. */
#ifndef EXPECT_SEGMENT_H
#define EXPECT_SEGMENT_H

#include "analysis/waits/history/history.h"

/* Segment i of the entity, in ticks of the trace; `waker` NULL: nobody is known. */
static inline void expect_segment(const struct vprof_waits_history *h, const struct vprof_waits_entity *e, size_t i,
				  uint64_t from, uint64_t to, int state, const char *waker)
{
	const struct vprof_waits_segment *s = &e->segments.v[i];

	assert_true(i < e->segments.n);
	assert_int_equal(s->from, from - 1);
	assert_int_equal(s->to, to - 1);
	assert_int_equal(s->state, state);
	if (waker)
		assert_string_equal(h->entities.v[s->waker].name, waker);
	else
		assert_int_equal(s->waker, VPROF_NONE);
}

#endif
