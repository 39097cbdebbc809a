/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/top_view.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "report/format_value.h"

#define N_TRENDS 16
#define TREND 0.02 /* of the variance: smaller changes are none */

/* Results change once in a while only: until then what was before them stays. */
static void find_trends(struct vprof_top *top, const struct vprof_top *before)
{
	const struct vprof_results *now = top->results, *then = before->results;
	int is_same = now->n_complete == then->n_complete && now->mean_ns == then->mean_ns;

	for (size_t i = 0; i < N_TRENDS && i < now->n_causes; i++)
		for (size_t k = 0; k < then->n_causes; k++)
			if (!strcmp(now->causes[i].key, then->causes[k].key))
				top->if_constant_before[i] = !is_same	  ? then->causes[k].if_constant :
							     k < N_TRENDS ? before->if_constant_before[k] :
									    NAN;
}

int vprof_top_read(struct vprof_top *top, const char *vprof_dir, struct vprof_top *before, struct vprof_error *err)
{
	struct vprof_text path = VPROF_TEXT_INIT;
	int rc = vprof_live_status_read(&top->status, vprof_dir, err);

	top->results = NULL;
	top->is_of_before = 0;
	for (size_t i = 0; i < N_TRENDS; i++)
		top->if_constant_before[i] = NAN;
	if (rc)
		return rc;
	vprof_text_addf(&path, "%s/runs/%s/results.json", vprof_dir, top->status.run);
	if (path.s && !access(path.s, R_OK) && vprof_results_read(&top->results, path.s, NULL))
		top->results = NULL; /* being made, or of the run before: the next look has it */
	if (before && before->results && top->results) {
		find_trends(top, before);
	} else if (before && before->results) {
		top->results = before->results;
		before->results = NULL;
		memcpy(top->if_constant_before, before->if_constant_before, sizeof top->if_constant_before);
		top->is_of_before = 1;
	}
	vprof_text_release(&path);
	return VPROF_OK;
}

void vprof_top_release(struct vprof_top *top)
{
	vprof_live_status_release(&top->status);
	vprof_results_free(top->results);
	top->results = NULL;
}

static void add_cut(struct vprof_text *out, struct vprof_text *line, size_t width)
{
	if (line->s)
		vprof_format_cut(out, line->s, width, 0, 0);
	vprof_text_add(out, "\n");
	vprof_text_clear(line);
}

static void add_head(const struct vprof_top *top, size_t width, struct vprof_text *out)
{
	const struct vprof_live_status *s = &top->status;
	const struct vprof_results *r = top->results;
	struct vprof_text line = VPROF_TEXT_INIT;

	vprof_text_addf(&line, "live  round %zu%s, run %s   %s   %.0f s recorded of %.0f s   %zu process%s", s->round,
			s->is_pinned ? " (held)" : "", s->run,
			s->state.is_paused ? "analysing" :
			!s->state.number   ? "baseline" :
			s->state.is_window ? "measuring" :
					     "changing",
			s->recorded_s, s->elapsed_s, s->state.n_processes, s->state.n_processes == 1 ? "" : "es");
	add_cut(out, &line, width);
	if (r && r->n_complete) {
		vprof_text_addf(&line, "%s   mean %s   p99 %s   %s intervals", r->interval,
				vprof_format_duration(r->mean_ns).s, vprof_format_duration(r->p99_ns).s,
				vprof_format_count(vprof_results_n_all(r)).s);
		if (r->duration_ns > 0)
			vprof_text_addf(&line, "   %.0f/s",
					(double)(vprof_results_n_all(r) + r->n_outside) / (r->duration_ns * 1e-9));
		add_cut(out, &line, width);
		vprof_text_addf(&line, "effect of the probes %+.1f %% (%+.1f .. %+.1f)   change of plan %s at most",
				100 * r->effect, 100 * r->effect_low, 100 * r->effect_high,
				vprof_format_duration((double)s->state.change_max_ns).s);
		add_cut(out, &line, width);
	}
	if (s->state.n_refused) {
		vprof_text_addf(&line, "%zu not measured: %s", s->state.n_refused, s->state.refusal);
		add_cut(out, &line, width);
	}
	vprof_text_release(&line);
}

static const char *trend_of(const struct vprof_top *top, size_t i)
{
	double before = i < N_TRENDS ? top->if_constant_before[i] : NAN,
	       change = top->results->causes[i].if_constant - before;

	return !isfinite(change) ? " " : change > TREND ? "+" : change < -TREND ? "-" : "=";
}

static size_t n_closed(const struct vprof_top *top)
{
	return top->status.closed.n;
}

size_t vprof_top_n_rows(const struct vprof_top *top, enum vprof_top_list list)
{
	if (list == VPROF_TOP_FUNCTIONS)
		return top->status.open.n + n_closed(top);
	return top->results ? top->results->n_causes : 0;
}

int vprof_top_row_is_closed(const struct vprof_top *top, size_t row)
{
	return row >= top->status.open.n;
}

const char *vprof_top_row(const struct vprof_top *top, enum vprof_top_list list, size_t row)
{
	const struct vprof_live_status *s = &top->status;

	if (row >= vprof_top_n_rows(top, list))
		return NULL;
	if (list == VPROF_TOP_CAUSES)
		return top->results->causes[row].key;
	return row < s->open.n ? s->open.items[row] : s->closed.items[row - s->open.n];
}

static int has_name(const struct vprof_live_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->items[i], name))
			return 1;
	return 0;
}

