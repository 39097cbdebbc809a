/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that has no time of its own to speak of and one function beneath it shares its line with that one, as in
 * report/layer_lines.c. */
#include "report/paths/visit_lines.h"

#include <math.h>
#include <string.h>

#include "report/format_value.h"
#include "report/layer_lines.h"
#include "report/report_parts.h"

#define LINES_SHOWN 8	 /* of a tier */
#define INDENT 4	 /* of a request's visits */
#define DEEPER 2	 /* of what is beneath */
#define DEPTH_SHOWN 12	 /* of visits, and of functions: beyond it they are no longer moved to the right */
#define SHOWN_MIN 0.05	 /* of a single visit's time, surely */
#define SAME_MIN 0.9	 /* of a function's time, surely in the one beneath it */
#define QUEUED_MIN 0.05	 /* of a visit, as its caller saw it: less is not told */
#define AROUND_MIN 0.999 /* of a visit's time: a function that runs all the time is around it, and tells nothing */
#define NAMES_ON_LINE 5u /* of which those in the middle are left out */

/* The innermost function around all of the visits; the visit itself where there is none. */
static size_t find_around(const struct vprof_results *r, size_t visit)
{
	size_t around = visit;

	for (size_t i = visit + 1; i < r->n_layers && r->layers[i].kind != VPROF_LAYER_MEASURED; i++)
		if (r->layers[i].parent == around && r->layers[i].low_ns >= AROUND_MIN * r->layers[visit].high_ns)
			around = i;
	return around;
}

static void add_left_out(const struct vprof_requests_opened *v, struct vprof_text *t)
{
	const struct {
		uint64_t n;
		const char *why;
	} reasons[] = {
		{ v->n_shared, "their thread worked for several at once" },
		{ v->n_passed, "another thread replied than received them" },
		{ v->n_outside, v->how != VPROF_OPENED_MEASURED ?
					"stacks were not taken all the time (vprof record --budget 0)" :
					"records of their thread are missing" },
		{ v->n_sampled, "some of their calls were only counted (vprof run --every-call)" },
	};
	int n = 0;

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].n)
			vprof_text_addf(t, "%s%s: %s", n++ ? "; " : "; left out are ",
					vprof_format_count(reasons[i].n).s, reasons[i].why);
}

static void add_unopened(const struct vprof_style *style, const struct vprof_requests_opened *v, int is_first,
			 struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "none of the %s visits to %s is opened", vprof_format_count(v->n_visits).s, v->tier);
	add_left_out(v, &t);
	vprof_report_labelled_text(style, is_first ? "functions" : "", &t, out);
}

void vprof_visit_functions(const struct vprof_style *style, const struct vprof_requests_results *r,
			   struct vprof_text *out)
{
	for (size_t i = 0; i < r->n_opened; i++) {
		const struct vprof_requests_opened *v = &r->opened[i];
		int is_measured = v->how == VPROF_OPENED_MEASURED;
		struct vprof_text t = VPROF_TEXT_INIT;
		size_t around;

		if (!v->n_opened) {
			add_unopened(style, v, !i, out);
			continue;
		}
		around = find_around(r->functions, v->layer);
		vprof_text_addf(&t, "in a visit to %s", v->tier);
		if (r->n_hosts > 1)
			vprof_text_addf(&t, " on %s", v->host);
		vprof_text_addf(&t, " (%s), %s (%s of ", vprof_format_duration(r->functions->layers[v->layer].low_ns).s,
				is_measured ? "measured by probes" : "inferred from stacks",
				vprof_format_count(v->n_opened).s);
		vprof_text_addf(&t, "%s visits", vprof_format_count(v->n_visits).s);
		add_left_out(v, &t);
		vprof_text_add(&t, ")");
		if (around != v->layer)
			vprof_text_addf(&t, ", within %s", r->functions->layers[around].name);
		vprof_text_add(&t, ":");
		vprof_report_labelled_text(style, i ? "" : "functions", &t, out);
		vprof_layer_tree(style, r->functions, around, LINES_SHOWN, out);
	}
	if (r->n_opened)
		vprof_text_add(out, "\n");
}

