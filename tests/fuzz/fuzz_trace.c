/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace (fuzz_made_trace.h), read and analysed; the results must be consistent and readable again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analyze.h"
#include "report/report.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_made_trace.h"

static void check(const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		if (!isfinite(n->mean_ns) || !isfinite(n->var_ns2) || n->var_ns2 < 0 || n->parent > i ||
		    (size_t)n->first_child + n->n_children > r->n_nodes)
			abort();
	}
	for (size_t i = 0; i < r->n_covariances; i++)
		if (!isfinite(r->covariances[i].cov_ns2) || r->covariances[i].b >= r->n_nodes)
			abort();
}

static void show(struct vprof_results *r)
{
	struct vprof_report_options o = { .width = 100 };
	struct vprof_results *again = NULL;
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	const char *path = fuzz_file("results.json", "", 0);

	if (vprof_report_text(r, &o, &text, &err) || vprof_results_write(r, path, &err) ||
	    vprof_results_read(&again, path, &err)) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	vprof_text_release(&text);
	vprof_results_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct vprof_plan *plan;
	struct vprof_analyze_options o = { .trace_dir = fuzz_dir(), .k = 3, .min_intervals = 2, .n_threads = 1 };
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };
	int ret;

	if (!n)
		return 0;
	plan = plan ? plan : fuzz_make_plan();
	o.plan = plan;
	fuzz_make_trace(data, n);
	ret = vprof_analyze(&r, &o, &err);
	if (ret == VPROF_ERR_NOMEM) { /* inputs are small: something else was taken for it */
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	if (ret)
		return 0;
	check(r);
	show(r);
	vprof_results_free(r);
	return 0;
}
