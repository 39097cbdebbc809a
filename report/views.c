/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other sides of the same results: tail, mean, types, work. Each ends with the coverage and the warnings, as the
 * ranked table does. Contributions that are not shown stand summed in a last line, so that the columns add up.
 */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format_value.h"
#include "report/report_parts.h"

enum { AT_NAME = 9, VALUE_COLUMNS = 11, BOUNDS_COLUMNS = 23, DEFAULT_TOP = 15 };
#define SHOWN_SHARE 0.0005 /* a contribution that would read "0 %" stands with the others */

const char *const vprof_view_names[VPROF_VIEW_COUNT] = {
	[VPROF_VIEW_VARIANCE] = "variance", [VPROF_VIEW_TAIL] = "tail", [VPROF_VIEW_MEAN] = "mean",
	[VPROF_VIEW_TYPES] = "types",	    [VPROF_VIEW_WORK] = "work",
};

/* Columns of names; the rest of the width is taken by n values and, perhaps, bounds. */
static size_t name_columns(const struct vprof_style *style, size_t n_values, int with_bounds)
{
	return style->width - AT_NAME - n_values * VALUE_COLUMNS - (with_bounds ? BOUNDS_COLUMNS : 0);
}

static void add_bounds(double low, double high, struct vprof_text *out)
{
	char text[128] = "";

	if (isfinite(low) && isfinite(high))
		snprintf(text, sizeof text, "%s .. %s", vprof_format_duration(low).s, vprof_format_duration(high).s);
	vprof_text_addf(out, "%*s", BOUNDS_COLUMNS, text);
}

static void dim(const struct vprof_style *style, const char *line, struct vprof_text *out)
{
	vprof_text_addf(out, "%s%s%s\n", vprof_ink(style, VPROF_INK_DIM), line, vprof_ink(style, VPROF_INK_PLAIN));
}

/* "fdatasync  call > flush": the place as far as there is room for it. */
static void add_name(const struct vprof_results *r, const struct vprof_contribution *c, size_t columns,
		     struct vprof_text *out)
{
	struct vprof_text name = VPROF_TEXT_INIT, place = VPROF_TEXT_INIT;
	const struct vprof_factor *f = c->factor ? &r->factors[c->factor - 1] : NULL;
	size_t used;

	vprof_format_cut(&name, c->name && *c->name ? c->name : "?", columns - 2, 1, 0);
	used = vprof_format_columns(name.s) + 2;
	if (f && f->is_blame && columns > used + 16) {
		vprof_text_add(&place, "  others' work, while waiting");
	} else if (f && f->n_nodes && columns > used + 16) {
		vprof_text_add(&place, "  in ");
		vprof_report_place(r, f, (int)(columns - used - 6), &place);
	}
	vprof_text_add(&name, place.s);
	vprof_format_cut(out, name.s, columns - 1, 0, columns);
	vprof_text_release(&name);
	vprof_text_release(&place);
}

/* of a table of contributions: share of the whole, and its values */
struct line {
	double share, values[3], low, high;
};

static void add_line(const struct vprof_style *style, const struct vprof_results *r, const struct vprof_contribution *c,
		     const char *label, const struct line *l, size_t n_values, struct vprof_text *out)
{
	size_t columns = name_columns(style, n_values, 1);

	vprof_text_addf(out, "%6s   ", vprof_format_percent(l->share).s);
	if (c)
		add_name(r, c, columns, out);
	else
		vprof_format_cut(out, label, columns - 1, 0, columns);
	for (size_t i = 0; i < n_values; i++)
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_duration(l->values[i]).s);
	if (c)
		add_bounds(l->low, l->high, out);
	vprof_text_add(out, "\n");
}

static struct line line_of(const struct vprof_results *r, enum vprof_view view, const struct vprof_contribution *c)
{
	if (view == VPROF_VIEW_MEAN)
		return (struct line){
			r->mean_ns > 0 ? c->mean_ns / r->mean_ns : NAN, { c->mean_ns }, c->mean_low, c->mean_high
		};
	return (struct line){
		c->gap_ns / (r->tail_ns - r->rest_ns), { c->tail_ns, c->rest_ns, c->gap_ns }, c->gap_low, c->gap_high
	};
}

