/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See report_waits.h. One paragraph for each knot: its cycle, its edges by weight with what shortening them would give
 * and where the waits are, then what usually helps. */
#include "report/waits/report_waits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/radix.h"
#include "report/format_value.h"
#include "report/join_lines.h"
#include "report/report_parts.h"
#include "report/waits/waits_answer.h"

#define DEFAULT_EDGES 10
#define STACKS_SHOWN 2
#define NAMES_SHOWN 6
#define RUNNABLE_MIN 0.05 /* of the recording: below, more CPUs are not worth a word */
#define TYPES_SHOWN 6
#define OWN_MIN 0.005 /* of the mean: own work below is not worth a word */
#define INDENT 10

static const char *name(const struct vprof_waits_results *r, uint32_t party)
{
	return r->parties[party].name;
}

static void add_gain(const char *label, double gain, struct vprof_text *t)
{
	if (gain < 0.005)
		vprof_text_addf(t, "%s: nothing", label);
	else
		vprof_text_addf(t, "%s: +%s", label, vprof_format_percent(gain).s);
}

static void add_edge_words(const struct vprof_waits_results *r, const struct vprof_waits_arc *a, struct vprof_text *t)
{
	vprof_text_add(t, name(r, a->from));
	if (a->is_idle) {
		vprof_text_addf(t, " waits for requests from %s: %s of the recording; nothing to improve by itself",
				name(r, a->to), vprof_waits_share(r, a->weight_ns).s);
		return;
	}
	if (a->from == a->to)
		vprof_text_add(t, ": its threads wait for one another");
	else
		vprof_text_addf(t, " waits for %s", name(r, a->to));
	vprof_text_addf(t, ": %s wait%s, %s of the recording", vprof_format_count(a->n_waits).s,
			a->n_waits == 1 ? "" : "s", vprof_waits_share(r, a->own_ns).s);
	if (a->weight_ns > 1.01 * a->own_ns)
		vprof_text_addf(t, ", %s with those who wait for it meanwhile", vprof_waits_share(r, a->weight_ns).s);
	if (vprof_waits_is_faithful(r) && isfinite(a->halved) && isfinite(a->gone)) {
		add_gain(". Throughput if these waits were half as long", a->halved, t);
		add_gain("; without them", a->gone, t);
		if (isfinite(a->saved) && a->saved > a->gone + 0.005)
			add_gain("; if that I/O were saved (as by larger batches), up to", a->saved, t);
	}
}

static void add_stacks(const struct vprof_style *style, const struct vprof_waits_arc *a, struct vprof_text *out)
{
	for (size_t i = 0; i < a->n_stacks && i < STACKS_SHOWN; i++) {
		const struct vprof_waits_stack *s = &a->stacks[i];
		struct vprof_text t = VPROF_TEXT_INIT;

		vprof_text_addf(&t, "%s in ",
				vprof_format_percent(a->weight_ns > 0 ? s->weight_ns / a->weight_ns : NAN).s);
		vprof_text_add(&t, *s->wait ? s->wait : "an unknown place");
		if (*s->waker)
			vprof_text_addf(&t, "; ended by %s", s->waker);
		vprof_text_addf(out, "%*s", INDENT + 3, "");
		vprof_format_wrap(out, t.s, INDENT + 3, INDENT + 3, style->width);
		vprof_text_release(&t);
	}
}

/* By falling weight; equal ones as they are. */
static void sort_by_weight(const struct vprof_waits_results *r, uint32_t *arcs, size_t n)
{
	struct vprof_keyed *keyed = malloc((n + 1) * sizeof *keyed);

	for (size_t i = 0; keyed && i < n; i++)
		keyed[i] = (struct vprof_keyed){ vprof_falling_key(fmax(0, r->arcs[arcs[i]].weight_ns)), arcs[i] };
	if (keyed && !vprof_radix_sort(keyed, n))
		for (size_t i = 0; i < n; i++)
			arcs[i] = keyed[i].item;
	free(keyed);
}

