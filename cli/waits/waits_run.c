/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/waits/waits_run.h"

#include <stdlib.h>

#include "analysis/join/knot_shares.h"
#include "analysis/timeline/edges/wakes.h"
#include "analysis/waits/describe.h"
#include "analysis/waits/input/annotation_marks.h"
#include "analysis/waits/input/input.h"
#include "analysis/waits/input/stack_names.h"
#include "analysis/waits/input/timeline_history.h"

/* From the kernel's events; without them from what the probes and wrappers recorded. */
static int read_input(struct vprof_waits_input *input, const struct vprof_trace *trace, double bytes_per_s,
		      struct vprof_error *err)
{
	struct vprof_timeline *timeline = NULL;
	struct vprof_wake_counts counts;
	int rc;

	if (trace->n_kernel) {
		rc = vprof_waits_input_kernel(input, trace, bytes_per_s, err);
		return rc ? rc : vprof_waits_input_annotate(input, trace, err);
	}
	rc = vprof_timeline_build(&timeline, trace, 0, NULL, NULL, err);
	if (!rc)
		rc = vprof_wakes_match(timeline, &counts, err);
	if (!rc)
		rc = vprof_waits_input_timeline(input, timeline, err);
	vprof_timeline_free(timeline);
	return rc;
}

/* Names the stacks that the report may show. */
static int name_stacks(struct vprof_waits_input *input, const struct vprof_waits *waits, struct vprof_error *err)
{
	unsigned char *wanted;
	int rc;

	if (!input->is_kernel)
		return VPROF_OK;
	wanted = calloc(input->history.stacks.n + 1, 1);
	if (!wanted)
		return vprof_error_no_memory(err);
	for (size_t e = 0; e < waits->graph.edges.n; e++) {
		const struct vprof_waits_edge *edge = &waits->graph.edges.v[e];

		for (uint32_t i = 0; i < edge->n_reasons && i < 2 * VPROF_WAITS_STACKS_SHOWN; i++) {
			uint32_t reason = waits->graph.by_edge.v[edge->first_reason + i];

			wanted[waits->reasons.v.v[reason].wait_stack] = 1;
			wanted[waits->reasons.v.v[reason].waker_stack] = 1;
		}
	}
	rc = vprof_waits_input_name_stacks(input, wanted, err);
	if (!rc)
		rc = vprof_waits_input_find_roles(input, err);
	free(wanted);
	return rc;
}

int vprof_waits_run_analyse(const char *dir, const char *run, double bytes_per_s,
			    const struct vprof_waits_options *options, struct vprof_waits_results *r,
			    struct vprof_error *err)
{
	struct vprof_waits_input input = { 0 };
	struct vprof_waits waits = { 0 };
	struct vprof_trace *trace = NULL;
	int rc;

	vprof_waits_tell(options, "events");
	rc = vprof_trace_open(&trace, dir, err);
	if (!rc)
		rc = read_input(&input, trace, bytes_per_s, err);
	if (!rc)
		rc = vprof_waits_analyze(&waits, &input.history, options, err);
	vprof_waits_tell(options, "names");
	if (!rc)
		rc = name_stacks(&input, &waits, err);
	vprof_waits_tell(options, "results");
	if (!rc)
		rc = vprof_waits_describe(r, &waits, options, err);
	if (!rc && trace->n_threads)
		rc = vprof_knot_shares_of_trace(r, &waits, dir, input.is_kernel, 0, err);
	if (!rc) {
		r->is_kernel = input.is_kernel;
		r->n_events = input.n_events;
		r->n_lost = input.n_lost;
		r->n_assumed = input.n_assumed;
		r->run = vprof_strings_keep(&r->strings, run);
		r->missing = vprof_strings_keep(&r->strings, input.missing);
		rc = r->run && r->missing ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_waits_tell(options, "end");
	vprof_waits_release(&waits);
	vprof_waits_input_release(&input);
	vprof_trace_free(trace);
	return rc;
}
