/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of a thread by time, without holding all of them.
 *
 * The first pass over a thread's records keeps an index of its trace's chunks, here called blocks; calls are read again
 * from the blocks around a time when somebody asks for them. Calls are recorded when they end, so
 *
 * - the caller of a call is the first one recorded after it that began no later;
 * - what was open at a time was recorded in the block of that time, or later. Few calls are open at a block's end and
 *   recorded in a later one: these *outer* calls are kept.
 *
 * Times that do not nest (damage) are cut where they are read: what overlaps a stretch of time nests within it.
 */
#ifndef VPROF_CALLS_H
#define VPROF_CALLS_H

#include "common/array.h"
#include "trace/reader.h"

struct vprof_block {
	uint64_t t0_max, t1_max; /* over all calls up to the block's end */
	uint32_t n_calls;
	uint32_t first_outer; /* index of the first outer call that was recorded in this block or later */
	uint32_t above;	      /* the first one recorded after this block that began before its end, or VPROF_NONE */
	uint32_t n_sampled;
};

/* a call that began before the block that holds its record */
struct vprof_outer {
	uint64_t t0, t1;
	uint32_t code : 24;
	uint32_t is_sampled : 8;
	uint32_t parent; /* index of the outer call around it, or VPROF_NONE */
	uint32_t place;	 /* among the calls of its block */
};

/* a call without a record of its own, or with one that does not tell its end */
struct vprof_irregular_call {
	uint64_t t0, t1;
	uint32_t code, block;
	uint32_t unit;	  /* of the block before which it stands; UINT32_MAX: at its end */
	uint8_t replaces; /* ... and in whose place */
	uint8_t is_sampled;
};

/* of one thread */
struct vprof_call_index {
	const struct vprof_trace_thread *source;
	VPROF_ARRAY(struct vprof_block) blocks;		    /* [source->n_chunks] */
	VPROF_ARRAY(struct vprof_outer) outers;		    /* in record order */
	VPROF_ARRAY(struct vprof_irregular_call) irregular; /* in record order */
	uint64_t t0_max, t1_max, t0_max_before;		    /* so far, and at the begin of the last block */
	uint32_t n_calls;				    /* in the last block */
	uint64_t n_sampled;				    /* in all */
};

#define VPROF_CALL_TIME_MAX (UINT64_MAX / 4) /* later times cannot be real and would overflow sums */

/* Building, in record order: begin each block, add its calls, finish once. OK or NOMEM. */
int vprof_call_index_begin(struct vprof_call_index *index);
int vprof_call_index_outer(struct vprof_call_index *index, uint64_t t0, uint64_t t1, uint32_t code, int is_sampled);
int vprof_call_index_odd(struct vprof_call_index *index, uint64_t t0, uint64_t t1, uint32_t code, uint32_t unit,
			 int replaces, int is_sampled);
void vprof_call_index_finish(struct vprof_call_index *index);
void vprof_call_index_release(struct vprof_call_index *index);

static inline int vprof_call_index_add(struct vprof_call_index *index, uint64_t t0, uint64_t t1, uint32_t code,
				       int is_sampled)
{
	if (t0 <= index->t0_max_before && vprof_call_index_outer(index, t0, t1, code, is_sampled))
		return -1;
	index->n_calls++;
	if (is_sampled) {
		index->n_sampled++;
		index->blocks.v[index->blocks.n - 1].n_sampled++;
	}
	index->t0_max = t0 > index->t0_max ? t0 : index->t0_max;
	index->t1_max = t1 > index->t1_max ? t1 : index->t1_max;
	return 0;
}

struct vprof_call {
	uint64_t t0, t1;
	uint32_t code : 24;
	uint32_t is_sampled : 8; /* it has a vprof_sampled */
	uint32_t parent;	 /* index of the call around it, or VPROF_NONE */
};

/* Reads calls of all threads; keeps the blocks that were used last, up to a number of bytes. Not for several threads at
 * once. */
struct vprof_calls;
struct vprof_calls *vprof_calls_new(size_t n_threads, size_t n_bytes_max); /* NULL without memory */
void vprof_calls_free(struct vprof_calls *calls);

/* What overlaps [from, to) on a thread, block by block, from the last call to the first: calls come after those around
 * them. Calls of no length count when they lie strictly inside.
 *
 *   vprof_stretch_begin(&s, calls, thread, index, from, to);
 *   while (vprof_stretch_next(&s) > 0)
 *           ... s.v[s.n_kept .. s.n) are new; s.v[i], i < n_kept, was v[s.kept[i]] before this step
 *
 * Members t0 and t1 are as recorded; `low` and `high` are cut to the stretch, to the call around it and to its
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

/* Are any calls that may overlap [from, to) sampled? */
int vprof_call_index_has_sampled(const struct vprof_call_index *index, uint64_t from, uint64_t to);

/* A time in (from, to] up to which the stretch overlaps not many more blocks than n_blocks. */
uint64_t vprof_call_index_cut(const struct vprof_call_index *index, uint64_t from, uint64_t to, size_t n_blocks);

/* Calls that are open at t (t0 <= t < t1), the innermost first. OK or NOMEM; *v belongs to `calls`. */
int vprof_calls_open(struct vprof_calls *calls, uint32_t thread, const struct vprof_call_index *index, uint64_t t,
		     const struct vprof_call **v, size_t *n);

/* All calls that overlap [from, to), in preorder, with their parents. Meant for short stretches. */
int vprof_calls_window(struct vprof_calls *calls, uint32_t thread, const struct vprof_call_index *index, uint64_t from,
		       uint64_t to, const struct vprof_call **v, size_t *n);

#endif
