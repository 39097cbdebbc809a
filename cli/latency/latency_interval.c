/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/latency/latency_interval.h"

#include <math.h>

#include "analysis/latency/inferred_calls.h"
#include "analysis/latency/input/function_named.h"
#include "analysis/latency/input/latency_input.h"
#include "analysis/latency/layer_describe.h"
#include "cli/command.h"
#include "cli/print.h"
#include "report/latency/interval_page.h"
#include "report/latency/report_interval.h"

static int fill(struct vprof_latency_interval *i, const struct vprof_inferred_calls *calls,
		const struct vprof_call_sums *sums, const struct vprof_function_named *named, struct vprof_error *err)
{
	i->n_calls = calls->n_calls;
	i->n_used = sums->n_calls;
	i->n_cut = sums->n_cut;
	i->n_unsure = calls->n_unsure;
	i->n_inlined = named->n_inlined;
	i->file = vprof_results_string(i->results, named->file);
	i->inlined_into = vprof_results_string(i->results, named->into.len ? named->into.s : "");
	i->results->interval = vprof_results_string(i->results, named->name);
	i->mean_low_ns = i->mean_high_ns = i->sd_low_ns = i->sd_high_ns = NAN;
	if (sums->n_calls) {
		i->mean_low_ns = sums->contexts[1].low_ns;
		i->mean_high_ns = sums->contexts[1].high_ns;
		i->sd_low_ns = sums->contexts[1].sd_low_ns;
		i->sd_high_ns = sums->contexts[1].sd_high_ns;
	}
	if (!i->file || !i->inlined_into || !i->results->interval)
		return vprof_error_no_memory(err);
	return vprof_layers_describe(i->results, sums, "", calls->n_calls, 0) ? vprof_error_no_memory(err) : VPROF_OK;
}

static int infer(struct vprof_latency_interval *i, const struct vprof_trace *trace, const char *wanted,
		 struct vprof_error *err)
{
	struct vprof_latency_input input;
	struct vprof_annotated_tree tree = { .nodes = NULL };
	struct vprof_inferred_calls calls = { .n_calls = 0 };
	struct vprof_function_named named = { .name = NULL };
	struct vprof_call_sums sums = { .n_calls = 0 };
	int rc = vprof_latency_input_read(&input, trace, err);

	if (!rc)
		rc = vprof_function_named(&named, &input, wanted, err);
	if (!rc)
		rc = vprof_annotated_tree_build(&tree, &input.history, 0, err);
	if (!rc)
		rc = vprof_inferred_calls_gather(&calls, &tree, named.name, named.file, err);
	if (!rc)
		rc = vprof_latency_history_check(&calls.history, err);
	if (!rc)
		rc = vprof_call_sums_build(&sums, &calls.history, err);
	if (!rc)
		rc = fill(i, &calls, &sums, &named, err);
	i->n_windows = input.history.windows.n;
	vprof_call_sums_release(&sums);
	vprof_inferred_calls_release(&calls);
	vprof_annotated_tree_release(&tree);
	vprof_function_named_release(&named);
	vprof_latency_input_release(&input);
	return rc;
}

int vprof_latency_interval_infer(struct vprof_latency_interval *i, const char *dir, const char *run, const char *wanted,
				 struct vprof_error *err)
{
	struct vprof_trace *trace = NULL;
	int rc;

	*i = (struct vprof_latency_interval){ .results = vprof_results_new() };
	rc = i->results ? vprof_trace_open(&trace, dir, err) : vprof_error_no_memory(err);
	if (!rc)
		rc = infer(i, trace, wanted, err);
	if (!rc) {
		i->results->run = vprof_results_string(i->results, run);
		rc = i->results->run ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_trace_free(trace);
	return rc;
}

void vprof_latency_interval_release(struct vprof_latency_interval *i)
{
	vprof_results_free(i->results);
	i->results = NULL;
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

int vprof_latency_interval_tell(const struct vprof_latency_interval *i, const struct vprof_view_form *form,
				const char *folder, int *status, struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(form->top);
	struct vprof_text text = VPROF_TEXT_INIT;

	*status = vprof_latency_interval_is_known(i) ? VPROF_EXIT_OK : VPROF_EXIT_INCONCLUSIVE;
	if (form->html)
		return write_page(i, folder, form->file, err);
	if (form->json)
		return vprof_print_json(vprof_latency_interval_json(i), err);
	vprof_report_interval(i, &options, &text);
	return vprof_print_text(&text, err);
}
