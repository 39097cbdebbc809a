/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/knot_locks.h"

#include <stdlib.h>
#include <string.h>

#define LOCKS_MAX 8
#define PART_MIN 0.001 /* of a knot's time: lighter ones are left out */

/* A wait of the interval's own thread; the call around it when that is the wait itself. */
static int is_own_wait(const struct vprof_results *r, uint32_t node)
{
	const struct vprof_node *n = &r->nodes[node];

	if (n->is_blame)
		return 0;
	return n->kind == VPROF_NODE_WAIT || n->kind == VPROF_NODE_QUEUED ||
	       (vprof_node_kind_is_code(n->kind) && *n->object);
}

static struct vprof_knot_lock lock_of(const struct vprof_results *r, uint32_t node)
{
	const struct vprof_node *n = &r->nodes[node], *above = &r->nodes[n->parent], *site = n;
	struct vprof_knot_lock lock = {
		.name = n->display, .function = "", .file = "", .object = n->object, .awaited = ""
	};

	if (n->kind == VPROF_NODE_WAIT && above->kind == VPROF_NODE_SITE && !strcmp(above->name, n->name)) {
		site = above;
		above = &r->nodes[above->parent];
	}
	while (above != r->nodes && !vprof_node_kind_is_code(above->kind))
		above = &r->nodes[above->parent];
	if (above != r->nodes)
		lock.function = above->display;
	if (site->kind == VPROF_NODE_SITE) {
		lock.file = site->file;
		lock.line = site->line;
	}
	return lock;
}

/* What of the node's mean passes through knot k. */
static double through(const struct vprof_results *r, const struct vprof_knot_wait_index *waits, uint32_t node, size_t k)
{
	struct vprof_knot_wait_sums sums = vprof_knot_waits_of_node(waits, &r->nodes[node]);

	return sums.ticks > 0 ? r->nodes[node].mean_ns * sums.through_ticks[k] / sums.ticks : 0;
}

static int by_part(const void *a, const void *b)
{
	const struct vprof_knot_lock *x = a, *y = b;
	int order = (x->part < y->part) - (x->part > y->part);

	order = order ? order : strcmp(x->file, y->file);
	order = order ? order : (x->line > y->line) - (x->line < y->line);
	order = order ? order : strcmp(x->function, y->function);
	return order ? order : strcmp(x->name, y->name);
}

static int is_same(const struct vprof_knot_lock *a, const struct vprof_knot_lock *b)
{
	return a->line == b->line && !strcmp(a->file, b->file) && !strcmp(a->function, b->function) &&
	       !strcmp(a->name, b->name);
}

int vprof_knot_locks_fill(struct vprof_results *r, const struct vprof_knot_wait_index *waits)
{
	for (size_t k = 0; k < r->n_knots; k++) {
		struct vprof_knot_lock *locks = calloc(r->n_nodes + 1, sizeof *locks);
		double sum = 0;
		size_t n = 0;

		if (!locks)
			return VPROF_ERR_NOMEM;
		r->knots[k].locks = locks;
		for (uint32_t i = 1; i < r->n_nodes; i++) {
			double passed = is_own_wait(r, i) ? through(r, waits, i, k) : 0;
			struct vprof_knot_lock lock;
			size_t at = 0;

			if (passed <= 0)
				continue;
			lock = lock_of(r, i);
			while (at < n && !is_same(&locks[at], &lock))
				at++;
			if (at == n)
				locks[n++] = lock;
			else if (strcmp(locks[at].object, lock.object))
				locks[at].object = VPROF_OBJECT_SEVERAL;
			locks[at].part += passed;
			sum += passed;
		}
		for (size_t i = 0; i < n; i++)
			locks[i].part /= sum;
		qsort(locks, n, sizeof *locks, by_part);
		while (n && (n > LOCKS_MAX || locks[n - 1].part < PART_MIN))
			n--;
		r->knots[k].n_locks = n;
	}
	return VPROF_OK;
}
