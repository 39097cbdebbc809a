/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report: what was measured, how it is spread, the ranked factors, and how far all of it can be trusted.
 *
 * Invariant: the results are checked once, up front; everything after may index them freely.
 */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/factor_lines.h"
#include "report/format_value.h"

#define RECORD_NS 25 /* a probe that records, entry and exit together; docs/performance.md */

#define DEFAULT_WIDTH 100
#define MIN_WIDTH 80
#define DEFAULT_TOP 10
#define LABEL_COLUMNS 10
#define SHOWN_SHARE 0.005 /* a factor that would read "0 %" is left out unless it is chosen */

/* Parents come before their children, so every path to the root ends. */
static int check(const struct vprof_results *r, struct vprof_error *err)
{
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		if (i == 0 ? n->depth != 0 || n->parent != 0 : n->parent >= i || n->depth != r->nodes[n->parent].depth + 1)
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "results of run %s: node %zu has no valid parent; analyse the run again "
					       "(vprof analyze)", r->run ? r->run : "?", i);
	}
	for (size_t i = 0; i < r->n_covariances; i++)
		if (r->covariances[i].a >= r->n_nodes || r->covariances[i].b >= r->n_nodes)
			return vprof_error_set(err, VPROF_ERR_CORRUPT, "results: covariance %zu names no node; "
					       "analyse the run again (vprof analyze)", i);
	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];
		size_t limit = f->kind == VPROF_FACTOR_COVARIANCE ? r->n_covariances : r->n_nodes;

		for (size_t j = 0; j < f->n_nodes; j++)
			if (f->nodes[j] >= limit)
				return vprof_error_set(err, VPROF_ERR_CORRUPT, "results: factor %zu names no node; "
						       "analyse the run again (vprof analyze)", i);
	}
	return VPROF_OK;
}

static void labelled(const struct vprof_style *style, const char *label, const char *text, struct vprof_text *out)
{
	vprof_text_addf(out, "%-*s", LABEL_COLUMNS, label);
	vprof_format_wrap(out, text, LABEL_COLUMNS, LABEL_COLUMNS, style->width);
}

static void add_headline(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	const char *name = r->interval ? r->interval : "interval";
	struct vprof_text t = VPROF_TEXT_INIT;
	size_t column = vprof_format_columns(name) + 3;

	column = column < LABEL_COLUMNS ? LABEL_COLUMNS : column > 27 ? 27 : column;
	vprof_text_add(out, vprof_ink(style, VPROF_INK_BOLD));
	vprof_format_cut(out, name, 24, 1, column);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	vprof_text_addf(&t, "mean %s   sd %s   p50 %s   ", vprof_format_duration(r->mean_ns).s,
			vprof_format_duration(r->sd_ns).s, vprof_format_duration(r->p50_ns).s);
	vprof_text_addf(&t, "p99 %s   max %s   (%s)", vprof_format_duration(r->p99_ns).s,
			vprof_format_duration(r->max_ns).s, vprof_format_count(r->n_complete).s);
	if (column + vprof_format_columns(t.s) <= style->width)
		vprof_text_addf(out, "%s\n", t.s);
	else
		vprof_format_wrap(out, t.s, column, LABEL_COLUMNS, style->width);
	vprof_text_release(&t);
}

static void add_types(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (r->n_types < 2)
		return;
	vprof_text_addf(&t, "%s of the variance lies between types (", vprof_format_percent(r->between_types).s);
	for (size_t i = 0; i < r->n_types && i < 5; i++)
		vprof_text_addf(&t, "%s%s", i ? ", " : "", r->types[i].name ? r->types[i].name : "?");
	vprof_text_addf(&t, "%s), %s within", r->n_types > 5 ? ", ..." : "",
			vprof_format_percent(1 - r->between_types).s);
	labelled(style, "", t.s, out);
	vprof_text_clear(&t);
	for (size_t i = 0; i < r->n_types && i < 5; i++) {
		const struct vprof_type *type = &r->types[i];

		vprof_text_addf(&t, "%s%s: %s, mean %s, sd %s", i ? "; " : "", type->name ? type->name : "?",
				vprof_format_count(type->n).s, vprof_format_duration(type->mean_ns).s,
				vprof_format_duration(type->sd_ns).s);
	}
	labelled(style, "", t.s, out);
	vprof_text_release(&t);
}