static void add_cause(const struct vprof_top *top, size_t i, struct vprof_text *line)
{
	const struct vprof_cause *c = &top->results->causes[i];

	vprof_text_addf(line, "%s %5.0f %%     (%3.0f .. %3.0f)   ", trend_of(top, i), 100 * c->if_constant,
			100 * c->if_constant_low, 100 * c->if_constant_high);
	if (c->verdict != VPROF_VERDICT_NONE)
		vprof_text_addf(line, "[%s] ", vprof_verdict_names[c->verdict]);
	vprof_text_addf(line, "%s%s", c->status == VPROF_CAUSE_CANDIDATE ? "candidate: " : "", c->name);
}

static void add_function(const struct vprof_top *top, size_t i, struct vprof_text *line)
{
	const char *name = vprof_top_row(top, VPROF_TOP_FUNCTIONS, i);

	vprof_text_addf(line, "%-13s %s",
			vprof_top_row_is_closed(top, i)		 ? "closed" :
			has_name(&top->status.broken_down, name) ? "broken down" :
								   "open",
			name);
}

static void add_list(const struct vprof_top *top, const struct vprof_top_layout *l, struct vprof_text *out)
{
	size_t n = vprof_top_n_rows(top, l->list);
	struct vprof_text line = VPROF_TEXT_INIT;

	vprof_text_add(out, "\n");
	if (l->list == VPROF_TOP_FUNCTIONS)
		vprof_text_addf(&line, "  measured      function or call (%zu open, %zu closed)", top->status.open.n,
				n_closed(top));
	else if (!top->results)
		vprof_text_add(&line, "nothing was looked at yet");
	else
		vprof_text_addf(&line, "    if constant   bounds          cause%s",
				top->is_of_before ? " (before the plan changed)" : "");
	add_cut(out, &line, l->width);
	for (size_t i = l->first; i < n && i < l->first + l->rows; i++) {
		vprof_text_add(&line, (long)i == l->chosen ? "> " : "  ");
		if (l->list == VPROF_TOP_CAUSES)
			add_cause(top, i, &line);
		else
			add_function(top, i, &line);
		add_cut(out, &line, l->width);
	}
	vprof_text_release(&line);
}

static void add_open(const struct vprof_top *top, size_t width, struct vprof_text *out)
{
	const struct vprof_live_names *open = &top->status.open;
	struct vprof_text line = VPROF_TEXT_INIT;

	vprof_text_addf(&line, "open (%zu): ", open->n);
	for (size_t i = 0; i < open->n; i++)
		vprof_text_addf(&line, "%s%s", i ? ", " : "", open->items[i]);
	vprof_text_add(out, "\n");
	add_cut(out, &line, width);
	vprof_text_release(&line);
}

void vprof_top_text(const struct vprof_top *top, const struct vprof_top_layout *layout, struct vprof_text *out)
{
	add_head(top, layout->width, out);
	add_list(top, layout, out);
	if (layout->list == VPROF_TOP_CAUSES)
		add_open(top, layout->width, out);
}

static void add_names(cJSON *o, const char *key, const struct vprof_live_names *names)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);

	for (size_t i = 0; i < names->n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(names->items[i]));
}

static void add_number(cJSON *o, const char *key, double x)
{
	if (isfinite(x))
		cJSON_AddNumberToObject(o, key, x);
	else
		cJSON_AddNullToObject(o, key);
}

cJSON *vprof_top_json(const struct vprof_top *top)
{
	const struct vprof_live_status *s = &top->status;
	const struct vprof_results *r = top->results;
	cJSON *json = cJSON_CreateObject(), *causes = cJSON_AddArrayToObject(json, "causes");

	cJSON_AddNumberToObject(json, "round", (double)s->round);
	cJSON_AddStringToObject(json, "run", s->run);
	cJSON_AddNumberToObject(json, "plan", s->state.number);
	cJSON_AddNumberToObject(json, "recorded_s", s->recorded_s);
	cJSON_AddNumberToObject(json, "elapsed_s", s->elapsed_s);
	cJSON_AddNumberToObject(json, "processes", (double)s->state.n_processes);
	cJSON_AddNumberToObject(json, "refused", (double)s->state.n_refused);
	cJSON_AddNumberToObject(json, "turns", (double)s->state.n_turns);
	cJSON_AddNumberToObject(json, "baselines", (double)s->state.n_baselines);
	cJSON_AddNumberToObject(json, "change_max_ns", (double)s->state.change_max_ns);
	cJSON_AddBoolToObject(json, "held", s->is_pinned);
	add_names(json, "open", &s->open);
	add_names(json, "broken_down", &s->broken_down);
	add_names(json, "closed", &s->closed);
	if (!r)
		return json;
	cJSON_AddStringToObject(json, "interval", r->interval);
	cJSON_AddNumberToObject(json, "n_complete", (double)r->n_complete);
	cJSON_AddNumberToObject(json, "n_not_drawn", (double)r->n_not_drawn);
	add_number(json, "mean_ns", r->mean_ns);
	add_number(json, "p99_ns", r->p99_ns);
	add_number(json, "effect", r->effect);
	add_number(json, "effect_low", r->effect_low);
	add_number(json, "effect_high", r->effect_high);
	for (size_t i = 0; i < r->n_causes; i++) {
		cJSON *cause = cJSON_CreateObject();

		cJSON_AddStringToObject(cause, "key", r->causes[i].key);
		cJSON_AddStringToObject(cause, "name", r->causes[i].name);
		add_number(cause, "if_constant", r->causes[i].if_constant);
		add_number(cause, "if_constant_low", r->causes[i].if_constant_low);
		add_number(cause, "if_constant_high", r->causes[i].if_constant_high);
		add_number(cause, "share", r->causes[i].share);
		cJSON_AddItemToArray(causes, cause);
	}
	return json;
}
