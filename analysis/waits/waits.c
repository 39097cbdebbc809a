/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps in their order. */
#include "analysis/waits/waits.h"

#include "analysis/waits/alike.h"
#include "analysis/waits/foreign.h"
#include "analysis/waits/history/short_lived.h"

struct vprof_waits_options vprof_waits_defaults(void)
{
	return (struct vprof_waits_options){
		.short_lived_share = 0.1,
		.min_overlap = 0.8,
		.knots = { .threshold = 0.2, .background_cpus = 0.99 },
		.replay_segments = 2000000,
	};
}

void vprof_waits_tell(const struct vprof_waits_options *o, const char *step)
{
	if (o->progress)
		o->progress(o->progress_arg, step, -1);
}

int vprof_waits_analyze(struct vprof_waits *out, struct vprof_waits_history *h, const struct vprof_waits_options *o,
			struct vprof_error *err)
{
	uint32_t *representative = NULL;
	unsigned char *is_kept = NULL;
	int ret;

	memset(out, 0, sizeof *out);
	out->history = h;
	vprof_waits_tell(o, "checks");
	ret = vprof_waits_history_check(h, err);
	vprof_waits_tell(o, "short-lived threads");
	if (!ret && o->short_lived_share > 0)
		ret = vprof_waits_merge_short_lived(h, o->short_lived_share, err);
	vprof_waits_tell(o, "weights");
	if (!ret)
		ret = vprof_waits_cascade(&out->reasons, h, o->n_threads, err);
	vprof_waits_tell(o, "graph");
	if (!ret) {
		is_kept = malloc(h->entities.n + 1);
		ret = is_kept ? vprof_waits_keep_relevant(is_kept, h, &out->reasons) : VPROF_ERR_NOMEM;
		if (ret)
			vprof_error_no_memory(err);
	}
	if (!ret && o->min_overlap <= 1) {
		representative = malloc((h->entities.n + 1) * sizeof *representative);
		ret = representative ?
			      vprof_waits_find_alike(representative, h, &out->reasons, is_kept, o->min_overlap) :
			      VPROF_ERR_NOMEM;
		if (ret)
			vprof_error_no_memory(err);
	}
	if (!ret)
		ret = vprof_waits_graph_build(&out->graph, h, &out->reasons, representative, is_kept, err);
	vprof_waits_tell(o, "knots");
	if (!ret)
		ret = vprof_waits_knots_find(&out->knots, &out->graph, &o->knots, err);
	vprof_waits_tell(o, "replays");
	if (!ret && o->replay_segments)
		ret = vprof_waits_estimate(&out->estimates, h, &out->reasons, &out->graph, &out->knots,
					   o->replay_segments, o->n_threads, err);
	free(representative);
	free(is_kept);
	return ret;
}

void vprof_waits_release(struct vprof_waits *w)
{
	vprof_waits_reasons_release(&w->reasons);
	vprof_waits_graph_release(&w->graph);
	vprof_waits_knots_release(&w->knots);
	VPROF_ARRAY_RELEASE(&w->estimates.v);
}