/* What the probes cost: measured against the annotated-only run, and, as runs differ for many reasons, what the number of
 * records can account for. */
static void add_cost(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	double cost, noise, records;

	if (!isfinite(r->baseline_mean_ns) || r->baseline_mean_ns <= 0 || !isfinite(r->mean_ns) || r->mean_ns <= 0 ||
	    !r->n_complete)
		return;
	cost = r->mean_ns / r->baseline_mean_ns - 1;
	/* Half of the 95 % interval of a difference of two means with this run's spread. */
	noise = 1.96 * M_SQRT2 * r->sd_ns / sqrt((double)r->n_complete) / r->baseline_mean_ns;
	records = (double)r->n_records / (double)r->n_complete;
	if (fabs(cost) <= noise)
		vprof_text_addf(&t, "probes cost %+.1f %% of the mean, within the noise of %.1f %% (annotated only: %s)",
				cost * 100, noise * 100, vprof_format_duration(r->baseline_mean_ns).s);
	else
		vprof_text_addf(&t, "mean %+.0f %% against the annotated-only run's %s; %.0f records for each interval, at "
				"%d ns, are %s of it", cost * 100, vprof_format_duration(r->baseline_mean_ns).s, records,
				RECORD_NS, vprof_format_percent(records * RECORD_NS / r->mean_ns).s);
	labelled(style, "", t.s, out);
	vprof_text_release(&t);
}

static void add_summary(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	add_headline(style, r, out);
	add_types(style, r, out);
	if (isfinite(r->running_share) && isfinite(r->blocked_share) && isfinite(r->queued_share) &&
	    r->blocked_share + r->queued_share + (isfinite(r->preempted_share) ? r->preempted_share : 0) >= 0.005) {
		vprof_text_addf(&t, "of the mean: %s running%s, %s blocked, %s queued",
				vprof_format_percent(r->running_share).s, isfinite(r->preempted_share) ? "" : " or preempted",
				vprof_format_percent(r->blocked_share).s, vprof_format_percent(r->queued_share).s);
		if (isfinite(r->preempted_share))
			vprof_text_addf(&t, ", %s preempted", vprof_format_percent(r->preempted_share).s);
		labelled(style, "", t.s, out);
		vprof_text_clear(&t);
	}
	add_cost(style, r, out);
	vprof_text_release(&t);
}

static int is_chosen(const struct vprof_results *r, const struct vprof_report_options *o, size_t factor)
{
	if (!o->chosen)
		return factor < r->n_selected;
	for (size_t i = 0; i < o->n_chosen; i++)
		if (o->chosen[i] == factor)
			return 1;
	return 0;
}

static void add_table(const struct vprof_style *style, const struct vprof_results *r,
		      const struct vprof_report_options *o, struct vprof_text *out)
{
	size_t top = o->top ? o->top : DEFAULT_TOP, shown = 0, above = 0;

	for (size_t i = 0; i < r->n_factors; i++)
		above += r->factors[i].share >= r->threshold;
	if (!r->n_factors) {
		labelled(style, "", "no factor: nothing below the interval is measured in this run", out);
		return;
	}
	vprof_factor_heading(style, out);
	for (size_t i = 0; i < r->n_factors; i++) {
		int chosen = is_chosen(r, o, i);

		if (!chosen && (i >= top || fabs(r->factors[i].share) < SHOWN_SHARE))
			continue;
		vprof_factor_lines(style, r, i + 1, chosen, out);
		shown++;
	}
	if (shown < r->n_factors) {
		vprof_text_addf(out, "%*s%s%s more factors", LABEL_COLUMNS - 1, "", vprof_ink(style, VPROF_INK_DIM),
				vprof_format_count(r->n_factors - shown).s);
		vprof_text_addf(out, "; %s of all have %s of the variance or more%s\n", vprof_format_count(above).s,
				vprof_format_percent(r->threshold).s, vprof_ink(style, VPROF_INK_PLAIN));
	}
}