struct listed { /* a visit's functions */
	const struct vprof_requests_function *f;
	size_t n;
	double visit_ns;
	struct vprof_text *out;
};

/* The only child that is shown, if it surely has nearly all of the time; VPROF_NONE: there is none. */
static uint32_t only_child(const struct listed *l, uint32_t of)
{
	uint32_t child = VPROF_NONE;

	for (uint32_t i = of + 1; i < l->n; i++)
		if (l->f[i].parent == of && l->f[i].low_ns >= SHOWN_MIN * l->visit_ns) {
			if (child != VPROF_NONE)
				return VPROF_NONE;
			child = i;
		}
	return child != VPROF_NONE && l->f[child].low_ns >= SAME_MIN * l->f[of].high_ns ? child : VPROF_NONE;
}

static void add_functions(const struct listed *l, uint32_t parent, unsigned column)
{
	for (uint32_t i = parent == VPROF_NONE ? 0 : parent + 1; i < l->n; i++) {
		uint32_t chain[NAMES_ON_LINE] = { i }, n = 1, last = i;

		if (l->f[i].parent != parent || l->f[i].low_ns < SHOWN_MIN * l->visit_ns)
			continue;
		if (l->f[i].low_ns >= AROUND_MIN * l->visit_ns) {
			add_functions(l, i, column);
			continue;
		}
		for (uint32_t child; (child = only_child(l, last)) != VPROF_NONE; last = child)
			chain[(n < NAMES_ON_LINE ? n : NAMES_ON_LINE - 1)] = child, n++;
		vprof_text_addf(l->out, "%*s", (int)column, "");
		vprof_bound_time_words(l->f[last].low_ns, l->f[last].high_ns, l->out);
		vprof_text_add(l->out, "  ");
		for (uint32_t k = 0; k < n && k < NAMES_ON_LINE; k++) {
			vprof_text_add(l->out, !k					   ? "" :
					       k == NAMES_ON_LINE - 1 && n > NAMES_ON_LINE ? " > ... > " :
											     " > ");
			vprof_format_clean(l->out, l->f[chain[k]].name);
		}
		vprof_text_add(l->out, "\n");
		add_functions(l, last, column < DEPTH_SHOWN * DEEPER + INDENT ? column + DEEPER : column);
	}
}

void vprof_visit_list(const struct vprof_requests_results *r, const struct vprof_requests_one *q,
		      struct vprof_text *out)
{
	for (size_t i = 0; i < q->n_visits; i++) {
		const struct vprof_requests_visit *v = &r->visits.v[q->first_visit + i];
		unsigned depth = 0;

		for (uint32_t p = v->parent; p != VPROF_NONE && p < q->n_visits && depth < DEPTH_SHOWN; depth++)
			p = r->visits.v[q->first_visit + p].parent;
		vprof_text_addf(out, "%*s", (int)(INDENT + depth * DEEPER), "");
		vprof_format_clean(out, v->tier);
		if (isfinite(v->served_ns)) {
			vprof_text_addf(out, "  %s in ", vprof_format_duration(v->served_ns).s);
			vprof_format_clean(out, v->process);
			vprof_text_addf(out, " %u/%u", v->pid, v->tid);
			if (v->request_queued_ns >= QUEUED_MIN * v->latency_ns && v->request_queued_ns > 0)
				vprof_text_addf(out, ", after %s in the receive queue",
						vprof_format_duration(v->request_queued_ns).s);
			vprof_text_add(out, "\n");
		} else {
			vprof_text_addf(out, "  %s, not recorded there\n", vprof_format_duration(v->latency_ns).s);
		}
		add_functions(
			&(struct listed){ r->visit_functions.v + v->first_function, v->n_functions, v->served_ns, out },
			VPROF_NONE, INDENT + (depth + 2) * DEEPER);
	}
}
