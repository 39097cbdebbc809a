/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/join_lines.h"

#include <math.h>

#include "report/format_value.h"

#define SHOWN_KNOT 0.005 /* of the mean, in waits for its members */
#define SHOWN_LOCK 0.05	 /* of a knot's time */
#define SHOWN_TIER 0.005 /* of the mean, or of the variance */
enum { LOCKS_SHOWN = 3, CAUSES_SHOWN = 3 };

static void add_lock(const struct vprof_knot_lock *l, int is_first, struct vprof_text *t)
{
	vprof_text_addf(t, "%s%s", is_first ? ", at " : ", ", *l->awaited ? l->awaited : l->name);
	if (*l->file)
		vprof_text_addf(t, " (%s:%d)", l->file, l->line);
	else if (*l->function)
		vprof_text_addf(t, " in %s", l->function);
	vprof_text_addf(t, " %s", vprof_format_percent(l->part).s);
}

void vprof_knot_add_locks(const struct vprof_knot *k, struct vprof_text *t)
{
	for (size_t i = 0; i < k->n_locks && i < LOCKS_SHOWN && k->locks[i].part >= SHOWN_LOCK; i++)
		add_lock(&k->locks[i], !i, t);
}

void vprof_knot_lines(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_knots; i++) {
		const struct vprof_knot *k = &r->knots[i];
		struct vprof_text t = VPROF_TEXT_INIT;

		if (!(k->through_ns >= SHOWN_KNOT * r->mean_ns))
			continue;
		vprof_text_addf(
			&t,
			"%s limits throughput; %s of the mean and %s of the variance pass through it, in waits for its "
			"members",
			k->name, vprof_format_percent(k->through_ns / r->mean_ns).s, vprof_format_percent(k->share).s);
		vprof_knot_add_locks(k, &t);
		vprof_text_add(&t, n ? "" : " (vprof report waits)");
		vprof_report_labelled_text(style, n++ ? "" : "knots", &t, out);
	}
}

void vprof_tier_lines(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tiers; i++) {
		const struct vprof_tier *tier = &r->tiers[i];
		struct vprof_text t = VPROF_TEXT_INIT;

		if (!(tier->mean_ns >= SHOWN_TIER * r->mean_ns || fabs(tier->share) >= SHOWN_TIER))
			continue;
		vprof_text_addf(&t, "%s%s takes %s of the mean and %s of the variance", tier->name,
				tier->is_own ? ", where they begin," : "",
				vprof_format_percent(tier->mean_ns / r->mean_ns).s,
				vprof_format_percent(tier->share).s);
		for (size_t c = 0; c < tier->n_causes && c < CAUSES_SHOWN; c++)
			vprof_text_addf(&t, "%s%u, %s",
					c		   ? "; " :
					tier->n_causes > 1 ? ": causes " :
							     ": cause ",
					tier->causes[c] + 1, r->causes[tier->causes[c]].name);
		if (tier->n_causes > CAUSES_SHOWN)
			vprof_text_addf(&t, "; %zu more", tier->n_causes - CAUSES_SHOWN);
		vprof_text_add(&t, n ? "" : " (vprof report paths)");
		vprof_report_labelled_text(style, n++ ? "" : "tiers", &t, out);
	}
}
