/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/latency/latency_runs.h"

#include <string.h>

#include "analysis/latency/input/latency_input.h"
#include "analysis/latency/latency_describe.h"
#include "cli/command.h"
#include "cli/print.h"
#include "report/latency/latency_answer.h"
#include "report/latency/latency_page.h"
#include "report/latency/report_latency.h"

#define PATHS_MOST 100

struct side {
	struct vprof_latency_input input;
	struct vprof_annotated_tree tree;
	int is_there;
};

static int read_side(struct side *side, const char *dir, struct vprof_error *err)
{
	struct vprof_trace *trace = NULL;
	int rc = vprof_trace_open(&trace, dir, err);

	if (!rc) {
		side->is_there = 1;
		rc = vprof_latency_input_read(&side->input, trace, err);
	}
	if (!rc)
		rc = vprof_annotated_tree_build(&side->tree, &side->input.history, 0, err);
	vprof_trace_free(trace);
	return rc;
}

static void release_side(struct side *side)
{
	if (!side->is_there)
		return;
	vprof_annotated_tree_release(&side->tree);
	vprof_latency_input_release(&side->input);
}

/* What costs are told for: calls of a function; of two runs receipts, where there are some; else seconds. */
static int find_units(struct vprof_latency_units *units, const struct vprof_paired_tree *pair, const char *per,
		      struct vprof_error *err)
{
	struct vprof_latency_units receipts = { .few = { 0, 0 } };
	int found = 0;

	if (per) {
		vprof_latency_units_calls(units, pair, per);
		for (int side = 0; side < 2; side++)
			if (pair->sides[side] && units->n[side] <= 0)
				return vprof_error_set(
					err, VPROF_ERR_INPUT,
					"no call of %s was seen: name a function as vprof report latency does", per);
		return VPROF_OK;
	}
	if (pair->sides[0])
		found = vprof_latency_units_receipts(&receipts, pair);
	if (found < 0)
		return vprof_error_no_memory(err);
	if (found) {
		*units = receipts;
	} else {
		vprof_latency_units_seconds(units, pair);
		memcpy(units->few, receipts.few, sizeof units->few);
	}
	for (int side = 0; side < 2; side++)
		if (pair->sides[side] && units->n[side] <= 0)
			return vprof_error_set(err, VPROF_ERR_INPUT, "the recording is empty");
	return VPROF_OK;
}

static int fill_side(struct vprof_latency_results *r, int number, const struct side *side, const char *run,
		     struct vprof_error *err)
{
	struct vprof_latency_side *s = &r->sides[number];

	s->n_lost = side->input.n_lost;
	s->n_without = side->input.counts.n_without;
	s->n_kernel_only = side->input.counts.n_kernel_only;
	s->n_cut = side->input.counts.n_cut;
	s->n_deep = side->input.counts.n_deep;
	s->n_long = side->input.counts.n_long;
	s->n_untabled = side->input.counts.n_untabled;
	s->n_gone = side->input.counts.n_gone;
	s->n_unpaired = side->input.n_unpaired;
	s->n_frames = side->input.counts.n_frames;
	s->n_unnamed = side->input.counts.n_unnamed;
	s->run = vprof_strings_keep(&r->strings, run);
	s->missing = vprof_strings_keep(&r->strings, side->input.missing);
	return s->run && s->missing ? VPROF_OK : vprof_error_no_memory(err);
}

static int rank(struct vprof_latency_results *r, struct side sides[2], const char *per, struct vprof_error *err)
{
	const struct vprof_annotated_tree *base = sides[0].is_there ? &sides[0].tree : NULL;
	struct vprof_latency_ranking ranking = { .paths = { NULL, 0, 0 } };
	struct vprof_latency_units units;
	struct vprof_paired_tree pair;
	int rc = vprof_paired_tree_build(&pair, base, &sides[1].tree, err);

	if (!rc)
		rc = find_units(&units, &pair, per, err);
	if (!rc)
		rc = vprof_latency_rank(&ranking, &pair, &units, PATHS_MOST, err);
	if (!rc)
		rc = vprof_latency_describe(r, &pair, &ranking, err);
	vprof_latency_ranking_release(&ranking);
	vprof_paired_tree_release(&pair);
	return rc;
}

int vprof_latency_runs(struct vprof_latency_results *r, const char *const traces[2], const char *const runs[2],
		       const char *per, struct vprof_error *err)
{
	struct side sides[2] = { { .is_there = 0 } };
	int rc = VPROF_OK;

	for (int i = 0; i < 2 && !rc; i++)
		if (traces[i])
			rc = read_side(&sides[i], traces[i], err);
	if (!rc)
		rc = rank(r, sides, per, err);
	if (!rc && per) {
		r->unit = vprof_strings_keep(&r->strings, per);
		rc = r->unit ? VPROF_OK : vprof_error_no_memory(err);
	}
	for (int i = 0; i < 2; i++) {
		if (!rc && sides[i].is_there)
			rc = fill_side(r, i, &sides[i], runs[i], err);
		release_side(&sides[i]);
	}
	return rc;
}

static int write_page(const struct vprof_latency_results *r, const char *folder, const char *file,
		      struct vprof_error *err)
{
	struct vprof_run_page page;
	int rc;

	vprof_run_page_begin(&page, folder);
	rc = vprof_report_latency_page(r, &page.origin, &page.text, err);
	return vprof_run_page_end(&page, rc, "latency.html", file, err);
}

static cJSON *json_with(const struct vprof_latency_results *r, const cJSON *interval)
{
	cJSON *o = vprof_latency_results_json(r);
	cJSON *part = o && interval ? cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(interval, "interval"), 1) : NULL;

	if (interval && o && !(part && cJSON_AddItemToObject(o, "interval", part))) {
		cJSON_Delete(o);
		o = NULL;
	}
	return o;
}

int vprof_latency_runs_tell(const struct vprof_latency_results *r, const cJSON *interval,
			    const struct vprof_view_form *form, const char *folder, int *status,
			    struct vprof_error *err)
{
	struct vprof_report_options options = vprof_print_options(form->top);
	struct vprof_text text = VPROF_TEXT_INIT;

	*status = vprof_latency_outcome(r) == VPROF_LATENCY_UNDECIDED ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_OK;
	if (form->html)
		return write_page(r, folder, form->file, err);
	if (form->json)
		return vprof_print_json(json_with(r, interval), err);
	vprof_report_latency(r, &options, &text);
	return vprof_print_text(&text, err);
}
