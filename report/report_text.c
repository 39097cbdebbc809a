/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report: what was measured, how it is spread, its causes, the ranked factors, and how far all of it can be
 * trusted.
 *
 * Invariant: the results are checked once, up front; everything after may index them freely.
 */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/cause_lines.h"
#include "report/format_value.h"
#include "report/join_lines.h"
#include "report/layer_lines.h"
#include "report/report_parts.h"

#define DEFAULT_TOP 10
#define LABEL_COLUMNS 10
#define SHOWN_SHARE 0.005 /* a factor that would read "0 %" is left out unless it is chosen */

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
	vprof_report_labelled_text(style, "", &t, out);
	for (size_t i = 0; i < r->n_types && i < 5; i++) {
		const struct vprof_type *type = &r->types[i];

		vprof_text_addf(&t, "%s%s: %s, mean %s, sd %s", i ? "; " : "", type->name ? type->name : "?",
				vprof_format_count(type->n).s, vprof_format_duration(type->mean_ns).s,
				vprof_format_duration(type->sd_ns).s);
	}
	vprof_report_labelled_text(style, "", &t, out);
}

static double known(double share)
{
	return isfinite(share) ? share : 0;
}

/* How the mean latency was spent. */
static void add_states(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (!isfinite(r->running_share) || !isfinite(r->blocked_share) || !isfinite(r->queued_share) ||
	    r->blocked_share + r->queued_share + known(r->preempted_share) + known(r->kernel_share) +
			    known(r->io_share) <
		    0.005)
		return;
	vprof_text_addf(&t, "of the mean: %s running%s, ", vprof_format_percent(r->running_share).s,
			isfinite(r->preempted_share) ? "" : " or preempted");
	if (known(r->kernel_share) >= 0.005)
		vprof_text_addf(&t, "%s in the kernel, ", vprof_format_percent(r->kernel_share).s);
	if (known(r->io_share) >= 0.005)
		vprof_text_addf(&t, "%s in I/O (blocked or in the kernel), ", vprof_format_percent(r->io_share).s);
	vprof_text_addf(&t, "%s blocked, %s queued", vprof_format_percent(r->blocked_share).s,
			vprof_format_percent(r->queued_share).s);
	if (isfinite(r->preempted_share))
		vprof_text_addf(&t, ", %s preempted", vprof_format_percent(r->preempted_share).s);
	vprof_report_labelled_text(style, "", &t, out);
}

