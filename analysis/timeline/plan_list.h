/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plans of a live session's trace: which probes were open when. An interval counts for a plan only if no change of
 * plan, of its process or of all, has a moment in common with it. A trace without PLAN records has one plan
 * throughout. */
#ifndef VPROF_PLAN_LIST_H
#define VPROF_PLAN_LIST_H

#include "common/array.h"
#include "trace/reader.h"

struct vprof_plan_turn {
	uint64_t t0, t1; /* the writes */
	uint32_t number; /* from t1 on; 0: baseline */
	uint32_t process_seq;
	uint64_t last_begin; /* up to when intervals of the plan before count that need not be seen whole */
};

struct vprof_plan_list {
	VPROF_ARRAY(struct vprof_plan_turn) turns;	/* of all processes, in the order of time */
	VPROF_ARRAY(struct vprof_plan_turn) of_process; /* by process_seq, then time */
	int is_live;					/* the trace has PLAN records */
};

enum vprof_plan_side {
	VPROF_PLAN_MEASURED, /* a plan other than 0 was in force throughout: *number */
	VPROF_PLAN_BASELINE, /* plan 0 was, and a longer interval would have counted, too */
	VPROF_PLAN_UNUSED,   /* as before, but it would not have; or nothing is known of the time */
	VPROF_PLAN_STRADDLES,
};

/* OK or NOMEM. Release it in either case. */
int vprof_plan_list_read(struct vprof_plan_list *list, const struct vprof_trace *trace);
void vprof_plan_list_release(struct vprof_plan_list *list);

/* The interval from `begin` to `end`, ended in process `process_seq`. *turn: index of the turn in whose plan it lies
 * (MEASURED, BASELINE), by which intervals are grouped. Without PLAN records: MEASURED, *number 0. */
enum vprof_plan_side vprof_plan_list_side(const struct vprof_plan_list *list, uint32_t process_seq, uint64_t begin,
					  uint64_t end, uint32_t *number, size_t *turn);

/* When plan `number` first came into force: t1, or 0. */
uint64_t vprof_plan_list_first(const struct vprof_plan_list *list, uint32_t number);

#endif
