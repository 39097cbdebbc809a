/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/offsets.h"

#include <inttypes.h>

#include "analysis/timeline/edges/wakes.h"

struct pair {
	struct world *w;
	const struct vprof_timeline *a, *b; /* without and with offsets */
	figures_say *say;
	void *arg;
};

static bool same_tick(uint64_t t, uint64_t parts)
{
	return parts / SIM_TICK_PARTS == t;
}

static bool same_wait(const struct vprof_wait *a, const struct vprof_wait *b)
{
	if (a->waker != b->waker || a->kind != b->kind || !same_tick(a->t0, b->t0) || !same_tick(a->t1, b->t1))
		return false;
	return a->waker == VPROF_NONE || same_tick(a->wake_t, b->wake_t);
}

static void compare_waits(const struct pair *p)
{
	for (size_t i = 0; i < p->a->n_threads; i++) {
		const struct vprof_thread_timeline *a = &p->a->threads[i], *b = &p->b->threads[i];

		if (a->waits.n != b->waits.n) {
			p->say(p->arg, "with clock offsets thread %u waits %zu times instead of %zu", a->thread_seq,
			       b->waits.n, a->waits.n);
			continue;
		}
		for (size_t k = 0; k < a->waits.n; k++) {
			const struct vprof_wait *x = &a->waits.v[k], *y = &b->waits.v[k];

			COVER(p->w, OFFSET_WAITS);
			if (!same_wait(x, y))
				p->say(p->arg,
				       "with clock offsets thread %u's wait %" PRIu64 "..%" PRIu64
				       " has the waker %u at %" PRIu64 " instead of %u at %" PRIu64,
				       a->thread_seq, x->t0, x->t1, y->waker + 1, y->wake_t / SIM_TICK_PARTS,
				       x->waker + 1, x->wake_t);
		}
	}
}

static bool same_piece(const struct vprof_piece *a, const struct vprof_piece *b)
{
	return a->kind == b->kind && a->thread == b->thread && a->wait == b->wait && a->parent == b->parent &&
	       same_tick(a->from, b->from) && same_tick(a->to, b->to);
}

static int compare_paths(const struct pair *p, const struct vprof_intervals *a, const struct vprof_intervals *b,
			 struct vprof_path *path_a, struct vprof_path *path_b)
{
	if (a->instances.n != b->instances.n) {
		p->say(p->arg, "with clock offsets there are %zu intervals instead of %zu", b->instances.n,
		       a->instances.n);
		return 0;
	}
	for (uint32_t i = 0; i < a->instances.n; i++) {
		const struct vprof_piece *x, *y;
		size_t n_x, n_y, k = 0;

		if (a->instances.v[i].state != b->instances.v[i].state)
			p->say(p->arg, "with clock offsets interval %" PRIu64 " has the state %u instead of %u",
			       a->instances.v[i].id, b->instances.v[i].state, a->instances.v[i].state);
		if (a->instances.v[i].state != VPROF_INSTANCE_COMPLETE ||
		    b->instances.v[i].state != VPROF_INSTANCE_COMPLETE)
			continue;
		if (vprof_path_walk(path_a, i, &x, &n_x) || vprof_path_walk(path_b, i, &y, &n_y))
			return VPROF_ERR_NOMEM;
		COVER(p->w, OFFSET_PATHS);
		while (k < n_x && k < n_y && same_piece(&x[k], &y[k]))
			k++;
		if (k < n_x || k < n_y)
			p->say(p->arg,
			       "with clock offsets the path of interval %" PRIu64 " differs at piece %zu of %zu",
			       a->instances.v[i].id, k, n_x);
	}
	return 0;
}

int offsets_compare(struct world *w, const char *dir, const struct vprof_timeline *timeline,
		    const struct vprof_intervals *intervals, struct vprof_path *path, figures_say *say, void *arg,
		    struct vprof_error *err)
{
	struct pair p = { .w = w, .a = timeline, .say = say, .arg = arg };
	struct vprof_timeline *other = NULL;
	struct vprof_intervals *other_intervals = NULL;
	struct vprof_trace *trace = NULL;
	struct vprof_edges *edges = NULL;
	struct vprof_path *other_path = NULL;
	struct vprof_wake_counts counts;
	int ret = vprof_trace_open(&trace, dir, err);

	ret = ret ? ret : vprof_timeline_build(&other, trace, 1, NULL, NULL, err);
	ret = ret ? ret : vprof_wakes_match(other, &counts, err);
	ret = ret ? ret : vprof_intervals_build(&other_intervals, other, err);
	ret = ret ? ret : vprof_edges_new(&edges, other, other_intervals, err);
	ret = ret ? ret : vprof_path_new(&other_path, edges, err);
	if (!ret) {
		p.b = other;
		compare_waits(&p);
		ret = compare_paths(&p, intervals, other_intervals, path, other_path);
	}
	vprof_path_free(other_path);
	vprof_edges_free(edges);
	vprof_intervals_free(other_intervals);
	vprof_timeline_free(other);
	vprof_trace_free(trace);
	return ret;
}
