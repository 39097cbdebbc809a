/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measured_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/timeline/calls.h"
#include "analysis/timeline/timeline.h"

#define CALLS_BYTES ((size_t)64 << 20)

static int by_code(const void *a, const void *b)
{
	const struct measured_call *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->t0 != y->t0 ? (x->t0 < y->t0 ? -1 : 1) : (x->t1 < y->t1) - (x->t1 > y->t1);
}

static uint64_t to_ns(const struct vprof_trace *trace, uint64_t ticks)
{
	double ns = vprof_trace_ns(trace, ticks);

	return ns <= 0 ? 0 : (uint64_t)ns;
}

static void read_calls(struct measured_run *run, const struct vprof_timeline *timeline)
{
	struct vprof_calls *reader = vprof_calls_new(timeline->n_threads, CALLS_BYTES);

	for (uint32_t t = 0; reader && t < timeline->n_threads; t++) {
		struct vprof_stretch s;

		vprof_stretch_begin(&s, reader, t, &timeline->threads[t].calls, 0, VPROF_CALL_TIME_MAX);
		while (vprof_stretch_next(&s) > 0)
			for (size_t i = s.n_kept; i < s.n; i++)
				*VPROF_PUSH(&run->calls) =
					(struct measured_call){ .t0 = to_ns(timeline->trace, s.v[i].t0),
								.t1 = to_ns(timeline->trace, s.v[i].t1),
								.tid = timeline->threads[t].tid,
								.code = s.v[i].code };
	}
	vprof_calls_free(reader);
	qsort(run->calls.v, run->calls.n, sizeof *run->calls.v, by_code);
}

void measured_run_read(struct measured_run *run, const char *folder)
{
	struct vprof_timeline *timeline;
	struct vprof_trace *trace;
	struct vprof_error err = { "" };
	char path[4096];

	*run = (struct measured_run){ .plan = NULL };
	snprintf(path, sizeof path, "%s/trace", folder);
	if (vprof_trace_open(&trace, path, &err) || vprof_latency_input_read(&run->input, trace, &err) ||
	    vprof_annotated_tree_build(&run->tree, &run->input.history, 0, &err) ||
	    vprof_timeline_build(&timeline, trace, 0, NULL, NULL, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(2);
	}
	snprintf(path, sizeof path, "%s/plan.json", folder);
	if (vprof_plan_read(&run->plan, path, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(2);
	}
	run->error_ns = MEASURED_CLOCK_NS + (uint64_t)trace->header.kernel_error_ns;
	read_calls(run, timeline);
}
