/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of a thread by time, without keeping all of them in memory.
 *
 * The first pass over a thread's records keeps an index of its trace's chunks, here called blocks; calls are read again
 * from the blocks around a time on demand. Calls are recorded when they end, so
 *
 * - the caller of a call is the first one recorded after it that began no later;
 * - what was open at a time was recorded in the block of that time, or later. Few calls are open at a block's end and
 *   recorded in a later one: these *outer* calls are kept.
 *
 * Times that do not nest (a damaged trace) are clipped when they are read: what overlaps a stretch of time nests within
 * it.
 */
#ifndef VPROF_CALLS_H
#define VPROF_CALLS_H

#include "analysis/timeline/call_index.h"

/* Reads calls of all threads; caches the most recently used blocks, up to a number of bytes. Not thread-safe. */
struct vprof_calls;
struct vprof_calls *vprof_calls_new(size_t n_threads, size_t n_bytes_max); /* NULL: out of memory */
void vprof_calls_free(struct vprof_calls *calls);

/* What overlaps [from, to) on a thread, block by block, from the last call to the first: calls come after those around
 * them. Calls of no length count when they lie strictly inside.
 *
 *   vprof_stretch_begin(&s, calls, thread, index, from, to);
 *   while (vprof_stretch_next(&s) > 0)
 *           ... s.v[s.n_kept .. s.n) are new; s.v[i], i < n_kept, was v[s.kept[i]] before this step
 *
 * Members t0 and t1 are as recorded; `low` and `high` are clipped to the stretch, to the call around it and to its
 * siblings. */
struct vprof_stretch_call {
	uint64_t low, high;
	uint64_t limit; /* begin of the first call within it so far */
	uint64_t t0, t1;
	uint32_t code : 24;
	uint32_t is_sampled : 8;
	uint32_t parent; /* index in v, or VPROF_NONE */
};

struct vprof_stretch {
	struct vprof_stretch_call *v;
	const uint32_t *kept;
	size_t n, n_kept;
	/* private */
	struct vprof_calls *calls;
	const struct vprof_call_index *index;
	uint64_t from, to, limit;
	uint32_t thread, block;
	size_t n_outer; /* calls at v's begin that are recorded in later blocks */
	int is_begun, is_last;
};

void vprof_stretch_begin(struct vprof_stretch *s, struct vprof_calls *calls, uint32_t thread,
			 const struct vprof_call_index *index, uint64_t from, uint64_t to);
int vprof_stretch_next(struct vprof_stretch *s); /* 1, 0 at the end, NOMEM; v may move and belongs to `calls` */

/* Calls that are open at t (t0 <= t < t1), the innermost first. OK or NOMEM; *v belongs to `calls`. */
int vprof_calls_open(struct vprof_calls *calls, uint32_t thread, const struct vprof_call_index *index, uint64_t t,
		     const struct vprof_call **v, size_t *n);

/* All calls that overlap [from, to), in preorder, with their parents. Meant for short stretches. */
int vprof_calls_window(struct vprof_calls *calls, uint32_t thread, const struct vprof_call_index *index, uint64_t from,
		       uint64_t to, const struct vprof_call **v, size_t *n);

#endif
