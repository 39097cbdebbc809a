/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format_value.h"

#define SLOWED_SHOWN 3
#define CLOSED_MAX 10
#define LABEL_COLUMNS 10
#define DEFAULT_WIDTH 100
#define MIN_WIDTH 80

struct vprof_style vprof_report_style(const struct vprof_report_options *o)
{
	return (struct vprof_style){ o->colour,
				     (size_t)(o->width ? o->width < MIN_WIDTH ? MIN_WIDTH : o->width : DEFAULT_WIDTH) };
}

static int check_causes(const struct vprof_results *r, struct vprof_error *err)
{
	for (size_t i = 0; i < r->n_causes; i++) {
		const struct vprof_cause *c = &r->causes[i];
		int valid = 1;

		for (size_t j = 0; j < c->n_factors; j++)
			valid &= c->factors[j] < r->n_factors;
		for (size_t j = 0; j < c->n_nodes; j++)
			valid &= c->nodes[j] < r->n_nodes;
		for (size_t j = 0; j < c->n_steps; j++)
			valid &= c->steps[j].node < r->n_nodes;
		if (!valid)
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "results: cause %zu names no node or factor; "
					       "analyse the run again (vprof analyze)",
					       i);
	}
	return VPROF_OK;
}

/* Parents come before their children, so every path to the root ends. */
int vprof_report_check(const struct vprof_results *r, struct vprof_error *err)
{
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		if (i == 0 ? n->depth != 0 || n->parent != 0 :
			     n->parent >= i || n->depth != r->nodes[n->parent].depth + 1)
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "results of run %s: node %zu has no valid parent; analyse the run again "
					       "(vprof analyze)",
					       r->run ? r->run : "?", i);
	}
	for (size_t i = 0; i < r->n_covariances; i++)
		if (r->covariances[i].a >= r->n_nodes || r->covariances[i].b >= r->n_nodes)
			return vprof_error_set(err, VPROF_ERR_CORRUPT,
					       "results: covariance %zu names no node; "
					       "analyse the run again (vprof analyze)",
					       i);
	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];
		size_t limit = f->kind == VPROF_FACTOR_COVARIANCE ? r->n_covariances : r->n_nodes;

		for (size_t j = 0; j < f->n_nodes; j++)
			if (f->nodes[j] >= limit)
				return vprof_error_set(err, VPROF_ERR_CORRUPT,
						       "results: factor %zu names no node; "
						       "analyse the run again (vprof analyze)",
						       i);
	}
	return check_causes(r, err);
}

void vprof_report_labelled(const struct vprof_style *style, const char *label, const char *text, struct vprof_text *out)
{
	vprof_text_addf(out, "%-*s", LABEL_COLUMNS, label);
	vprof_format_wrap(out, text, LABEL_COLUMNS, LABEL_COLUMNS, style->width);
}

void vprof_report_labelled_text(const struct vprof_style *style, const char *label, struct vprof_text *text,
				struct vprof_text *out)
{
	vprof_report_labelled(style, label, text->s, out);
	out->failed |= text->failed;
	vprof_text_release(text);
}

