/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/plan_list.h"

#include "common/error.h"
#include "common/search.h"

static int turn_order(const void *a, const void *b)
{
	const struct vprof_plan_turn *x = a, *y = b;

	if (x->process_seq != y->process_seq)
		return x->process_seq < y->process_seq ? -1 : 1;
	return x->t1 < y->t1 ? -1 : x->t1 > y->t1;
}

static int add(struct vprof_plan_list *list, const struct vp_unit *u)
{
	struct vprof_plan_turn turn = { u->t, u[1].t, (uint32_t)VP_PAYLOAD(u->w), (uint32_t)u[1].w, u[2].t };
	struct vprof_plan_turn *slot;

	if (turn.t1 < turn.t0)
		turn.t1 = turn.t0; /* damaged */
	slot = turn.process_seq ? VPROF_PUSH(&list->of_process) : VPROF_PUSH(&list->turns);
	if (!slot)
		return VPROF_ERR_NOMEM;
	*slot = turn;
	return VPROF_OK;
}

int vprof_plan_list_read(struct vprof_plan_list *list, const struct vprof_trace *trace)
{
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	uint32_t n;

	*list = (struct vprof_plan_list){ .is_live = trace->plans != NULL };
	if (!trace->plans)
		return VPROF_OK;
	vprof_trace_cursor_init(&cursor, trace->plans);
	while ((u = vprof_trace_next(&cursor, &n)))
		if (VP_CODE(u->w) == VP_KIND_PLAN && add(list, u)) {
			vprof_trace_cursor_release(&cursor);
			return VPROF_ERR_NOMEM;
		}
	if ((list->turns.n && vprof_array_sort(list->turns.v, list->turns.n, sizeof *list->turns.v, turn_order)) ||
	    (list->of_process.n &&
	     vprof_array_sort(list->of_process.v, list->of_process.n, sizeof *list->of_process.v, turn_order)))
		return VPROF_ERR_NOMEM;
	return VPROF_OK;
}

void vprof_plan_list_release(struct vprof_plan_list *list)
{
	VPROF_ARRAY_RELEASE(&list->turns);
	VPROF_ARRAY_RELEASE(&list->of_process);
}

/* Does a turn of this process alone have a moment in common with [begin, end]? */
static int process_turns(const struct vprof_plan_list *list, uint32_t process_seq, uint64_t begin, uint64_t end)
{
	size_t i = VPROF_BISECT(list->of_process.n, k, list->of_process.v[k].process_seq < process_seq);

	for (; i < list->of_process.n && list->of_process.v[i].process_seq == process_seq; i++)
		if (list->of_process.v[i].t0 <= end && list->of_process.v[i].t1 >= begin)
			return 1;
	return 0;
}

enum vprof_plan_side vprof_plan_list_side(const struct vprof_plan_list *list, uint32_t process_seq, uint64_t begin,
					  uint64_t end, uint32_t *number, size_t *turn)
{
	size_t next;

	*number = 0;
	*turn = 0;
	if (!list->is_live)
		return VPROF_PLAN_MEASURED;
	/* the first turn that is not over when the interval begins */
	next = VPROF_BISECT(list->turns.n, k, list->turns.v[k].t1 < begin);
	if (!next)
		return VPROF_PLAN_UNUSED;
	*turn = next - 1;
	*number = list->turns.v[next - 1].number;
	if ((next < list->turns.n && list->turns.v[next].t0 <= end) || process_turns(list, process_seq, begin, end))
		return VPROF_PLAN_STRADDLES;
	if (*number)
		return VPROF_PLAN_MEASURED;
	return next < list->turns.n && begin <= list->turns.v[next].last_begin ? VPROF_PLAN_BASELINE :
										 VPROF_PLAN_UNUSED;
}

uint64_t vprof_plan_list_first(const struct vprof_plan_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->turns.n; i++)
		if (list->turns.v[i].number == number)
			return list->turns.v[i].t1;
	return 0;
}