static void add_coverage(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s intervals complete, %s cut by the trace's end, ", vprof_format_count(r->n_complete).s,
			vprof_format_count(r->n_cut).s);
	vprof_text_addf(&t, "%s ambiguous", vprof_format_count(r->n_ambiguous).s);
	if (r->n_restarted)
		vprof_text_addf(&t, ", %s begun again before they ended", vprof_format_count(r->n_restarted).s);
	if (r->n_outside)
		vprof_text_addf(&t, ", %s begun while calls were not recorded (mean %s)", vprof_format_count(r->n_outside).s,
				vprof_format_duration(r->outside_mean_ns).s);
	vprof_text_addf(&t, "; %s records, ", vprof_format_count(r->n_records).s);
	vprof_text_addf(&t, "%s dropped", vprof_format_count(r->n_dropped).s);
	if (r->n_bytes_ignored)
		vprof_text_addf(&t, ", %s damaged bytes ignored", vprof_format_count(r->n_bytes_ignored).s);
	if (r->n_waits) {
		vprof_text_addf(&t, "; %s waits, ", vprof_format_count(r->n_waits).s);
		vprof_text_addf(&t, "%s matched with their waker", vprof_format_count(r->n_waits_matched).s);
		if (r->n_waits_unmatched)
			vprof_text_addf(&t, ", %s not", vprof_format_count(r->n_waits_unmatched).s);
		if (r->n_waits_by_time)
			vprof_text_addf(&t, ", %s by their times alone", vprof_format_count(r->n_waits_by_time).s);
	}
	if (r->n_waits_undecided)
		vprof_text_addf(&t, "; %s waits for data undecided", vprof_format_count(r->n_waits_undecided).s);
	if (r->n_calls_sampled)
		vprof_text_addf(&t, "; %s records stand for several calls of hot functions",
				vprof_format_count(r->n_calls_sampled).s);
	labelled(style, "coverage", t.s, out);
	vprof_text_clear(&t);
	if (r->no_switches && *r->no_switches && r->n_complete) {
		vprof_text_addf(&t, "running or preempted: not known: %s", r->no_switches);
		labelled(style, "", t.s, out);
	}
	vprof_text_release(&t);
}

static void add_warnings(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	for (size_t i = 0; i < r->n_warnings; i++) {
		vprof_text_addf(out, "%s%-*s%s", vprof_ink(style, VPROF_INK_BAD), LABEL_COLUMNS,
				r->inconclusive && i == 0 ? "why" : "warning", vprof_ink(style, VPROF_INK_PLAIN));
		vprof_format_wrap(out, r->warnings[i] ? r->warnings[i] : "", LABEL_COLUMNS, LABEL_COLUMNS, style->width);
	}
}

int vprof_report_text(const struct vprof_results *r, const struct vprof_report_options *o, struct vprof_text *out,
		      struct vprof_error *err)
{
	struct vprof_style style = { o->colour, (size_t)(o->width ? o->width < MIN_WIDTH ? MIN_WIDTH : o->width
								   : DEFAULT_WIDTH) };
	int rc = check(r, err);

	if (rc)
		return rc;
	if (r->inconclusive) {
		vprof_text_addf(out, "%sinconclusive%s: this run is not enough to rank anything\n",
				vprof_ink(&style, VPROF_INK_BAD), vprof_ink(&style, VPROF_INK_PLAIN));
		add_warnings(&style, r, out);
		vprof_text_add(out, "\n");
	}
	add_summary(&style, r, out);
	vprof_text_add(out, "\n");
	if (!r->inconclusive || r->n_factors)
		add_table(&style, r, o, out);
	vprof_text_add(out, "\n");
	add_coverage(&style, r, out);
	if (!r->inconclusive)
		add_warnings(&style, r, out);
	return out->failed ? vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory writing the report") : VPROF_OK;
}
