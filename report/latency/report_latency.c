/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/latency/report_latency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format_value.h"
#include "report/latency/latency_answer.h"
#include "report/report_parts.h"

#define DEFAULT_PATHS 10
#define NAMES_SHOWN 9

static void add_side(const struct vprof_style *style, const struct vprof_latency_results *r, int side,
		     struct vprof_text *out)
{
	const struct vprof_latency_side *s = &r->sides[side];
	struct vprof_text t = VPROF_TEXT_INIT, left_out = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s%s%s recorded, %s events with stacks, %s lost; %s thread%s, idle %s of their time; ",
			s->run, *s->run ? ": " : "", vprof_format_duration(s->duration_ns).s,
			vprof_format_count(s->n_events).s, vprof_format_count(s->n_lost).s,
			vprof_format_count(s->n_threads).s, s->n_threads == 1 ? "" : "s",
			vprof_format_percent(s->total_ns > 0 ? s->idle_ns / s->total_ns : NAN).s);
	if (vprof_latency_left_out_words(s, &left_out))
		vprof_text_addf(&t, "left out %s; ", left_out.s);
	vprof_text_release(&left_out);
	if (s->n_windows > 1)
		vprof_text_addf(
			&t, "stacks in %s windows of time, together %s, from which numbers of calls are estimated; ",
			vprof_format_count(s->n_windows).s, vprof_format_duration(s->observed_ns).s);
	vprof_text_addf(&t, "%s calls of functions in %s contexts inferred", vprof_format_count(s->n_instances).s,
			vprof_format_count(s->n_contexts).s);
	vprof_report_labelled_text(style, !r->is_comparison ? "latency" : side ? "new" : "base", &t, out);
}

/* Why costs are not per request, and what would help. */
static void add_no_receipts(const struct vprof_latency_results *r, struct vprof_text *t)
{
	double base = r->sides[0].n_few, new = r->sides[1].n_few;

	vprof_text_add(t, "costs are per second of the recording: ");
	if (fmin(base, new) > 0)
		vprof_text_addf(
			t,
			"too few receipts of requests were seen, %s in base and %s in new, where %d of each "
			"tell costs per request: record for %.2g times as long (or --per FUNCTION: per call of it); ",
			vprof_format_count((uint64_t)base).s, vprof_format_count((uint64_t)new).s,
			VPROF_LATENCY_RECEIPTS_MIN, ceil(15 * VPROF_LATENCY_RECEIPTS_MIN / fmin(base, new)) / 10);
	else
		vprof_text_add(t, "no receipt of requests was seen in both runs (--per FUNCTION: per call of it); ");
}

/* What costs are told for, and what all functions have in common. */
static void add_unit(const struct vprof_style *style, const struct vprof_latency_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (*r->unit_path)
		vprof_text_addf(&t, "costs are per %s: requests are received by %s (%s in base, %s in new); ", r->unit,
				r->unit_path, vprof_format_count((uint64_t)r->sides[0].n_units).s,
				vprof_format_count((uint64_t)r->sides[1].n_units).s);
	else if (!strcmp(r->unit, "s"))
		add_no_receipts(r, &t);
	else
		vprof_text_addf(&t, "costs are per call of %s (%s in base, %s in new); ", r->unit,
				vprof_format_count((uint64_t)r->sides[0].n_units).s,
				vprof_format_count((uint64_t)r->sides[1].n_units).s);
	if (r->ratio != 1)
		vprof_text_addf(&t,
				"most functions cost %.3g times as much in new as in base: differences are beyond that",
				r->ratio);
	else
		vprof_text_add(&t, "most functions cost as much in both");
	if (r->spread > 0)
		vprof_text_addf(&t, ", give or take %s", vprof_format_percent(r->spread).s);
	vprof_report_labelled_text(style, "unit", &t, out);
}

static const struct vprof_latency_node *end_of(const struct vprof_latency_results *r,
					       const struct vprof_latency_path_result *p)
{
	return &r->nodes[p->steps[p->n_steps - 1].context];
}

/* "1,204 calls of 4.9 .. 5.1 ms, the slowest 80 .. 81 ms, 97 % of it waiting" */
static void add_calls(const struct vprof_latency_figures *f, struct vprof_text *t)
{
	if (f->calls_high - f->calls_low >= 1)
		vprof_text_addf(t, "%s .. ", vprof_format_count((uint64_t)f->calls_low).s);
	vprof_text_addf(t, "%s call%s", vprof_format_count((uint64_t)(f->calls_high + 0.5)).s,
			f->calls_high > 1 ? "s" : "");
	if (isnan(f->call_low_ns)) {
		vprof_text_add(t, f->calls_high > 1 ? ", mean unknown" : " of unknown length");
	} else {
		vprof_text_add(t, f->calls_high > 1 ? ", mean " : " of ");
		vprof_bound_time_words(f->call_low_ns, f->call_high_ns, t);
	}
	if (f->n > 1) {
		vprof_text_add(t, ", slowest ");
		vprof_bound_time_words(f->slowest_low_ns, f->slowest_high_ns, t);
	}
	if (f->own_ns > f->own_idle_ns && f->own_off_ns - f->own_idle_ns > 0.005 * (f->own_ns - f->own_idle_ns))
		vprof_text_addf(
			t, "; without a CPU %s of its own time",
			vprof_format_percent((f->own_off_ns - f->own_idle_ns) / (f->own_ns - f->own_idle_ns)).s);
	if (f->n_cut > 0)
		vprof_text_addf(t, "; %s cut by the recording's or a window's ends",
				vprof_format_count((uint64_t)f->n_cut).s);
}

