/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/standing/clean.h"

#include <stdlib.h>
#include <string.h>

#include "cli/drilldown/run_traces.h"
#include "common/files.h"

/* Why its results stay whatever is asked for; NULL: they need not. */
static const char *is_needed(const struct vprof_run_entry *e)
{
	return e->round >= 0 ? "the drill-down rests on its results" : e->is_reviewed ? "a verdict rests on it" : NULL;
}

static void choose(const struct vprof_run_entry *e, int traces_only, struct vprof_clean_choice *c)
{
	const char *needed = is_needed(e);

	c->why = "";
	if (e->is_recording) {
		c->what = VPROF_CLEAN_NOTHING;
		c->why = "it is being recorded";
		return;
	}
	if (!needed && !traces_only) {
		c->what = VPROF_CLEAN_ALL;
		c->bytes = e->bytes;
		return;
	}
	if (needed)
		c->why = needed;
	if (!(e->parts & VPROF_RUN_RESULTS)) {
		c->what = VPROF_CLEAN_NOTHING;
		c->why = needed		? needed :
			 e->trace_bytes ? "it has no results yet: its traces are all that it has" :
					  "";
	} else if (e->trace_bytes) {
		c->what = VPROF_CLEAN_TRACES;
		c->bytes = e->trace_bytes;
	}
}

static int choose_named(const struct vprof_run_list *list, const struct vprof_clean_request *q,
			struct vprof_clean_choice *choices, struct vprof_error *err)
{
	for (size_t i = 0; i < q->n_runs; i++) {
		unsigned number = vprof_project_run_number(q->runs[i]);
		size_t k = 0;

		while (k < list->n && vprof_project_run_number(list->items[k].name.s) != number)
			k++;
		if (!number || k == list->n)
			return vprof_error_set(err, VPROF_ERR_INPUT, "there is no run \"%s\"; vprof runs lists them",
					       q->runs[i]);
		choose(&list->items[k], q->traces_only, &choices[k]);
	}
	return VPROF_OK;
}

/* The last run stays: the one that holds something, and whatever was begun after it. */
static size_t last_of(const struct vprof_run_list *list)
{
	for (size_t i = list->n; i--;)
		if (list->items[i].parts & (VPROF_RUN_TRACE | VPROF_RUN_RESULTS))
			return i;
	return list->n ? list->n - 1 : 0;
}

static void choose_by_rule(const struct vprof_run_list *list, const struct vprof_clean_request *q,
			   struct vprof_clean_choice *choices)
{
	uint64_t left = list->bytes;
	size_t last = last_of(list);

	for (size_t i = 0; i < list->n; i++) {
		const struct vprof_run_entry *e = &list->items[i];
		double age_ns = (double)(q->now_s - e->began_s) * 1e9;

		if (i == last || i + 1 == list->n) {
			choices[i].why = i == last ? "it is the last one" : "it may have begun just now";
			continue;
		}
		if ((q->older_than_ns > 0 && age_ns <= q->older_than_ns) || (q->down_to && left <= q->down_to))
			continue;
		choose(e, q->traces_only, &choices[i]);
		left -= choices[i].bytes;
	}
}

int vprof_clean_choose(const struct vprof_run_list *list, const struct vprof_clean_request *request,
		       struct vprof_clean_choice **choices, struct vprof_error *err)
{
	int rc = VPROF_OK;

	*choices = calloc(list->n + 1, sizeof **choices);
	if (!*choices)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < list->n; i++)
		(*choices)[i].why = "";
	if (request->n_runs)
		rc = choose_named(list, request, *choices, err);
	else
		choose_by_rule(list, request, *choices);
	return rc;
}

int vprof_clean_remove(const struct vprof_project *p, const struct vprof_run_entry *run, enum vprof_clean_what what,
		       struct vprof_error *err)
{
	char *folder;
	int rc;

	if (what == VPROF_CLEAN_TRACES)
		return vprof_run_traces_remove(p, run->name.s, 0, err);
	if (what == VPROF_CLEAN_NOTHING)
		return VPROF_OK;
	folder = vprof_project_run_path(p, run->name.s, "");
	rc = folder ? vprof_dir_remove(folder, err) : vprof_error_no_memory(err);
	free(folder);
	return rc;
}
