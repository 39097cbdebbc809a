/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounds are wide where a function computes between two events: the child with the highest lower bound is taken, and
 * among those of which nothing is sure the one that may be most. */
#include "cli/latency/hot_path.h"

#include <math.h>
#include <stdio.h>

#include "cli/latency/latency_interval.h"
#include "cli/latency/latency_runs.h"
#include "report/format_value.h"
#include "report/report_parts.h"

#define HOT 0.1 /* of the variance, or of the time */

static int add(struct vprof_watch *w, const char *name)
{
	const char *kept = w->seen.n_hot < VPROF_HOT_MOST ? vprof_strings_keep(&w->strings, name) : name;

	if (w->seen.n_hot < VPROF_HOT_MOST && kept)
		w->seen.hot[w->seen.n_hot++] = kept;
	return kept ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int keep_why(struct vprof_watch *w, struct vprof_text *why)
{
	w->seen.hot_why = why->failed ? NULL : vprof_strings_keep(&w->strings, why->s);
	vprof_text_release(why);
	return w->seen.hot_why ? VPROF_OK : VPROF_ERR_NOMEM;
}

struct weight {
	double low, high; /* of the interval's variance, or of its time */
};

static struct weight weight_of(const struct vprof_results *r, const struct vprof_layer *l, int by_variance)
{
	double whole = r->layers[0].high_ns;

	if (by_variance)
		return isfinite(l->share_low) && isfinite(l->share_high) ?
			       (struct weight){ l->share_low, fmin(1, l->share_high) } :
			       (struct weight){ 0, 0 };
	return (struct weight){ l->low_ns / whole, l->high_ns / whole };
}

/* The context beneath `above` that is most; 0: none is enough. */
static size_t hottest(const struct vprof_results *r, size_t above, int by_variance)
{
	struct weight best = { 0, 0 };
	size_t found = 0;

	for (size_t i = above + 1; i < r->n_layers; i++) {
		struct weight x = weight_of(r, &r->layers[i], by_variance);

		if (r->layers[i].parent != above || (x.low + x.high) / 2 < HOT)
			continue;
		if (found && (x.low < best.low || (!(x.low > best.low) && x.high <= best.high)))
			continue;
		best = x;
		found = i;
	}
	return found;
}

static int of_interval(struct vprof_watch *w, const char *trace, const char *interval, const char *run,
		       struct vprof_error *err)
{
	struct vprof_latency_interval i;
	int rc = vprof_latency_interval_infer(&i, trace, run, interval, err);
	const struct vprof_results *r = i.results;
	int by_variance = !rc && vprof_latency_interval_is_known(&i) && i.sd_low_ns > 0;
	size_t at = 0, next, last = 0;
	struct vprof_text why = VPROF_TEXT_INIT;
	struct weight x = { 0, 0 };

	if (!rc && r->n_layers && add(w, r->layers[0].name))
		rc = vprof_error_no_memory(err);
	while (!rc && r->n_layers && (next = hottest(r, at, by_variance))) {
		at = next;
		if (r->layers[at].kind != VPROF_LAYER_PROGRAM)
			continue; /* what a library calls back lies beneath it */
		last = at;
		if (add(w, r->layers[at].name))
			rc = vprof_error_no_memory(err);
	}
	if (!rc && r->n_layers) {
		vprof_text_addf(&why, "the hot path of %s calls of %s in %s, inferred from stacks",
				vprof_format_count(i.n_used).s, r->interval, run);
		if (last) {
			x = weight_of(r, &r->layers[last], by_variance);
			vprof_text_addf(&why, ": %s has ", r->layers[last].name);
			vprof_bound_share_words(x.low, x.high, &why);
			vprof_text_add(&why, by_variance ? " of their variance" : " of their time");
		}
		if (keep_why(w, &why))
			rc = vprof_error_no_memory(err);
	}
	vprof_latency_interval_release(&i);
	return rc;
}

static int of_recording(struct vprof_watch *w, const char *trace, const char *run, struct vprof_error *err)
{
	struct vprof_latency_results *r = vprof_latency_results_new();
	int rc = r ? vprof_latency_runs(r, (const char *const[]){ NULL, trace }, (const char *const[]){ NULL, run },
					NULL, err) :
		     vprof_error_no_memory(err);
	const struct vprof_latency_path_result *p = !rc && r->n_paths ? &r->paths[0] : NULL;
	struct vprof_text why = VPROF_TEXT_INIT;

	if (p && p->share >= HOT) {
		for (size_t i = 0; i < p->n_steps && !rc; i++)
			if (add(w, r->names[r->nodes[p->steps[i].context].function].name))
				rc = vprof_error_no_memory(err);
		vprof_text_addf(
			&why,
			"the costliest path of %s, inferred from stacks: %s of the time in which threads were not idle",
			run, vprof_format_percent(p->share).s);
		if (!rc && keep_why(w, &why))
			rc = vprof_error_no_memory(err);
	}
	vprof_text_release(&why);
	vprof_latency_results_free(r);
	return rc;
}

int vprof_hot_path_find(struct vprof_watch *w, const char *trace, const char *interval, const char *run,
			struct vprof_error *err)
{
	w->seen.n_hot = 0;
	w->seen.hot_why = NULL;
	return interval ? of_interval(w, trace, interval, run, err) : of_recording(w, trace, run, err);
}