static void add_path(const struct vprof_style *style, const struct vprof_latency_results *r, size_t number,
		     struct vprof_text *out)
{
	const struct vprof_latency_path_result *p = &r->paths[number];
	const struct vprof_latency_figures *f = &end_of(r, p)->side[1];
	double all = vprof_latency_cost(r, 1);
	struct vprof_text t = VPROF_TEXT_INIT;
	char label[32];

	snprintf(label, sizeof label, "%zu", number + 1);
	vprof_bound_share_words(p->low_ns / all, p->high_ns / all, &t);
	vprof_text_add(&t, "  ");
	vprof_latency_path_words(r, p, NAMES_SHOWN, &t);
	vprof_report_labelled_text(style, label, &t, out);
	add_calls(f, &t);
	vprof_report_labelled_text(style, "", &t, out);
}

/* The contexts of the path that make up its difference, the costliest first. */
static void add_steps(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
		      struct vprof_text *t)
{
	size_t n = 0;

	for (uint32_t rank = 1; rank <= p->n_steps && n < 3; rank++)
		for (size_t i = 0; i < p->n_steps; i++) {
			const struct vprof_latency_step *s = &p->steps[i];

			if (s->rank != rank || s->cost_ns < 0.1 * p->cost_ns)
				continue;
			vprof_text_addf(t, "%s%s %s", n++ ? ", " : "by itself ",
					r->names[r->nodes[s->context].function].name,
					vprof_format_percent(s->cost_ns / p->cost_ns).s);
		}
}

static const char *function_name(const struct vprof_latency_results *r, uint32_t context)
{
	return r->names[r->nodes[context].function].name;
}

/* Of what the difference consists beneath the context: each part by the outermost and the innermost function of its
 * path that have a name. */
static void add_parts(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
		      struct vprof_text *t)
{
	uint32_t place = p->steps[p->n_own - 1].context;

	for (size_t i = 0; i < p->n_parts; i++) {
		uint32_t end = p->parts[i].context, outer = end;

		for (uint32_t c = end; c != place && r->nodes[c].parent != VPROF_LATENCY_NONE; c = r->nodes[c].parent)
			if (!strstr(function_name(r, c), "+0x"))
				outer = c;
		vprof_text_addf(t, "%s%s", i ? ", " : "of it ", function_name(r, outer));
		if (outer != end)
			vprof_text_addf(t, " ... %s", function_name(r, end));
		vprof_text_addf(t, " %s", vprof_format_percent(p->parts[i].cost_ns / p->cost_ns).s);
	}
}

static const char *name_of(const struct vprof_latency_results *r, const struct vprof_latency_path_result *p,
			   size_t step)
{
	return r->names[r->nodes[p->steps[step - 1].context].function].name;
}

static void add_difference(const struct vprof_style *style, const struct vprof_latency_results *r, size_t number,
			   struct vprof_text *out)
{
	static const char *const verdicts[] = {
		[VPROF_LATENCY_PATH_SETTLED] = "",
		[VPROF_LATENCY_PATH_UNBOUNDED] = " (not settled: the bounds are too wide)",
		[VPROF_LATENCY_PATH_VARIES] = " (not settled: it varies as much within the runs, or is small)",
	};
	const struct vprof_latency_path_result *p = &r->paths[number];
	const struct vprof_latency_node *n = &r->nodes[p->steps[p->n_own - 1].context];
	struct vprof_text t = VPROF_TEXT_INIT;
	char label[32];

	snprintf(label, sizeof label, "%zu", number + 1);
	vprof_latency_path_words(r, p, NAMES_SHOWN, &t);
	vprof_report_labelled_text(style, label, &t, out);
	vprof_text_addf(&t, "%s%s likely +%s per %s; ", name_of(r, p, p->n_own), vprof_latency_extent(r, p, p->n_own),
			vprof_format_duration(p->cost_ns).s, r->unit);
	if (p->n_whole && p->n_whole != p->n_own)
		vprof_text_addf(&t, "%s%s ", name_of(r, p, p->n_whole), vprof_latency_extent(r, p, p->n_whole));
	vprof_text_addf(&t, "seen between %s%s and ", p->low_ns < 0 ? "-" : "+",
			vprof_format_duration(fabs(p->low_ns)).s);
	vprof_text_addf(&t, "+%s%s; ", vprof_format_duration(p->high_ns).s, verdicts[p->verdict]);
	if (p->n_parts)
		add_parts(r, p, &t);
	else
		add_steps(r, p, &t);
	vprof_report_labelled_text(style, "", &t, out);
	vprof_text_add(&t, "now ");
	add_calls(&n->side[1], &t);
	vprof_report_labelled_text(style, "", &t, out);
	vprof_text_add(&t, "was ");
	if (n->side[0].is_there)
		add_calls(&n->side[0], &t);
	else
		vprof_text_add(&t, "not seen");
	vprof_report_labelled_text(style, "", &t, out);
}

void vprof_report_latency(const struct vprof_latency_results *r, const struct vprof_report_options *o,
			  struct vprof_text *out)
{
	struct vprof_style style = vprof_report_style(o);
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	size_t top = o->top ? o->top : DEFAULT_PATHS;

	vprof_latency_answer(r, &answer);
	vprof_answer_print(&style, &answer, out);
	vprof_answer_release(&answer);
	for (int side = !r->is_comparison; side < 2; side++)
		add_side(&style, r, side, out);
	if (r->is_comparison)
		add_unit(&style, r, out);
	vprof_text_add(out, "\n");
	for (size_t i = 0; i < r->n_paths && i < top; i++) {
		if (r->is_comparison)
			add_difference(&style, r, i, out);
		else
			add_path(&style, r, i, out);
	}
	if (r->n_paths > top)
		vprof_text_addf(out, "\n%zu more: --top\n", r->n_paths - top);
}