static void add_summary(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	vprof_report_effect(style, r, out);
	vprof_report_headline(style, r, out);
	add_types(style, r, out);
	add_states(style, r, out);
	vprof_report_cost(style, r, out);
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

static int is_cause_chosen(const struct vprof_results *r, const struct vprof_report_options *o, size_t cause)
{
	for (size_t j = 0; j < r->causes[cause].n_factors; j++)
		if (is_chosen(r, o, r->causes[cause].factors[j]))
			return 1;
	return 0;
}

static void add_causes(const struct vprof_style *style, const struct vprof_results *r,
		       const struct vprof_report_options *o, struct vprof_text *out)
{
	size_t top = o->top ? o->top : DEFAULT_TOP, shown = 0;

	vprof_cause_heading(style, out);
	for (size_t i = 0; i < r->n_causes; i++) {
		const struct vprof_cause *c = &r->causes[i];
		int chosen = is_cause_chosen(r, o, i);

		if (!chosen && (i >= top || (fabs(c->share) < SHOWN_SHARE && fabs(c->if_constant) < SHOWN_SHARE)))
			continue;
		vprof_cause_lines(style, r, i + 1, chosen, out);
		shown++;
	}
	vprof_text_addf(out, "%*s%s", LABEL_COLUMNS - 1, "", vprof_ink(style, VPROF_INK_DIM));
	if (shown < r->n_causes)
		vprof_text_addf(out, "%s more cause%s; ", vprof_format_count(r->n_causes - shown).s,
				r->n_causes - shown == 1 ? "" : "s");
	vprof_text_addf(out, "%s ranked factors%s%s\n", vprof_format_count(r->n_factors).s,
			o->factors ? ":" : ": --factors", vprof_ink(style, VPROF_INK_PLAIN));
}

static void add_factors(const struct vprof_style *style, const struct vprof_results *r,
			const struct vprof_report_options *o, struct vprof_text *out)
{
	size_t top = o->top ? o->top : DEFAULT_TOP, shown = 0, above = 0;

	for (size_t i = 0; i < r->n_factors; i++)
		above += r->factors[i].share >= r->threshold;
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

static void add_answer(const struct vprof_style *style, const struct vprof_results *r,
		       const struct vprof_report_options *o, struct vprof_text *out)
{
	if (!r->n_factors && !r->n_causes) {
		vprof_report_labelled(style, "", "no factor: nothing below the interval is measured in this run", out);
		return;
	}
	if (r->n_causes)
		add_causes(style, r, o, out);
	if (r->n_causes && r->n_factors && o->factors)
		vprof_text_add(out, "\n");
	if (r->n_factors && (o->factors || !r->n_causes))
		add_factors(style, r, o, out);
}

int vprof_report_text(const struct vprof_results *r, const struct vprof_report_options *o, struct vprof_text *out,
		      struct vprof_error *err)
{
	struct vprof_style style = vprof_report_style(o);
	int rc = vprof_report_check(r, err);

	if (rc)
		return rc;
	if (r->inconclusive) {
		vprof_text_addf(out, "%sinconclusive%s: this run has too little data to rank anything\n",
				vprof_ink(&style, VPROF_INK_BAD), vprof_ink(&style, VPROF_INK_PLAIN));
		vprof_report_warnings(&style, r, 0, r->n_warnings, out);
		vprof_text_add(out, "\n");
	} else if (r->n_warnings_first) {
		vprof_report_warnings(&style, r, 0, r->n_warnings_first, out);
		vprof_text_add(out, "\n");
	}
	add_summary(&style, r, out);
	vprof_text_add(out, "\n");
	if (!r->inconclusive || r->n_factors)
		add_answer(&style, r, o, out);
	vprof_text_add(out, "\n");
	vprof_knot_lines(&style, r, out);
	vprof_tier_lines(&style, r, out);
	vprof_layer_lines(&style, r, out);
	vprof_report_coverage(&style, r, out);
	vprof_report_closed(&style, r, out);
	if (o->ending && *o->ending)
		vprof_report_labelled(&style, "ended", o->ending, out);
	if (!r->inconclusive)
		vprof_report_warnings(&style, r, r->n_warnings_first, r->n_warnings, out);
	return out->failed ? vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory writing the report") : VPROF_OK;
}

int vprof_report_cause(const struct vprof_results *r, size_t rank, const struct vprof_report_options *o,
		       struct vprof_text *out, struct vprof_error *err)
{
	struct vprof_style style = vprof_report_style(o);
	int rc = vprof_report_check(r, err);

	if (!rc && (!rank || rank > r->n_causes))
		rc = vprof_error_set(err, VPROF_ERR_INPUT, "these results have no cause %zu", rank);
	if (!rc)
		vprof_cause_lines(&style, r, rank, 1, out);
	return rc;
}

int vprof_report_factor(const struct vprof_results *r, size_t rank, const struct vprof_report_options *o,
			struct vprof_text *out, struct vprof_error *err)
{
	struct vprof_style style = vprof_report_style(o);
	int rc = vprof_report_check(r, err);

	if (!rc && (!rank || rank > r->n_factors))
		rc = vprof_error_set(err, VPROF_ERR_INPUT, "these results have no factor %zu", rank);
	if (!rc)
		vprof_factor_lines(&style, r, rank, 1, out);
	return rc;
}
