/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/crosstalk_walk.h"

#include "analysis/timeline/edges/wake_class.h"

/* the request's own wait at hand: without a parent, or of another thread that works for the request */
struct waiting {
	const struct vprof_piece *piece;
	uint64_t number; /* of the wait, so that it counts once */
	uint32_t instance, block, party, name, site;
	uint64_t object;
	int has_object;
};

/* Is what ends a wait of this kind another thread, or did one end this wait? Such waits are in the tree. */
static int is_in_tree(const struct vprof_wait *wait)
{
	return vprof_wait_has_waker(wait->kind) || wait->waker != VPROF_NONE;
}

static void count(struct vprof_blame_walker *w, const struct waiting *x, uint32_t node)
{
	struct vprof_blame_node *n = &w->tree.nodes.v[node];

	n->n_waits += n->last != x->number;
	n->last = x->number;
}

/* The node for what a holder did during the wait; counts the ticks for the pair. VPROF_NONE without memory. */
static uint32_t holder_node(struct vprof_blame_walker *w, const struct waiting *x, uint32_t holder, uint64_t ticks)
{
	uint32_t node = vprof_blame_child(&w->tree, 0, VPROF_BLAME_WAITER, x->party), pair;
	struct vprof_blame_node *site;

	node = node == VPROF_NONE ? node : vprof_blame_child(&w->tree, node, VPROF_BLAME_HOLDER, holder);
	pair = node;
	node = node == VPROF_NONE ? node : vprof_blame_child(&w->tree, node, VPROF_BLAME_LOCK, x->name);
	node = node == VPROF_NONE ? node : vprof_blame_child(&w->tree, node, VPROF_BLAME_SITE, x->site);
	if (node == VPROF_NONE || vprof_blame_add_sum(&w->tree, pair, x->block, vprof_blame_ticks(w, ticks), 0))
		return VPROF_NONE;
	count(w, x, pair);
	count(w, x, node);
	site = &w->tree.nodes.v[node];
	if (x->has_object) {
		site->objects = site->objects && (site->objects > 1 || site->object != x->object) ? 2 : 1;
		site->object = x->object;
	}
	return node;
}

/* piece `i` of the interval's */
static int begin_wait(struct vprof_blame_walker *w, const struct vprof_piece *p, size_t i, struct waiting *x)
{
	const struct vprof_timeline *timeline = vprof_blame_timeline(w);
	const struct vprof_call *calls;
	size_t n;

	x->number = w->n_walked + i + 1;
	x->piece = p;
	x->name = x->site = VPROF_NONE;
	x->has_object = 0;
	if (p->kind == VPROF_PIECE_QUEUED)
		return VPROF_OK;
	x->name = w->of->canonical[timeline->threads[p->thread].waits.v[p->wait].name];
	x->object = timeline->threads[p->thread].waits.v[p->wait].object;
	x->has_object = vprof_wait_has_waker(timeline->threads[p->thread].waits.v[p->wait].kind);
	if (vprof_calls_open(w->calls, p->thread, &timeline->threads[p->thread].calls, p->from, &calls, &n))
		return VPROF_ERR_NOMEM;
	if (n)
		x->site = calls[0].code;
	return VPROF_OK;
}

/* The rest of a wait, of which no thread's work tells. When its waker is known, whoever held the object is, too: then
 * the rest is time after a release in which the one that was woken by it, this waiter or one before it, had not run
 * yet. */
