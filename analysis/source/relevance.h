/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which stretches of which threads matter to the intervals at all, and how long the intervals' threads waited for each
 * release. A program starts, stops, and has threads that no interval ever waits for: what they do explains nothing. */
#ifndef VPROF_RELEVANCE_H
#define VPROF_RELEVANCE_H

#include "analysis/timeline/timeline.h"

struct vprof_relevant_span {
	uint64_t from, to;
};

struct vprof_release {
	uint64_t t, waited; /* ticks that one wait, which it ended, had lasted */
};

struct vprof_relevance {				   /* of one thread */
	VPROF_ARRAY(struct vprof_relevant_span) stretches; /* disjoint, by time */
	VPROF_ARRAY(struct vprof_release) releases;	   /* by time */
};

/* From the first to the last mark or queue event of a thread, and wherever another thread was awaited by one of these,
 * by one that these awaited, and so on. The waits are matched (vprof_wakes_match). *out[n_threads], or NULL and NOMEM.
 */
int vprof_relevance_find(struct vprof_relevance **out, const struct vprof_timeline *timeline);
void vprof_relevance_free(struct vprof_relevance *relevance, size_t n_threads);

/* Is `t` in a stretch, ends included? */
int vprof_relevance_covers(const struct vprof_relevance *c, uint64_t t);

/* Sum of the waits that the release at `t` ended. */
uint64_t vprof_relevance_waited(const struct vprof_relevance *c, uint64_t t);

#endif