static void add_edges(const struct vprof_style *style, const struct vprof_waits_results *r,
		      const struct vprof_waits_group *g, size_t top, struct vprof_text *out)
{
	uint32_t *sorted = malloc((g->n_arcs + 1) * sizeof *sorted);

	if (!sorted) {
		out->failed = 1;
		return;
	}
	for (size_t i = 0; i < g->n_arcs; i++)
		sorted[i] = g->arcs[i];
	sort_by_weight(r, sorted, g->n_arcs);
	for (size_t i = 0; i < g->n_arcs && i < top; i++) {
		struct vprof_text t = VPROF_TEXT_INIT;

		add_edge_words(r, &r->arcs[sorted[i]], &t);
		vprof_report_labelled(style, "", t.s, out);
		add_stacks(style, &r->arcs[sorted[i]], out);
		vprof_text_release(&t);
	}
	if (g->n_arcs > top)
		vprof_text_addf(out, "%*s%zu lighter edges (--top shows them)\n", INDENT, "", g->n_arcs - top);
	free(sorted);
}

static void add_runnable(const struct vprof_style *style, const struct vprof_waits_results *r,
			 const struct vprof_waits_group *g, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (r->duration_ns <= 0 || g->runnable_ns / r->duration_ns < RUNNABLE_MIN)
		return;
	vprof_text_addf(
		&t,
		"its threads were runnable without a CPU for %s of the recording (summed): more CPUs, or a higher "
		"priority, would help, too",
		vprof_waits_share(r, g->runnable_ns).s);
	vprof_report_labelled_text(style, "", &t, out);
}

/* Waits of others for the knot: long, perhaps, but not the cause. */
static void add_outside(const struct vprof_style *style, const struct vprof_waits_results *r,
			const struct vprof_waits_group *g, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	const struct vprof_waits_arc *heaviest = NULL;
	unsigned char *is_member = calloc(r->n_parties + 1, 1);

	for (size_t i = 0; is_member && i < g->n_parties; i++)
		is_member[g->parties[i]] = 1;
	for (size_t i = 0; is_member && i < r->n_arcs; i++)
		if (is_member[r->arcs[i].to] && !is_member[r->arcs[i].from] && !r->arcs[i].is_idle &&
		    (!heaviest || r->arcs[i].own_ns > heaviest->own_ns))
			heaviest = &r->arcs[i];
	free(is_member);
	if (!heaviest || heaviest->own_ns < RUNNABLE_MIN * r->duration_ns)
		return;
	vprof_text_addf(&t, "%s waits for %s for %s of the recording, as a result: outside the knot",
			name(r, heaviest->from), name(r, heaviest->to), vprof_waits_share(r, heaviest->own_ns).s);
	vprof_report_labelled_text(style, "", &t, out);
}

/* Sleeps of a knot's threads while others wait for them: a timer waits for nobody, so they are in no knot. */
static void add_sleeps(const struct vprof_style *style, const struct vprof_waits_results *r,
		       const struct vprof_waits_group *g, struct vprof_text *out)
{
	for (size_t i = 0; i < r->n_arcs; i++) {
		const struct vprof_waits_arc *a = &r->arcs[i];
		struct vprof_text t = VPROF_TEXT_INIT;
		int is_member = 0;

		if (!a->is_sleep)
			continue;
		for (size_t k = 0; k < g->n_parties; k++)
			is_member |= g->parties[k] == a->from;
		if (!is_member)
			continue;
		add_edge_words(r, a, &t);
		vprof_text_add(&t, ". If these sleeps are part of the work, they limit it, too");
		vprof_report_labelled(style, "", t.s, out);
		add_stacks(style, a, out);
		vprof_text_release(&t);
	}
}

/* What threads do that their names do not tell: the functions that they begin in. */
static void add_roles(const struct vprof_style *style, const struct vprof_waits_results *r,
		      const struct vprof_waits_group *g, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	size_t n = 0;

	for (size_t i = 0; i < g->n_parties && n < NAMES_SHOWN; i++) {
		const struct vprof_waits_party *p = &r->parties[g->parties[i]];

		if (*p->role && strcmp(p->role, "main") && !strstr(p->name, p->role))
			vprof_text_addf(&t, "%s%s begins in %s", n++ ? "; " : "", p->name, p->role);
	}
	if (n)
		vprof_report_labelled(style, "", t.s, out);
	vprof_text_release(&t);
}

