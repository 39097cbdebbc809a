/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/latency/report_interval.h"

#include <math.h>

#include "report/format_value.h"
#include "report/layer_lines.h"

#define TOLD 0.5 /* of the variance, surely: a context is named in the sentence */
#define WIDE 0.2 /* ... that a context may have while it surely has less than half of it: worth a word */
#define DEFAULT_LINES 20

/* The innermost context that surely has so much of the variance; 0: there is none. */
static size_t find_cause(const struct vprof_results *r)
{
	size_t found = 0;

	for (size_t i = 1; i < r->n_layers; i++)
		if (r->layers[i].share_low >= TOLD && r->layers[i].parent == found)
			found = i;
	return found;
}

static void add_path(const struct vprof_results *r, size_t layer, struct vprof_text *t)
{
	if (r->layers[layer].parent) {
		add_path(r, r->layers[layer].parent, t);
		vprof_text_add(t, " > ");
	}
	vprof_text_add(t, r->layers[layer].name);
}

static void add_sentence(const struct vprof_latency_interval *i, struct vprof_text *t)
{
	const struct vprof_results *r = i->results;
	size_t cause = find_cause(r);

	if (!vprof_latency_interval_is_known(i)) {
		vprof_text_addf(
			t,
			"It is not known why calls of %s take as long as they do: too few of them were seen from begin to end.",
			r->interval);
	} else if (!cause) {
		vprof_text_addf(
			t,
			"It is not settled why calls of %s vary: no function in them surely has half of the variance.",
			r->interval);
	} else {
		vprof_text_addf(t, "%s varies mostly by ", r->interval);
		add_path(r, cause, t);
		vprof_text_add(t, ": ");
		vprof_bound_share_words(r->layers[cause].share_low, r->layers[cause].share_high, t);
		vprof_text_add(t, " of the variance.");
	}
}

static void add_warnings(const struct vprof_latency_interval *i, struct vprof_answer *answer)
{
	if (i->n_used < i->n_calls)
		vprof_text_addf(
			vprof_answer_warn(answer),
			"%s of %s calls are left out: %s cut by the end of a window or of the recording, %s of which it is not known "
			"whether they are one call, since system calls were left out%s. vprof record --stacks --budget 0 --spacing 1ns "
			"records all of them",
			vprof_format_count(i->n_calls - i->n_used).s, vprof_format_count(i->n_calls).s,
			vprof_format_count(i->n_cut).s, vprof_format_count(i->n_unsure).s,
			i->n_unsure ?
				"; so short calls, into which no event fell, are not seen at all, and those that are seen "
				"take longer than the average" :
				"");
	if (i->n_inlined)
		vprof_text_addf(
			vprof_answer_warn(answer),
			"%s was also inlined into %s (%s place%s): what it does there is part of them, and of no call here",
			i->results->interval, i->inlined_into, vprof_format_count(i->n_inlined).s,
			i->n_inlined == 1 ? "" : "s");
	for (size_t k = 1; k < i->results->n_layers; k++) {
		const struct vprof_layer *l = &i->results->layers[k];

		if (!(l->share_high >= WIDE && l->share_low < l->share_high / 2))
			continue;
		vprof_text_addf(vprof_answer_warn(answer), "the bounds of some contexts are wide (%s: ", l->name);
		vprof_bound_share_words(l->share_low, l->share_high, &answer->warnings[answer->n_warnings - 1]);
		vprof_text_add(
			&answer->warnings[answer->n_warnings - 1],
			"): more events (--timer 4000) make them closer, probes in these functions exact (vprof init --from RUN)");
		return;
	}
}

void vprof_interval_answer(const struct vprof_latency_interval *i, struct vprof_answer *answer)
{
	add_sentence(i, &answer->sentence);
	add_warnings(i, answer);
}

void vprof_report_interval(const struct vprof_latency_interval *i, const struct vprof_report_options *o,
			   struct vprof_text *out)
{
	struct vprof_style style = vprof_report_style(o);
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_interval_answer(i, &answer);
	vprof_answer_print(&style, &answer, out);
	vprof_answer_release(&answer);
	vprof_text_addf(&t, "%s calls, mean ", vprof_format_count(i->n_used).s);
	vprof_bound_time_words(i->mean_low_ns, i->mean_high_ns, &t);
	vprof_text_add(&t, ", sd ");
	vprof_bound_time_words(i->sd_low_ns, i->sd_high_ns, &t);
	vprof_text_add(&t, "; inferred from stacks: each figure is between two bounds");
	vprof_report_labelled_text(&style, "interval", &t, out);
	vprof_text_add(out, "\n");
	if (i->results->n_layers)
		vprof_layer_tree(&style, i->results, 0, o->top ? o->top : DEFAULT_LINES, out);
}
