/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums are of whole ticks: they do not depend on who adds them. */
#include "analysis/join/tier_work.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/paths/critical_path.h"
#include "analysis/timeline/calls.h"
#include "common/parallel.h"
#include "common/search.h"

#define BATCH 256
#define CALLS_BYTES ((size_t)16 << 20)

struct walker {
	struct vprof_path *path;
	struct vprof_calls *calls;
	VPROF_ARRAY(uint64_t) explained; /* of each piece: ticks of those beneath */
	vprof_tier_parts parts;
	uint64_t *own, *ends; /* [n_tiers] ticks of the interval at hand; intervals that end in each tier */
};

struct filling {
	struct vprof_tier_work *out;
	const struct vprof_source *source;
	const uint32_t *tier_of;
	struct walker *walkers;
};

static int is_before(const struct vprof_tier_part *p, uint32_t code, int is_blame, uint32_t tier)
{
	if (p->code != code)
		return p->code < code;
	return p->is_blame != is_blame ? p->is_blame < is_blame : p->tier < tier;
}

static int add_part(vprof_tier_parts *parts, uint32_t code, int is_blame, uint32_t tier, uint64_t ticks)
{
	const struct vprof_tier_part *v = parts->v;
	size_t at = VPROF_BISECT(parts->n, i, is_before(&v[i], code, is_blame, tier));
	struct vprof_tier_part *slot;

	if (at >= parts->n || v[at].code != code || v[at].is_blame != is_blame || v[at].tier != tier) {
		if (!VPROF_PUSH(parts))
			return VPROF_ERR_NOMEM;
		slot = &parts->v[at];
		memmove(slot + 1, slot, (parts->n - 1 - at) * sizeof *slot);
		*slot = (struct vprof_tier_part){ .code = code, .tier = tier, .is_blame = is_blame };
	}
	parts->v[at].ticks += ticks;
	return VPROF_OK;
}

/* The measured calls of the piece's thread meanwhile, each with what lies within it. */
static int add_calls(struct filling *f, struct walker *w, const struct vprof_piece *p)
{
	const struct vprof_thread_timeline *thr = &f->source->timeline->threads[p->thread];
	struct vprof_stretch s;
	int more, ret = VPROF_OK;

	vprof_stretch_begin(&s, w->calls, p->thread, &thr->calls, p->from, p->to);
	while (!ret && (more = vprof_stretch_next(&s)) != 0) {
		if (more < 0)
			return more;
		for (size_t i = s.n_kept; i < s.n && !ret; i++)
			ret = add_part(&w->parts, s.v[i].code, p->parent != VPROF_NONE, f->tier_of[p->thread],
				       s.v[i].high - s.v[i].low);
	}
	return ret;
}

static int add_interval(struct filling *f, struct walker *w, size_t interval)
{
	size_t n_tiers = f->out->n_tiers, n, last = 0;
	const struct vprof_piece *pieces;
	int ret = vprof_path_walk(w->path, f->source->chosen.v[interval], &pieces, &n);

	w->explained.n = 0;
	if (ret || VPROF_ROOM(&w->explained, n + 1))
		return ret ? ret : VPROF_ERR_NOMEM;
	memset(w->explained.v, 0, n * sizeof *w->explained.v);
	memset(w->own, 0, n_tiers * sizeof *w->own);
	for (size_t i = 0; i < n; i++)
		if (pieces[i].parent != VPROF_NONE)
			w->explained.v[pieces[i].parent] += pieces[i].to - pieces[i].from;
	for (size_t i = 0; i < n && !ret; i++) {
		uint64_t all = pieces[i].to - pieces[i].from, below = w->explained.v[i];

		w->own[f->tier_of[pieces[i].thread]] += all > below ? all - below : 0;
		if (pieces[i].parent == VPROF_NONE && pieces[i].to >= pieces[last].to)
			last = i;
		ret = add_calls(f, w, &pieces[i]);
	}
	if (n)
		w->ends[f->tier_of[pieces[last].thread]]++;
	for (size_t k = 0; k < n_tiers; k++)
		f->out->own_ns[interval * n_tiers + k] = (double)w->own[k] * f->source->timeline->ns_per_tick;
	return ret;
}

static int begin_walker(struct filling *f, struct walker *w)
{
	w->calls = vprof_calls_new(f->source->timeline->n_threads, CALLS_BYTES);
	w->own = calloc(f->out->n_tiers + 1, sizeof *w->own);
	w->ends = calloc(f->out->n_tiers + 1, sizeof *w->ends);
	return w->calls && w->own && w->ends ? vprof_path_new(&w->path, f->source->edges, NULL) : VPROF_ERR_NOMEM;
}

static int add_batch(void *arg, int worker, size_t batch)
{
	struct filling *f = arg;
	struct walker *w = &f->walkers[worker];
	size_t end = (batch + 1) * BATCH < f->out->n_intervals ? (batch + 1) * BATCH : f->out->n_intervals;
	int ret = w->path ? VPROF_OK : begin_walker(f, w);

	for (size_t i = batch * BATCH; i < end && !ret; i++)
		ret = add_interval(f, w, i);
	return ret;
}

static int join_walkers(struct filling *f, int n_workers)
{
	uint64_t most = 0;

	for (int i = 0; i < n_workers; i++)
		for (size_t k = 0; k < f->walkers[i].parts.n; k++) {
			const struct vprof_tier_part *p = &f->walkers[i].parts.v[k];

			if (add_part(&f->out->parts, p->code, p->is_blame, p->tier, p->ticks))
				return VPROF_ERR_NOMEM;
		}
	for (uint32_t k = 0; k < f->out->n_tiers; k++) {
		uint64_t n = 0;

		for (int i = 0; i < n_workers; i++)
			n += f->walkers[i].ends ? f->walkers[i].ends[k] : 0;
		if (n > most)
			f->out->own = k;
		most = n > most ? n : most;
	}
	return VPROF_OK;
}

int vprof_tier_work_fill(struct vprof_tier_work *out, const struct vprof_source *source, const uint32_t *tier_of,
			 size_t n_tiers, int n_threads)
{
	struct filling f = { .out = out, .source = source, .tier_of = tier_of };
	size_t n = source->chosen.n;
	int n_workers = vprof_parallel_count(n_threads), ret = VPROF_ERR_NOMEM;

	*out = (struct vprof_tier_work){ .n_intervals = n, .n_tiers = n_tiers, .own = VPROF_NONE };
	out->own_ns = calloc(n * n_tiers + 1, sizeof *out->own_ns);
	f.walkers = calloc((size_t)n_workers, sizeof *f.walkers);
	if (out->own_ns && f.walkers) {
		ret = vprof_parallel_run(n_workers, (n + BATCH - 1) / BATCH, add_batch, &f);
		ret = ret ? ret : join_walkers(&f, n_workers);
	}
	for (int i = 0; i < n_workers && f.walkers; i++) {
		vprof_path_free(f.walkers[i].path);
		vprof_calls_free(f.walkers[i].calls);
		VPROF_ARRAY_RELEASE(&f.walkers[i].explained);
		VPROF_ARRAY_RELEASE(&f.walkers[i].parts);
		free(f.walkers[i].own);
		free(f.walkers[i].ends);
	}
	free(f.walkers);
	return ret;
}

void vprof_tier_work_release(struct vprof_tier_work *work)
{
	free(work->own_ns);
	VPROF_ARRAY_RELEASE(&work->parts);
	*work = (struct vprof_tier_work){ 0 };
}