static void add_range(double low, double high, double sign, struct vprof_text *t)
{
	if (isfinite(low) && isfinite(high))
		vprof_text_addf(t, " (%s .. %s)", vprof_format_percent(sign * (sign < 0 ? high : low)).s,
				vprof_format_percent(sign * (sign < 0 ? low : high)).s);
}

static void add_shares(const struct vprof_waits_through *x, struct vprof_text *t)
{
	vprof_text_addf(t, "%s of the mean", vprof_format_percent(x->through_ns / x->mean_ns).s);
	if (!isfinite(x->share))
		return;
	vprof_text_addf(t, ", %s of the variance", vprof_format_percent(x->share).s);
	add_range(x->share_low, x->share_high, 1, t);
	vprof_text_addf(t, "; if constant, %s", vprof_format_percent(-x->if_constant).s);
	add_range(x->if_constant_low, x->if_constant_high, -1, t);
}

/* The locks at which intervals wait for the knot, which has the same name in the other results. */
static void add_locks(const struct vprof_waits_results *r, const struct vprof_waits_group *g,
		      const struct vprof_results *of_run, struct vprof_text *t)
{
	struct vprof_text name = VPROF_TEXT_INIT;

	vprof_waits_add_members(r, g, &name);
	for (size_t i = 0; of_run && !name.failed && i < of_run->n_knots; i++)
		if (!strcmp(of_run->knots[i].name, name.s))
			vprof_knot_add_locks(&of_run->knots[i], t);
	vprof_text_release(&name);
}

/* Which share of the intervals' time passes through the knot: of all, then by type. */
static void add_through(const struct vprof_style *style, const struct vprof_waits_results *r,
			const struct vprof_waits_group *g, const struct vprof_results *of_run, struct vprof_text *out)
{
	for (size_t i = 0; i < g->n_through && i <= TYPES_SHOWN; i++) {
		const struct vprof_waits_through *x = &g->through[i];
		struct vprof_text t = VPROF_TEXT_INIT;

		if (!x->n)
			continue;
		vprof_text_addf(&t, "%s%s%s: ", r->interval, i ? " " : "", i ? x->type : "");
		if (x->through_ns > 0)
			add_shares(x, &t);
		else
			vprof_text_add(&t, "nothing");
		vprof_text_add(&t, i ? " passes through it" : " passes through this knot, in waits for its members");
		if (!i)
			add_locks(r, g, of_run, &t);
		if (x->own_ns >= OWN_MIN * x->mean_ns)
			vprof_text_addf(&t, "; own work of its threads is %s of the mean",
					vprof_format_percent(x->own_ns / x->mean_ns).s);
		vprof_report_labelled_text(style, "", &t, out);
	}
}

static void add_group(const struct vprof_style *style, const struct vprof_waits_results *r,
		      const struct vprof_waits_group *g, size_t number, size_t top, const struct vprof_results *of_run,
		      struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	char label[32];

	snprintf(label, sizeof label, "%s %zu", vprof_waits_verdict_names[g->verdict], number);
	vprof_waits_add_members(r, g, &t);
	if (g->ending == VPROF_WAITS_ENDING_HEAVY)
		vprof_text_addf(&t, ": all edges between them weigh more than %s of the recording",
				vprof_format_percent(r->threshold).s);
	else if (g->ending == VPROF_WAITS_ENDING_PARTS)
		vprof_text_add(&t, ": without the lightest edge it falls apart into threads that are mostly idle");
	else if (g->verdict == VPROF_WAITS_SINK && r->parties[g->parties[0]].kind == VPROF_WAITS_PARTY_THREAD)
		vprof_text_addf(&t, ": running %s of the recording",
				vprof_waits_share(r, r->parties[g->parties[0]].running_ns).s);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_BOLD));
	vprof_report_labelled(style, label, t.s, out);
	vprof_text_add(out, vprof_ink(style, VPROF_INK_PLAIN));
	vprof_text_release(&t);
	add_roles(style, r, g, out);
	add_edges(style, r, g, top, out);
	add_sleeps(style, r, g, out);
	add_runnable(style, r, g, out);
	add_outside(style, r, g, out);
	add_through(style, r, g, of_run, out);
	vprof_report_labelled(style, "", vprof_waits_remedy(r, g), out);
	vprof_text_add(out, "\n");
}

