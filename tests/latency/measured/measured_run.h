/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that was recorded with probes and with stacks (vprof run --stacks --every-call), for comparing what was
 * measured with what is inferred. What cannot be read ends the program. */
#ifndef VPROF_MEASURED_RUN_H
#define VPROF_MEASURED_RUN_H

#include "analysis/latency/annotated_tree.h"
#include "analysis/latency/input/latency_input.h"
#include "common/plan.h"

#define MEASURED_CLOCK_NS 1000 /* what two readings of the clock take, and what the probe does outside them */

struct measured_call {
	uint64_t t0, t1;
	uint64_t context; /* coverage_find_contexts() */
	uint32_t tid, code;
	uint32_t depth;	      /* calls of the same function around it */
	uint32_t is_recorded; /* it lies in time of which all was recorded */
	uint32_t is_seen;
};

struct measured_run {
	struct vprof_plan *plan;
	struct vprof_latency_input input;
	struct vprof_annotated_tree tree;
	VPROF_ARRAY(struct measured_call) calls; /* by code, thread and begin; of equal ones the outer first */
	uint64_t error_ns;			 /* of the clocks */
};

/* folder: of .vprof/runs */
void measured_run_read(struct measured_run *run, const char *folder);

#endif
