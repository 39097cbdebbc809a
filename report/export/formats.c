/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats: a row for each. */
#include "report/export/export.h"

#include <string.h>

const struct vprof_export_format vprof_export_formats[] = {
	{ "perfetto", "Perfetto trace: threads, calls, waits, their wakers, intervals", 1, VPROF_PART_SLICES, 500000,
	  vprof_export_perfetto, vprof_export_perfetto_requests },
	{ "chrome", "Chrome trace event JSON: the same for chrome://tracing, speedscope and others", 0,
	  VPROF_PART_SLICES, 500000, vprof_export_chrome },
	{ "folded", "folded stacks of time, for flamegraph.pl and inferno", 0, VPROF_PART_NONE, 0,
	  vprof_export_folded_time },
	{ "folded-variance", "folded stacks of variance, in millionths of the interval's variance", 0, VPROF_PART_NONE,
	  0, vprof_export_folded_variance },
	{ "folded-causes",
	  "folded stacks of the causes, in millionths of the variance that would go if each were constant", 0,
	  VPROF_PART_NONE, 0, vprof_export_folded_causes },
	{ "folded-contexts", "folded stacks of time by transaction context", 0, VPROF_PART_NONE, 0,
	  vprof_export_folded_contexts },
	{ "folded-samples", "folded stacks of a timer's samples by transaction context", 0, VPROF_PART_NONE, 0,
	  vprof_export_folded_samples },
	{ "pprof", "pprof's profile.proto, gzip'd: time by transaction context, which is a label", 1, VPROF_PART_NONE,
	  0, vprof_export_pprof },
	{ "speedscope", "speedscope JSON: time and variance as two profiles", 0, VPROF_PART_NONE, 0,
	  vprof_export_speedscope },
	{ "csv-factors", "CSV of the ranked factors", 0, VPROF_PART_NONE, 0, vprof_export_csv_factors },
	{ "csv-nodes", "CSV of the variance tree's nodes", 0, VPROF_PART_NONE, 0, vprof_export_csv_nodes },
	{ "csv-intervals", "CSV of all intervals: begin, latency, type", 0, VPROF_PART_INTERVALS, 0,
	  vprof_export_csv_intervals },
	{ "sarif", "SARIF 2.1.0: causes as results at source lines, for code scanning", 0, VPROF_PART_NONE, 0,
	  vprof_export_sarif },
	{ "otlp", "OpenTelemetry OTLP JSON: intervals as spans, their critical paths as child spans", 0,
	  VPROF_PART_INTERVALS, 10000, vprof_export_otlp, vprof_export_otlp_requests },
};

const size_t vprof_n_export_formats = sizeof vprof_export_formats / sizeof *vprof_export_formats;

const struct vprof_export_format *vprof_export_find(const char *name)
{
	for (size_t i = 0; i < vprof_n_export_formats; i++)
		if (!strcmp(vprof_export_formats[i].name, name))
			return &vprof_export_formats[i];
	return NULL;
}

int vprof_export_check(const struct vprof_results *r, struct vprof_error *err)
{
	int ok = r->n_nodes > 0 && r->n_nodes < UINT32_MAX && r->n_selected <= r->n_factors;

	for (size_t i = 0; ok && i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		ok = (i ? n->parent < i : n->parent == 0) && n->factor <= r->n_factors &&
		     (!n->n_children || (n->first_child > i && n->first_child <= r->n_nodes &&
					 n->n_children <= r->n_nodes - n->first_child));
		for (uint32_t k = 0; ok && k < n->n_children; k++)
			ok = r->nodes[n->first_child + k].parent == i;
	}
	for (size_t i = 0; ok && i < r->n_covariances; i++)
		ok = r->covariances[i].a < r->n_nodes && r->covariances[i].b < r->n_nodes;
	for (size_t i = 0; ok && i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		for (size_t k = 0; ok && k < f->n_nodes; k++)
			ok = f->nodes[k] < (f->kind == VPROF_FACTOR_VARIANCE ? r->n_nodes : r->n_covariances);
	}
	for (size_t i = 0; ok && i < r->n_causes; i++) {
		const struct vprof_cause *c = &r->causes[i];

		for (size_t k = 0; ok && k < c->n_steps; k++)
			ok = c->steps[k].node < r->n_nodes;
		for (size_t k = 0; ok && k < c->n_factors; k++)
			ok = c->factors[k] < r->n_factors;
	}
	return ok ? VPROF_OK :
		    vprof_error_set(err, VPROF_ERR_INPUT,
				    "the run's results.json is inconsistent; create it again "
				    "with: vprof analyze %s",
				    r->run ? r->run : "");
}
