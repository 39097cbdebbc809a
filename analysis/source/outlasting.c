/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/source/outlasting.h"

#include "analysis/timeline/calls.h"
#include "common/search.h"

#define CALLS_BYTES ((size_t)4 << 20) /* kept of calls that were read again */
#define TURNS_MAX 64

typedef VPROF_ARRAY(uint32_t) u32_array;

/* Calls of one thread that are open when a turn begins: their codes, twice each, plus 1 for those that last long. */
static int add_open(u32_array *seen, struct vprof_calls *calls, const struct vprof_timeline *timeline, uint32_t thread,
		    uint64_t t)
{
	const struct vprof_thread_timeline *line = &timeline->threads[thread];
	const struct vprof_call *v;
	size_t n;

	if (line->t_first > t || line->t_last < t)
		return 0;
	if (vprof_calls_open(calls, thread, &line->calls, t, &v, &n))
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < n; k++) {
		uint32_t *slot = VPROF_PUSH(seen);

		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (uint32_t)v[k].code << 1 | (v[k].t1 - v[k].t0 >= timeline->outlasting_ticks);
	}
	return 0;
}

/* Codes of which more than a half of `seen` last long. */
static int take_most(struct vprof_timeline *timeline, u32_array *seen)
{
	qsort(seen->v, seen->n, sizeof *seen->v, vprof_compare_u32);
	for (size_t i = 0, end; i < seen->n; i = end) {
		size_t n = 0;
		uint32_t *slot;

		for (end = i; end < seen->n && seen->v[end] >> 1 == seen->v[i] >> 1; end++)
			n += seen->v[end] & 1;
		if (2 * n <= end - i)
			continue;
		slot = VPROF_PUSH(&timeline->outlasting);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = seen->v[i] >> 1;
	}
	return 0;
}

/* Half a turn, and no less than what intervals take: they count only if calls as long are seen whole, so none of theirs
 * is long. */
static uint64_t long_ticks(const struct vprof_plan_list *plans)
{
	const struct vprof_plan_turn *turns = plans->turns.v;
	size_t n = plans->turns.n - 1;
	uint64_t ticks = (turns[n].t0 - turns[0].t0) / n / 2;

	for (size_t i = 0; i <= n; i++)
		if (turns[i].last_begin && turns[i].last_begin < turns[i].t0 &&
		    turns[i].t0 - turns[i].last_begin > ticks)
			ticks = turns[i].t0 - turns[i].last_begin;
	return ticks;
}

int vprof_outlasting_find(struct vprof_timeline *timeline, const struct vprof_plan_list *plans)
{
	const struct vprof_plan_turn *turns = plans->turns.v;
	size_t n = plans->turns.n < 2 ? 0 : plans->turns.n - 1, n_looked_at = n < TURNS_MAX ? n : TURNS_MAX;
	struct vprof_calls *calls;
	u32_array seen = { 0 };
	int ret = 0;

	if (!n)
		return 0;
	timeline->outlasting_ticks = long_ticks(plans);
	calls = vprof_calls_new(timeline->n_threads, CALLS_BYTES);
	if (!calls)
		return VPROF_ERR_NOMEM;
	for (uint32_t thread = 0; thread < timeline->n_threads; thread++)
		for (size_t k = 0; k < n_looked_at && !ret; k++)
			ret = add_open(&seen, calls, timeline, thread, turns[1 + k * n / n_looked_at].t0);
	if (!ret && seen.n)
		ret = take_most(timeline, &seen);
	vprof_calls_free(calls);
	VPROF_ARRAY_RELEASE(&seen);
	return ret;
}
