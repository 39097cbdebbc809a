/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/views/views.h"

#include <stdlib.h>

#include "analysis/join/knot_locks.h"
#include "analysis/join/knot_parts.h"
#include "analysis/join/knot_shares.h"
#include "analysis/results/waits_members.h"
#include "analysis/waits/describe.h"
#include "analysis/waits/input/annotation_marks.h"
#include "analysis/waits/input/input.h"
#include "analysis/waits/input/timeline_history.h"

static const char *name_of(struct vprof_results *r, const struct vprof_waits_results *w,
			   const struct vprof_waits_group *g)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	const char *name;

	vprof_waits_add_members(w, g, &t);
	name = t.failed ? NULL : vprof_results_string(r, t.s);
	vprof_text_release(&t);
	return name;
}

static int take_over(struct vprof_results *r, const struct vprof_waits_results *w, const struct vprof_knot_times *times,
		     const struct vprof_timeline *timeline)
{
	const char *names[VPROF_KNOT_TIMES_MAX];
	struct vprof_knot_wait_index waits;
	int code;

	r->knots = calloc(times->n_knots + 1, sizeof *r->knots);
	if (!r->knots)
		return VPROF_ERR_NOMEM;
	for (size_t k = 0; k < times->n_knots && w->groups[k].n_through; k++) {
		const struct vprof_waits_through *x = &w->groups[k].through[0];

		names[k] = name_of(r, w, &w->groups[k]);
		if (!names[k])
			return VPROF_ERR_NOMEM;
		r->knots[r->n_knots++] = (struct vprof_knot){ .name = names[k],
							      .through_ns = x->through_ns,
							      .own_ns = x->own_ns,
							      .share = x->share,
							      .share_low = x->share_low,
							      .share_high = x->share_high,
							      .if_constant = x->if_constant,
							      .if_constant_low = x->if_constant_low,
							      .if_constant_high = x->if_constant_high };
	}
	code = vprof_knot_wait_index_make(&waits, times, timeline);
	if (!code && r->n_knots == times->n_knots)
		vprof_knot_parts_fill(r, times->n_knots, &waits, names);
	if (!code)
		code = vprof_knot_locks_fill(r, &waits);
	vprof_knot_wait_index_release(&waits);
	return code;
}

/* Only the probes know of spin waits and false wake-ups. */
static int has_marks(const struct vprof_timeline *timeline)
{
	for (size_t t = 0; t < timeline->n_threads; t++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[t];

		for (size_t i = 0; i < thr->waits.n; i++)
			if (thr->waits.v[i].kind == VP_WAIT_SPIN || thr->waits.v[i].goes_on)
				return 1;
	}
	return 0;
}

static int analyse_waits(struct vprof_waits_input *input, struct vprof_waits *waits, struct vprof_waits_results *w,
			 const struct vprof_source *source, int n_threads, struct vprof_error *err)
{
	struct vprof_waits_options options = vprof_waits_defaults();
	int ret = source->trace->n_kernel ? vprof_waits_input_kernel(input, source->trace, 0, err) :
					    vprof_waits_input_timeline(input, source->timeline, err);

	if (!ret && source->trace->n_kernel && has_marks(source->timeline))
		ret = vprof_waits_input_annotate(input, source->trace, err);
	options.n_threads = n_threads;
	options.replay_segments = 0; /* what shortening waits would give is for the report on waits */
	ret = ret ? ret : vprof_waits_analyze(waits, &input->history, &options, err);
	return ret ? ret : vprof_waits_describe(w, waits, &options, err);
}

int vprof_knots_fill(struct vprof_results *r, struct vprof_source *source,
		     const struct vprof_interval_attributes *attributes, int n_threads, struct vprof_error *err)
{
	struct vprof_waits_results *w = vprof_waits_results_new();
	struct vprof_waits_input input = { 0 };
	struct vprof_waits waits = { 0 };
	struct vprof_knot_times times = { 0 };
	int ret = w ? VPROF_OK : vprof_error_no_memory(err), is_known = 0;

	/* A history that contradicts itself says nothing of knots; the rest of the analysis stands without them. */
	if (!ret) {
		ret = analyse_waits(&input, &waits, w, source, n_threads, err);
		is_known = !ret;
		ret = ret == VPROF_ERR_NOMEM ? ret : VPROF_OK;
	}
	if (is_known && w->n_groups && w->groups[0].verdict != VPROF_WAITS_ASIDE && source->chosen.n) {
		ret = vprof_source_connect(source, err);
		ret = ret ? ret : vprof_knot_times_fill(&times, w, &waits, source, input.is_kernel, n_threads);
		ret = ret ? ret : vprof_knot_shares_fill(w, &times, attributes, r, n_threads);
		ret = ret ? ret : take_over(r, w, &times, source->timeline);
		if (ret)
			vprof_error_set(err, ret, "not enough memory for the knots: record a shorter run");
	}
	vprof_knot_times_release(&times);
	vprof_waits_release(&waits);
	vprof_waits_input_release(&input);
	vprof_waits_results_free(w);
	return ret;
}
