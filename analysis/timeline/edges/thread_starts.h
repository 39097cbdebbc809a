/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which thread a token of pthread_create stands for: the maker records it (CREATE), and the new thread when it starts.
 * A wait of pthread_join names the thread that it waits for by the token, too. */
#ifndef VPROF_THREAD_STARTS_H
#define VPROF_THREAD_STARTS_H

#include "analysis/timeline/timeline.h"

struct vprof_thread_start {
	uint64_t token;
	uint32_t thread; /* that began with it */
};

struct vprof_thread_starts {
	VPROF_ARRAY(struct vprof_thread_start) by_token;
	uint64_t *created; /* [n_threads] when the maker called pthread_create, ticks; 0: not known */
};

/* OK or NOMEM; to be released in any case. O(n log n). */
int vprof_thread_starts_find(struct vprof_thread_starts *starts, const struct vprof_timeline *timeline);
void vprof_thread_starts_release(struct vprof_thread_starts *starts);

/* The thread of a token, VPROF_NONE: none in the trace. */
uint32_t vprof_thread_starts_of(const struct vprof_thread_starts *starts, uint64_t token);

#endif