static int add_rest(struct vprof_blame_walker *w, const struct waiting *x, uint64_t rest)
{
	const struct vprof_piece *p = x->piece;
	int is_released = p->kind == VPROF_PIECE_WAIT &&
			  vprof_blame_timeline(w)->threads[p->thread].waits.v[p->wait].waker != VPROF_NONE;
	uint32_t node = holder_node(w, x, is_released ? VPROF_HOLDER_RELEASED : VPROF_HOLDER_UNKNOWN, rest);

	if (node == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	return vprof_blame_spend(w, node, rest, 1);
}

/* A piece right beneath the wait: what a holder did, for whom it worked meanwhile. */
static int add_holder(struct vprof_blame_walker *w, const struct waiting *x, const struct vprof_piece *p, size_t i)
{
	for (uint64_t t = p->from, end; t < p->to; t = end) {
		uint32_t holder = vprof_holder_at(w->of->working, w->of->source, p->thread, t, x->instance, &end), node;

		/* the label changes in the thread's own code, hardly ever in a wait */
		end = end < p->to && p->kind == VPROF_PIECE_RUN ? end : p->to;
		node = holder_node(w, x, holder, end - t);
		if (node == VPROF_NONE ||
		    (p->kind == VPROF_PIECE_RUN ? vprof_blame_spend_run(w, p->thread, t, end, node) :
						  vprof_blame_spend_wait(w, p, node, &w->pieces.v[i].node)))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* A piece further beneath: what a holder waited for. */
static int add_deeper(struct vprof_blame_walker *w, const struct vprof_piece *p, size_t i)
{
	uint32_t base = w->pieces.v[p->parent].node;

	if (base == VPROF_NONE || p->from >= p->to)
		return VPROF_OK;
	if (vprof_blame_spend(w, base, p->to - p->from, -1))
		return VPROF_ERR_NOMEM;
	return p->kind == VPROF_PIECE_RUN ? vprof_blame_spend_run(w, p->thread, p->from, p->to, base) :
					    vprof_blame_spend_wait(w, p, base, &w->pieces.v[i].node);
}

static int is_wait(const struct vprof_blame_walker *w, const struct vprof_piece *p)
{
	return p->kind == VPROF_PIECE_QUEUED ||
	       (p->kind == VPROF_PIECE_WAIT &&
		is_in_tree(&vprof_blame_timeline(w)->threads[p->thread].waits.v[p->wait]));
}

/* Does another thread wait here that works for the very request? Then the request waits for that one's holder, and not
 * for itself: a server behind the first that waits for a lock. */
static int is_own_wait(const struct vprof_blame_walker *w, const struct waiting *x, const struct vprof_piece *p)
{
	uint64_t end;

	return is_wait(w, p) && vprof_holder_at(w->of->working, w->of->source, p->thread, p->from, x->instance, &end) ==
					VPROF_HOLDER_SELF;
}

/* Begins the wait that is piece i, and adds what nobody's work explains of it. */
static int add_own_wait(struct vprof_blame_walker *w, struct waiting *x, const struct vprof_piece *pieces, size_t i)
{
	uint64_t all = pieces[i].to - pieces[i].from;

	w->pieces.v[i].is_own_wait = 1;
	if (begin_wait(w, &pieces[i], i, x))
		return VPROF_ERR_NOMEM;
	return w->pieces.v[i].explained < all ? add_rest(w, x, all - w->pieces.v[i].explained) : VPROF_OK;
}

/* Pieces come after those that they explain, but not always right after them. */
static int add_piece(struct vprof_blame_walker *w, struct waiting *x, const struct vprof_piece *pieces, size_t i)
{
	const struct vprof_piece *p = &pieces[i], *of = p->parent == VPROF_NONE ? NULL : &pieces[p->parent];

	if (!of)
		return is_wait(w, p) ? add_own_wait(w, x, pieces, i) : VPROF_OK;
	if (!w->pieces.v[p->parent].is_own_wait)
		return add_deeper(w, p, i);
	if (is_own_wait(w, x, p))
		return add_own_wait(w, x, pieces, i);
	if (x->piece != of && begin_wait(w, of, p->parent, x))
		return VPROF_ERR_NOMEM;
	return add_holder(w, x, p, i);
}

int vprof_crosstalk_walk(struct vprof_blame_walker *w, const struct vprof_piece *pieces, size_t n, uint32_t instance,
			 uint32_t block)
{
	const struct vprof_source *source = &w->of->working->sources[w->of->source];
	struct waiting x = { .instance = instance, .block = block };
	int ret = VPROF_OK;

	w->pieces.n = 0;
	w->block = VPROF_NONE;
	if (VPROF_ROOM(&w->pieces, n + 1))
		return VPROF_ERR_NOMEM;
	x.party = vprof_party_of(w->of->working, &source->intervals->instances.v[instance]);
	for (size_t i = 0; i < n; i++) {
		w->pieces.v[i] = (struct vprof_piece_blame){ .node = VPROF_NONE };
		if (pieces[i].parent != VPROF_NONE)
			w->pieces.v[pieces[i].parent].explained += pieces[i].to - pieces[i].from;
	}
	for (size_t i = 0; i < n && !ret; i++)
		ret = add_piece(w, &x, pieces, i);
	w->n_walked += n;
	return ret;
}