static int gap_order(const void *a, const void *b)
{
	const struct vprof_contribution *x = *(const struct vprof_contribution *const *)a;
	const struct vprof_contribution *y = *(const struct vprof_contribution *const *)b;

	if (fabs(x->gap_ns) != fabs(y->gap_ns))
		return fabs(x->gap_ns) > fabs(y->gap_ns) ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int add_contributions(const struct vprof_style *style, const struct vprof_results *r, enum vprof_view view,
			     size_t top, struct vprof_text *out)
{
	const struct vprof_contribution **list = malloc((r->n_contributions + 1) * sizeof *list);
	size_t n_values = view == VPROF_VIEW_MEAN ? 1 : 3, shown = 0;
	struct line rest = { 0 }, sum = { 0 };
	char label[64];

	if (!list)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_contributions; i++)
		list[i] = &r->contributions[i];
	if (view == VPROF_VIEW_TAIL)
		qsort(list, r->n_contributions, sizeof *list, gap_order);
	for (size_t i = 0; i < r->n_contributions; i++) {
		struct line l = line_of(r, view, list[i]);
		int is_shown = i < top && (!i || fabs(l.share) >= SHOWN_SHARE);
		struct line *into[] = { &sum, is_shown ? NULL : &rest };

		if (is_shown) {
			add_line(style, r, list[i], NULL, &l, n_values, out);
			shown++;
		}
		for (size_t k = 0; k < 2 && into[k]; k++) {
			into[k]->share += l.share;
			for (size_t v = 0; v < n_values; v++)
				into[k]->values[v] += l.values[v];
		}
	}
	if (shown < r->n_contributions) {
		snprintf(label, sizeof label, "%s others together", vprof_format_count(r->n_contributions - shown).s);
		add_line(style, r, NULL, label, &rest, n_values, out);
	}
	add_line(style, r, NULL, "sum", &sum, n_values, out);
	free(list);
	return 0;
}

static int add_mean(const struct vprof_style *style, const struct vprof_results *r, size_t top, struct vprof_text *out)
{
	char line[256];

	if (isfinite(r->mean_low) && isfinite(r->mean_high)) {
		snprintf(line, sizeof line, "95 %% confidence interval of the mean: %s .. %s",
			 vprof_format_duration(r->mean_low).s, vprof_format_duration(r->mean_high).s);
		vprof_report_labelled(style, "", line, out);
	}
	vprof_text_add(out, "\n");
	snprintf(line, sizeof line, "of mean  %-*s%*s%*s", (int)name_columns(style, 1, 1),
		 "spent in itself, not in callees", VALUE_COLUMNS, "mean", BOUNDS_COLUMNS, "95 % CI");
	dim(style, line, out);
	return add_contributions(style, r, VPROF_VIEW_MEAN, top, out);
}

static int add_tail(const struct vprof_style *style, const struct vprof_results *r, size_t top, struct vprof_text *out)
{
	char line[512];

	snprintf(line, sizeof line,
		 "%s: %s intervals that took %s%s%s, %s on average; the other %s averaged %s: a gap of %s",
		 r->tail_is_asked ? "the slowest" : "the slowest 1 %", vprof_format_count(r->n_tail).s,
		 r->tail_is_asked ? "more than " : "", vprof_format_duration(r->tail_from_ns).s,
		 r->tail_is_asked ? "" : " or more", vprof_format_duration(r->tail_ns).s,
		 vprof_format_count(r->n_complete - r->n_tail).s, vprof_format_duration(r->rest_ns).s,
		 vprof_format_duration(r->tail_ns - r->rest_ns).s);
	vprof_report_labelled(style, "", line, out);
	vprof_text_add(out, "\n");
	snprintf(line, sizeof line, " of gap  %-*s%*s%*s%*s%*s", (int)name_columns(style, 3, 1), "spent in itself",
		 VALUE_COLUMNS, "slowest", VALUE_COLUMNS, "others", VALUE_COLUMNS, "gap", BOUNDS_COLUMNS,
		 "gap, 95 % CI");
	dim(style, line, out);
	return add_contributions(style, r, VPROF_VIEW_TAIL, top, out);
}

/* "8 % (5 .. 11)" */
static void add_share(double share, double low, double high, struct vprof_text *out)
{
	vprof_text_add(out, vprof_format_percent(share).s);
	if (fabs(low) < 1e6 && fabs(high) < 1e6)
		vprof_text_addf(out, " (%.0f .. %.0f)", 100 * low, 100 * high);
}

