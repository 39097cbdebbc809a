/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the calls of a thread lie in its trace: what the first pass keeps of them (calls.h reads them again). */
#ifndef VPROF_CALL_INDEX_H
#define VPROF_CALL_INDEX_H

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

/* Are any calls that may overlap [from, to) sampled? */
int vprof_call_index_has_sampled(const struct vprof_call_index *index, uint64_t from, uint64_t to);

/* A time in (from, to] up to which the stretch overlaps not many more blocks than n_blocks. */
uint64_t vprof_call_index_cut(const struct vprof_call_index *index, uint64_t from, uint64_t to, size_t n_blocks);

#endif
