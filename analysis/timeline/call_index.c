/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The index that the first pass over a thread's records makes: see calls.h. */
#include "analysis/timeline/call_index.h"

#include "common/error.h"
#include "common/search.h"

static void end_block(struct vprof_call_index *index)
{
	struct vprof_block *b;

	if (!index->blocks.n)
		return;
	b = &index->blocks.v[index->blocks.n - 1];
	b->t0_max = index->t0_max;
	b->t1_max = index->t1_max;
	b->n_calls = index->n_calls;
	index->t0_max_before = index->t0_max;
	index->n_calls = 0;
}

int vprof_call_index_begin(struct vprof_call_index *index)
{
	struct vprof_block *b;

	end_block(index);
	b = VPROF_PUSH(&index->blocks);
	if (!b || index->outers.n >= VPROF_NONE)
		return VPROF_ERR_NOMEM;
	b->first_outer = (uint32_t)index->outers.n;
	return 0;
}

int vprof_call_index_outer(struct vprof_call_index *index, uint64_t t0, uint64_t t1, uint32_t code, int is_sampled)
{
	struct vprof_outer *o;

	if (!index->t0_max_before)
		return 0;
	o = VPROF_PUSH(&index->outers);
	if (!o)
		return VPROF_ERR_NOMEM;
	*o = (struct vprof_outer){ .t0 = t0,
				   .t1 = t1,
				   .code = code & VP_CODE_MASK,
				   .is_sampled = is_sampled != 0,
				   .parent = VPROF_NONE,
				   .place = index->n_calls };
	return 0;
}

int vprof_call_index_odd(struct vprof_call_index *index, uint64_t t0, uint64_t t1, uint32_t code, uint32_t unit,
			 int replaces, int is_sampled)
{
	struct vprof_irregular_call *call = VPROF_PUSH(&index->irregular);

	if (!call)
		return VPROF_ERR_NOMEM;
	*call = (struct vprof_irregular_call){ .t0 = t0,
					       .t1 = t1,
					       .code = code & VP_CODE_MASK,
					       .block = (uint32_t)index->blocks.n - 1,
					       .unit = unit,
					       .replaces = replaces != 0,
					       .is_sampled = is_sampled != 0 };
	return vprof_call_index_add(index, t0, t1, code, is_sampled);
}

/* The caller of an outer call is one, too. */
void vprof_call_index_finish(struct vprof_call_index *index)
{
	struct vprof_outer *outers = index->outers.v;
	uint32_t above = VPROF_NONE;

	end_block(index);
	for (size_t i = index->outers.n; i-- > 0;) {
		uint32_t p = i + 1 < index->outers.n ? (uint32_t)i + 1 : VPROF_NONE;

		while (p != VPROF_NONE && outers[p].t0 > outers[i].t0)
			p = outers[p].parent;
		outers[i].parent = p;
	}
	for (size_t b = index->blocks.n; b-- > 0;) {
		struct vprof_block *block = &index->blocks.v[b];
		uint32_t p = above;

		while (p != VPROF_NONE && outers[p].t0 > block->t0_max)
			p = outers[p].parent;
		block->above = p;
		if (b + 1 < index->blocks.n ? block->first_outer < block[1].first_outer :
					      block->first_outer < index->outers.n)
			above = block->first_outer;
	}
}

void vprof_call_index_release(struct vprof_call_index *index)
{
	VPROF_ARRAY_RELEASE(&index->blocks);
	VPROF_ARRAY_RELEASE(&index->outers);
	VPROF_ARRAY_RELEASE(&index->irregular);
}

int vprof_call_index_has_sampled(const struct vprof_call_index *index, uint64_t from, uint64_t to)
{
	size_t n = index->blocks.n, b;

	if (!n || !index->n_sampled)
		return 0;
	b = vprof_time_search(index->blocks.v, sizeof *index->blocks.v, n, to - 1, 0);
	b = b < n ? b : n - 1;
	for (uint32_t o = index->blocks.v[b].above; o != VPROF_NONE; o = index->outers.v[o].parent)
		if (index->outers.v[o].is_sampled && index->outers.v[o].t0 < to && index->outers.v[o].t1 > from)
			return 1;
	do {
		if (index->blocks.v[b].n_sampled)
			return 1;
	} while (b-- > 0 && index->blocks.v[b].t1_max > from);
	return 0;
}

uint64_t vprof_call_index_cut(const struct vprof_call_index *index, uint64_t from, uint64_t to, size_t n_blocks)
{
	size_t low = VPROF_BISECT(index->blocks.n, i, index->blocks.v[i].t1_max <= from);

	low += n_blocks;
	return low < index->blocks.n && index->blocks.v[low].t1_max < to ? index->blocks.v[low].t1_max + 1 : to;
}