static void add_types(const struct vprof_style *style, const struct vprof_results *r, size_t top,
		      struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	double between = 0, within = 0;
	uint64_t n = 0;
	char line[256];

	add_share(r->between_types, r->between_low, r->between_high, &t);
	vprof_text_addf(
		&t,
		" of the variance lies between the types' means, %s within the types: the first depends on the mix "
		"of requests; only the second shrinks when requests of one type become more alike",
		vprof_format_percent(1 - r->between_types).s);
	vprof_report_labelled_text(style, "", &t, out);
	vprof_text_add(out, "\n");
	snprintf(line, sizeof line, "%*s%-*s%*s%*s%*s%*s%*s", AT_NAME, "", (int)name_columns(style, 5, 0), "type",
		 VALUE_COLUMNS, "intervals", VALUE_COLUMNS, "mean", VALUE_COLUMNS, "sd", VALUE_COLUMNS, "between",
		 VALUE_COLUMNS, "within");
	dim(style, line, out);
	for (size_t i = 0; i < r->n_types && i < top; i++) {
		const struct vprof_type *type = &r->types[i];

		vprof_text_addf(out, "%*s", AT_NAME, "");
		vprof_format_cut(out, type->name && *type->name ? type->name : "?", name_columns(style, 5, 0) - 1, 1,
				 name_columns(style, 5, 0));
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_count(type->n).s);
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_duration(type->mean_ns).s);
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_duration(type->sd_ns).s);
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_percent(type->between_share).s);
		vprof_text_addf(out, "%*s\n", VALUE_COLUMNS, vprof_format_percent(type->within_share).s);
		between += type->between_share;
		within += type->within_share;
		n += type->n;
	}
	if (r->n_types > top) {
		snprintf(line, sizeof line, "%s more types", vprof_format_count(r->n_types - top).s);
		vprof_text_addf(out, "%*s%-*s%*s%*s%*s%*s", AT_NAME, "", (int)name_columns(style, 5, 0), line,
				VALUE_COLUMNS, vprof_format_count(r->n_complete - n).s, VALUE_COLUMNS, "",
				VALUE_COLUMNS, "", VALUE_COLUMNS, vprof_format_percent(r->between_types - between).s);
		vprof_text_addf(out, "%*s\n", VALUE_COLUMNS, vprof_format_percent(1 - r->between_types - within).s);
	}
}

static void add_counters(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	size_t columns = name_columns(style, 3, 1);
	char line[256];

	snprintf(line, sizeof line, "%*s%-*s%*s%*s%*s%*s", AT_NAME, "", (int)columns, "counter", VALUE_COLUMNS, "mean",
		 VALUE_COLUMNS, "r", VALUE_COLUMNS, "explains", BOUNDS_COLUMNS, "per unit, 95 % CI");
	dim(style, line, out);
	for (size_t i = 0; i < r->n_work; i++) {
		const struct vprof_work *w = &r->work[i];

		vprof_text_addf(out, "%*s", AT_NAME, "");
		vprof_format_cut(out, w->name && *w->name ? w->name : "?", columns - 1, 1, columns);
		vprof_text_addf(out, "%*.4g%*.2g%*s", VALUE_COLUMNS, w->mean, VALUE_COLUMNS, w->r, VALUE_COLUMNS,
				vprof_format_percent(w->share).s);
		if (isfinite(w->low) && isfinite(w->high))
			add_bounds(w->low, w->high, out);
		else
			vprof_text_addf(out, "%*s", BOUNDS_COLUMNS, vprof_format_duration(w->ns_per_unit).s);
		vprof_text_add(out, "\n");
	}
}

static void add_work(const struct vprof_style *style, const struct vprof_results *r, size_t top, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	size_t columns = name_columns(style, 3, 0), shown = 0;
	char line[256];

	add_share(r->work_share, r->work_low, r->work_high, &t);
	vprof_text_addf(&t, " of the variance follows the amount of work: inherent; %s does not: avoidable",
			vprof_format_percent(1 - r->work_share).s);
	vprof_report_labelled_text(style, "", &t, out);
	vprof_text_add(out, "\n");
	add_counters(style, r, out);
	vprof_text_add(out, "\n");
	snprintf(line, sizeof line, "%*s%-*s%*s%*s%*s", AT_NAME, "", (int)columns, "factor", VALUE_COLUMNS, "share",
		 VALUE_COLUMNS, "inherent", VALUE_COLUMNS, "avoidable");
	dim(style, line, out);
	for (size_t i = 0; i < r->n_factors && shown < top; i++) {
		const struct vprof_factor *f = &r->factors[i];

		if (!isfinite(f->work_share) || f->share < r->threshold)
			continue;
		vprof_text_addf(out, "%*s", AT_NAME, "");
		vprof_format_cut(out, f->name ? f->name : "?", columns - 1, 1, columns);
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_percent(f->share).s);
		vprof_text_addf(out, "%*s", VALUE_COLUMNS, vprof_format_percent(f->share * f->work_share).s);
		vprof_text_addf(out, "%*s\n", VALUE_COLUMNS, vprof_format_percent(f->share * (1 - f->work_share)).s);
		shown++;
	}
}