static void add_background(const struct vprof_style *style, const struct vprof_waits_results *r, struct vprof_text *out)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_groups; i++) {
		const struct vprof_waits_group *g = &r->groups[i];
		struct vprof_text t = VPROF_TEXT_INIT;

		if (g->verdict != VPROF_WAITS_ASIDE || !vprof_waits_has_kind(r, g, VPROF_WAITS_PARTY_THREAD) ||
		    ++n > NAMES_SHOWN)
			continue;
		vprof_waits_add_members(r, g, &t);
		vprof_text_addf(&t, ": no I/O, busy %s of the recording", vprof_waits_share(r, g->busy_ns).s);
		vprof_report_labelled(style, n == 1 ? "set aside" : "", t.s, out);
		add_sleeps(style, r, g, out);
		vprof_text_release(&t);
	}
	if (n > NAMES_SHOWN)
		vprof_text_addf(out, "%*s%zu more\n", INDENT, "", n - NAMES_SHOWN);
}

static void add_summary(const struct vprof_style *style, const struct vprof_waits_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s recorded", vprof_format_duration(r->duration_ns).s);
	if (r->n_cpus)
		vprof_text_addf(&t, " on %u CPU%s", r->n_cpus, r->n_cpus == 1 ? "" : "s");
	vprof_text_addf(&t, ", %s %s, %s lost; %s thread%s", vprof_format_count(r->n_events).s,
			r->is_kernel ? "events of the kernel" : "waits recorded by vprof's wrappers",
			vprof_format_count(r->n_lost).s, vprof_format_count(r->n_threads).s,
			r->n_threads == 1 ? "" : "s");
	vprof_report_labelled_text(style, "waits", &t, out);
	vprof_text_add(out, "\n");
}

/* How far all of it can be trusted. */
static void add_trust(const struct vprof_style *style, const struct vprof_waits_results *r, struct vprof_text *out)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "of the waiting time, %s has no known waker",
			vprof_format_percent(vprof_waits_unknown_part(r)).s);
	if (r->n_assumed)
		vprof_text_addf(&t, "; %s threads ran again without a recorded wake-up",
				vprof_format_count(r->n_assumed).s);
	if (r->n_circular)
		vprof_text_addf(&t, "; %s waits contradict one another", vprof_format_count(r->n_circular).s);
	if (isfinite(r->fidelity))
		vprof_text_addf(
			&t,
			"; gains: from a replay of %s of the recording, which unchanged takes %s of the real time%s",
			vprof_format_percent(r->replayed).s, vprof_format_percent(r->fidelity).s,
			!vprof_waits_is_faithful(r) ? ": too far off, so that none are shown" :
			r->cpus_simulated	    ? "" :
						      "; runnable threads get a CPU as late in it as they did, since "
						      "others used the CPUs, too");
	vprof_report_labelled_text(style, "coverage", &t, out);
}

void vprof_report_waits(const struct vprof_waits_results *r, const struct vprof_results *of_run,
			const struct vprof_report_options *o, struct vprof_text *out)
{
	struct vprof_style style = vprof_report_style(o);
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	size_t top = o->top ? o->top : DEFAULT_EDGES;

	vprof_waits_answer(r, &answer);
	vprof_answer_print(&style, &answer, out);
	vprof_answer_release(&answer);
	add_summary(&style, r, out);
	for (size_t i = 0; i < r->n_groups && r->groups[i].verdict != VPROF_WAITS_ASIDE; i++)
		add_group(&style, r, &r->groups[i], i + 1, top, of_run, out);
	add_background(&style, r, out);
	add_trust(&style, r, out);
}