void vprof_report_headline(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
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

/* The factors that have most of what recording took: "a, b, c", up to three of a twentieth of it or more. */
static void add_slowed(const struct vprof_results *r, struct vprof_text *t)
{
	const struct vprof_factor *shown[SLOWED_SHOWN] = { NULL };

	for (int n = 0; n < SLOWED_SHOWN; n++) {
		for (size_t i = 0; i < r->n_factors; i++) {
			const struct vprof_factor *f = &r->factors[i];

			if (f->kind == VPROF_FACTOR_VARIANCE && f->probe_ns >= 0.05 * f->mean_ns &&
			    f->probe_ns >= 0.05 * r->probe_ns && (!n || f->probe_ns < shown[n - 1]->probe_ns) &&
			    (!shown[n] || f->probe_ns > shown[n]->probe_ns))
				shown[n] = f;
		}
		if (!shown[n])
			return;
		vprof_text_addf(t, "%s%s", n ? ", " : ": ", shown[n]->name);
	}
}

void vprof_report_effect(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	static const char *const by[VPROF_EFFECT_BY_COUNT] = { "estimated from the number of records: there is no run "
							       "without them to compare with",
							       "against the run without probes",
							       "against the intervals outside the recording windows" };
	struct vprof_text t = VPROF_TEXT_INIT;
	int is_out = isfinite(r->cost_scale);

	if (!r->n_complete || !(r->effect >= VPROF_EFFECT_TOLD) || (unsigned)r->effect_by >= VPROF_EFFECT_BY_COUNT)
		return;
	vprof_text_addf(&t, "recording slowed the intervals by %s (%s .. ", vprof_format_percent(r->effect).s,
			vprof_format_percent(r->effect_low).s);
	vprof_text_addf(&t, "%s; %s). ", vprof_format_percent(r->effect_high).s, by[r->effect_by]);
	vprof_text_addf(&t, "%s",
			is_out ? "Shares and means below are without it, within their bounds; least sure are functions "
				 "called often" :
				 "Shares below are those of the slowed program; least sure are functions called often");
	add_slowed(r, &t);
	vprof_report_labelled_text(style, "warning", &t, out);
}

void vprof_report_cost(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	double low, high;

	if (!r->n_complete || !(r->mean_ns > 0))
		return;
	if (isfinite(r->cost_scale)) {
		vprof_text_addf(&t, "probes: %s of the mean (%s .. ", vprof_format_percent(r->probe_ns / r->mean_ns).s,
				vprof_format_percent(r->probe_low_ns / r->mean_ns).s);
		vprof_text_addf(&t, "%s), taken out of shares and means; ",
				vprof_format_percent(r->probe_high_ns / r->mean_ns).s);
		vprof_text_addf(&t, "nominally %.3g ns for each record", r->record_ns);
	} else {
		vprof_text_addf(&t, "probes: about %s of the mean (%.3g ns for each record)",
				vprof_format_percent(r->probe_ns / r->mean_ns).s, r->record_ns);
	}
	vprof_results_probe_cost_bounds(r, &low, &high);
	if (r->baseline_mean_ns > 0 && fabs(low / r->baseline_mean_ns) < 1e4 && fabs(high / r->baseline_mean_ns) < 1e4)
		vprof_text_addf(&t, "; %+.1f .. %+.1f %% against the baseline without probes (mean %s)",
				100 * low / r->baseline_mean_ns, 100 * high / r->baseline_mean_ns,
				vprof_format_duration(r->baseline_mean_ns).s);
	else if (r->baseline_mean_ns > 0 && r->mean_ns / r->baseline_mean_ns < 1e4)
		vprof_text_addf(&t, "; %+.1f %% against the baseline without probes (mean %s)",
				100 * (r->mean_ns / r->baseline_mean_ns - 1),
				vprof_format_duration(r->baseline_mean_ns).s);
	vprof_report_labelled_text(style, "", &t, out);
}

static int by_bound(const void *a, const void *b)
{
	const struct vprof_closed *x = *(const struct vprof_closed *const *)a,
				  *y = *(const struct vprof_closed *const *)b;

	if (x->bound != y->bound)
		return x->bound > y->bound ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The first CLOSED_MAX by what may be in them. */
void vprof_report_closed(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	const struct vprof_closed **closed = malloc((r->n_closed + 1) * sizeof(struct vprof_closed *));
	struct vprof_text t = VPROF_TEXT_INIT;

	for (size_t i = 0; closed && i < r->n_closed; i++)
		closed[i] = &r->closed[i];
	if (closed)
		qsort(closed, r->n_closed, sizeof(struct vprof_closed *), by_bound);
	else
		out->failed = 1;
	for (size_t i = 0; closed && i < r->n_closed && i < CLOSED_MAX; i++) {
		const struct vprof_closed *c = closed[i];

		vprof_text_clear(&t);
		vprof_format_cut(&t, c->display, 60, 1, 0);
		if (*c->file) {
			vprof_text_add(&t, " (");
			vprof_format_cut(&t, c->file, 60, 0, 0);
			vprof_text_addf(&t, ":%d)", c->line);
		}
		vprof_text_addf(&t, ": at most %s of the variance; recording it took %s",
				vprof_format_at_most(c->bound).s, vprof_format_duration(c->saved_ns).s);
		vprof_text_addf(&t, " (%s of the mean, run %s)", vprof_format_percent(c->saved).s, c->run);
		vprof_report_labelled(style, i ? "" : "closed", t.s, out);
	}
	if (closed && r->n_closed > CLOSED_MAX) {
		vprof_text_clear(&t);
		vprof_text_addf(&t, "%zu more, each with at most %s of the variance (results.json has them)",
				r->n_closed - CLOSED_MAX, vprof_format_at_most(closed[CLOSED_MAX]->bound).s);
		vprof_report_labelled(style, "", t.s, out);
	}
	free(closed);
	if (r->n_closed)
		vprof_report_labelled(style, "",
				      "not measured, as they cannot matter: their time counts in their callers; vprof "
				      "iterate --keep-open measures one again",
				      out);
	vprof_text_release(&t);
}

void vprof_report_coverage(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s intervals complete", vprof_format_count(r->n_complete).s);
	if (r->n_not_drawn)
		vprof_text_addf(&t, " (drawn at random from %s)", vprof_format_count(vprof_results_n_all(r)).s);
	vprof_text_addf(&t, ", %s cut by the trace's end, ", vprof_format_count(r->n_cut).s);
	vprof_text_addf(&t, "%s ambiguous", vprof_format_count(r->n_ambiguous).s);
	if (r->n_restarted)
		vprof_text_addf(&t, ", %s restarted before they ended", vprof_format_count(r->n_restarted).s);
	if (r->n_lossy)
		vprof_text_addf(&t, ", %s left out because records were lost", vprof_format_count(r->n_lossy).s);
	if (r->n_outside)
		vprof_text_addf(&t, ", %s begun outside the recording windows (mean %s)",
				vprof_format_count(r->n_outside).s, vprof_format_duration(r->outside_mean_ns).s);
	vprof_text_addf(&t, "; %s records, ", vprof_format_count(r->n_records).s);
	vprof_text_addf(&t, "%s dropped", vprof_format_count(r->n_dropped).s);
	if (r->n_bytes_ignored)
		vprof_text_addf(&t, ", %s damaged bytes ignored", vprof_format_count(r->n_bytes_ignored).s);
	if (r->n_waits) {
		vprof_text_addf(&t, "; %s wait%s, ", vprof_format_count(r->n_waits).s, r->n_waits == 1 ? "" : "s");
		vprof_text_addf(&t, "%s matched with their waker", vprof_format_count(r->n_waits_matched).s);
		if (r->n_waits_unmatched)
			vprof_text_addf(&t, ", %s not", vprof_format_count(r->n_waits_unmatched).s);
		if (r->n_waits_by_time)
			vprof_text_addf(&t, ", %s by their timing alone", vprof_format_count(r->n_waits_by_time).s);
	}
	if (r->n_waits_undecided)
		vprof_text_addf(&t, "; %s wait%s for data undecided", vprof_format_count(r->n_waits_undecided).s,
				r->n_waits_undecided == 1 ? "" : "s");
	if (r->n_calls_sampled)
		vprof_text_addf(&t, "; %s records stand for several calls of hot functions",
				vprof_format_count(r->n_calls_sampled).s);
	vprof_report_labelled_text(style, "coverage", &t, out);
	if (r->no_switches && *r->no_switches && r->n_complete) {
		vprof_text_addf(&t, "running or preempted: not known: %s", r->no_switches);
		vprof_report_labelled_text(style, "", &t, out);
	}
}

void vprof_report_warnings(const struct vprof_style *style, const struct vprof_results *r, size_t from, size_t to,
			   struct vprof_text *out)
{
	for (size_t i = from; i < to && i < r->n_warnings; i++) {
		vprof_text_addf(out, "%s%-*s%s", vprof_ink(style, VPROF_INK_BAD), LABEL_COLUMNS,
				r->inconclusive && i == 0 ? "why" : "warning", vprof_ink(style, VPROF_INK_PLAIN));
		vprof_format_wrap(out, r->warnings[i] ? r->warnings[i] : "", LABEL_COLUMNS, LABEL_COLUMNS,
				  style->width);
	}
}
