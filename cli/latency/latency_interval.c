/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/latency/latency_interval.h"

#include <math.h>

#include "analysis/latency/inferred_calls.h"
#include "analysis/latency/input/latency_input.h"
#include "analysis/latency/layer_describe.h"
#include "analysis/results/latency_interval_results.h"
#include "cli/command.h"
#include "cli/print.h"
#include "report/latency/interval_page.h"
#include "report/latency/report_interval.h"

static int fill(struct vprof_latency_interval *i, const struct vprof_inferred_calls *calls,
		const struct vprof_call_sums *sums, struct vprof_error *err)
{
	i->n_calls = calls->n_calls;
	i->n_used = sums->n_calls;
	i->n_cut = sums->n_cut;
	i->n_unsure = calls->n_unsure;
	i->mean_low_ns = i->mean_high_ns = i->sd_low_ns = i->sd_high_ns = NAN;
	if (sums->n_calls) {
		i->mean_low_ns = sums->contexts[1].low_ns;
		i->mean_high_ns = sums->contexts[1].high_ns;
		i->sd_low_ns = sums->contexts[1].sd_low_ns;
		i->sd_high_ns = sums->contexts[1].sd_high_ns;
	}
	return vprof_layers_describe(i->results, sums, "", calls->n_calls, 0) ? vprof_error_no_memory(err) : VPROF_OK;
}

static int infer(struct vprof_latency_interval *i, const struct vprof_trace *trace, const char *name,
		 struct vprof_error *err)
{
	struct vprof_latency_input input;
	struct vprof_annotated_tree tree = { .nodes = NULL };
	struct vprof_inferred_calls calls = { .n_calls = 0 };
	struct vprof_call_sums sums = { .n_calls = 0 };
	int rc = vprof_latency_input_read(&input, trace, err);

	if (!rc)
		rc = vprof_annotated_tree_build(&tree, &input.history, 0, err);
	if (!rc)
		rc = vprof_inferred_calls_gather(&calls, &tree, name, err);
	if (!rc)
		rc = vprof_latency_history_check(&calls.history, err);
	if (!rc)
		rc = vprof_call_sums_build(&sums, &calls.history, err);
	if (!rc)
		rc = fill(i, &calls, &sums, err);
	i->n_windows = input.history.windows.n;
	vprof_call_sums_release(&sums);
	vprof_inferred_calls_release(&calls);
	vprof_annotated_tree_release(&tree);
	vprof_latency_input_release(&input);
	return rc;
}

static int write_page(const struct vprof_latency_interval *i, const char *folder, const char *file,
		      struct vprof_error *err)
{
	struct vprof_run_page page;
	int rc;

	vprof_run_page_begin(&page, folder);
	rc = vprof_report_interval_page(i, &page.origin, &page.text, err);
	return vprof_run_page_end(&page, rc, "interval.html", file, err);
}

static int tell(const struct vprof_latency_interval *i, const struct vprof_view_form *form, const char *folder,
		struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(form->top);
	struct vprof_text text = VPROF_TEXT_INIT;

	if (form->html)
		return write_page(i, folder, form->file, err);
	if (form->json)
		return vprof_print_json(vprof_latency_interval_json(i), err);
	vprof_report_interval(i, &options, &text);
	return vprof_print_text(&text, err);
}

int vprof_latency_interval(const char *folder, const char *dir, const char *run, const char *name,
			   const struct vprof_view_form *form, int *status, struct vprof_error *err)
{
	struct vprof_latency_interval i = { .results = vprof_results_new() };
	struct vprof_trace *trace = NULL;
	int rc = i.results ? vprof_trace_open(&trace, dir, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = infer(&i, trace, name, err);
	if (!rc) {
		i.results->interval = vprof_results_string(i.results, name);
		i.results->run = vprof_results_string(i.results, run);
		rc = i.results->interval && i.results->run ? VPROF_OK : vprof_error_no_memory(err);
	}
	if (!rc) {
		*status = vprof_latency_interval_is_known(&i) ? VPROF_EXIT_OK : VPROF_EXIT_INCONCLUSIVE;
		rc = tell(&i, form, folder, err);
	}
	vprof_trace_free(trace);
	vprof_results_free(i.results);
	return rc;
}