/* Empty when nothing is lacking. */
static void say_lack(const struct vprof_results *r, enum vprof_view view, struct vprof_text *out)
{
	if (view == VPROF_VIEW_TAIL && r->n_tail == r->n_complete && r->n_complete)
		vprof_text_add(
			out,
			"all intervals took longer than that: ask for a longer duration (vprof analyze --slower-than)");
	else if (view == VPROF_VIEW_TAIL && r->n_tail < VPROF_TAIL_MIN && r->tail_is_asked)
		vprof_text_addf(
			out,
			"only %s of %s intervals took longer than that; at least %d are needed: ask for a shorter duration "
			"(vprof analyze --slower-than), or record a longer run",
			vprof_format_count(r->n_tail).s, vprof_format_count(r->n_complete).s, VPROF_TAIL_MIN);
	else if (view == VPROF_VIEW_TAIL && r->n_tail < VPROF_TAIL_MIN)
		vprof_text_addf(
			out,
			"the slowest 1 %% of %s intervals are only %s; at least %d are needed: record %.0f intervals or more, or "
			"name a duration (vprof analyze --slower-than)",
			vprof_format_count(r->n_complete).s, vprof_format_count(r->n_tail).s, VPROF_TAIL_MIN,
			VPROF_TAIL_MIN / VPROF_TAIL_SHARE);
	else if (view == VPROF_VIEW_TYPES && r->n_types < 2)
		vprof_text_add(
			out,
			"all intervals have the same type: give them one, with \"type\" in vprof.json or vprof_type() in the "
			"code, and record a run");
	else if (view == VPROF_VIEW_WORK && !r->n_work)
		vprof_text_add(
			out,
			"no amount of work was recorded: count it, with \"work\" in vprof.json or vprof_work() in the code, and "
			"record a run");
	else if (view == VPROF_VIEW_WORK && !isfinite(r->work_share))
		vprof_text_add(
			out,
			"the amount of work was the same for all intervals, or was counted for none of them: it explains "
			"nothing. Count what differs from request to request, between begin and end");
}

char *vprof_view_lacks(const struct vprof_results *r, enum vprof_view view)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	say_lack(r, view, &t);
	return vprof_text_detach(&t);
}

int vprof_report_view(const struct vprof_results *r, enum vprof_view view, const struct vprof_report_options *o,
		      struct vprof_text *out, struct vprof_error *err)
{
	struct vprof_style style = vprof_report_style(o);
	size_t top = o->top ? o->top : DEFAULT_TOP;
	char *lack;
	int rc;

	if (view == VPROF_VIEW_VARIANCE)
		return vprof_report_text(r, o, out, err);
	rc = vprof_report_check(r, err);
	if (rc)
		return rc;
	lack = vprof_view_lacks(r, view);
	if (!lack)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory writing the report");
	if (r->inconclusive || *lack)
		vprof_text_addf(out, "%sinconclusive%s%s", vprof_ink(&style, VPROF_INK_BAD),
				vprof_ink(&style, VPROF_INK_PLAIN), *lack ? ": " : "\n");
	if (*lack)
		vprof_format_wrap(out, lack, strlen("inconclusive: "), strlen("inconclusive: "), style.width);
	vprof_report_headline(&style, r, out);
	if (*lack || !r->n_complete)
		rc = 0;
	else if (view == VPROF_VIEW_MEAN)
		rc = add_mean(&style, r, top, out);
	else if (view == VPROF_VIEW_TAIL)
		rc = add_tail(&style, r, top, out);
	else if (view == VPROF_VIEW_TYPES)
		add_types(&style, r, top, out);
	else
		add_work(&style, r, top, out);
	vprof_text_add(out, "\n");
	vprof_report_cost(&style, r, out);
	vprof_report_coverage(&style, r, out);
	vprof_report_warnings(&style, r, 0, r->n_warnings, out);
	free(lack);
	return rc || out->failed ? vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory writing the report") : VPROF_OK;
}
