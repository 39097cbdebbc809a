/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of run pieces, spent on the calls that were open.
 *
 * Where no call was sampled and the thread had a CPU, each call that overlaps the piece gains its time there and
 * the one around it loses it: one step for each call, in any order in which callers come first. Elsewhere time is
 * followed forward through a stack of frames. tests/simulate holds both against the truth.
 */
#include "analysis/variance/tree_part.h"

#include "analysis/timeline/timeline_samples.h"
#include "analysis/timeline/calls.h"

#define WINDOW_BLOCKS 8 /* of calls that are held at once where time is followed */

static int spend(struct vprof_tree_part *p, uint32_t node, int64_t ticks)
{
	return vprof_tree_part_spend(p, node, ticks);
}

/* How long a chosen call stands for others: up to its first wait, since from there on those that were not chosen are
 * recorded too, and no longer than its function's calls usually last. */
static uint64_t stands_until(const struct vprof_thread_timeline *thr, const struct vprof_call *call,
			     const struct vprof_sampled *sampled)
{
	uint64_t until = call->t0 + sampled->limit;
	size_t i;

	if (!thr->waits.n)
		return until;
	i = VPROF_TIME_SEARCH(&thr->waits, call->t0 - 1, 0);
	return i < thr->waits.n && thr->waits.v[i].t0 < until ? thr->waits.v[i].t0 : until;
}

/* What the frame's call stands for at t, outer being what the one around it stands for. */
static void weigh(const struct vprof_tree_part *p, struct vprof_tree_frame *f, const struct vprof_thread_timeline *thr,
		  uint32_t outer, uint64_t t)
{
	const struct vprof_call *call = &p->window[f->call];

	f->weight = outer;
	f->until = UINT64_MAX;
	f->sampled = call->is_sampled && outer == 1 ? vprof_thread_timeline_sampled(thr, call) : NULL;
	if (f->sampled && f->sampled->weight >= 2)
		f->until = stands_until(thr, call, f->sampled);
	if (f->until == UINT64_MAX || t >= f->until)
		f->sampled = NULL;
	else
		f->weight = f->sampled->weight;
}

/* What recording costs within a chosen call is part of the difference between two of a block. */
static int add_cost_noise(struct vprof_tree_part *p, uint32_t thread, size_t chosen, size_t at)
{
	const struct vprof_call_cost *cost = &p->source->cost;

	for (size_t k = chosen; k <= at; k++) {
		int64_t parts = cost->inside + (k < at ? cost->outside : 0);

		if ((k == chosen || p->stack.v[k].node != p->stack.v[k - 1].node) &&
		    vprof_noise_spend(p->noise, p->stack.v[chosen].sampled, thread, p->stack.v[k].node, 0,
				      (double)parts / VPROF_COST_PARTS / p->source->ratio))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

/* Of the stack's frame `at`, called from node `above`, outer being what the frame around stands for. What a recorded
 * call costs within a chosen one is multiplied with all its time. The calls that it stands for were not slowed so: the
 * frame around the chosen call, which its weighted time is taken from, gets the difference back. */
static int add_cost(struct vprof_tree_part *p, uint32_t thread, size_t at, uint32_t base, uint32_t outer,
		    uint32_t n_counted)
{
	const struct vprof_call_cost *cost = &p->source->cost;
	const struct vprof_tree_frame *f = &p->stack.v[at];
	uint32_t above = at ? p->stack.v[at - 1].node : base;
	int64_t weight = f->weight, taken = (weight - 1) * cost->inside;
	size_t chosen = at;

	if (spend(p, f->node, 0))
		return VPROF_ERR_NOMEM;
	p->hot.v[f->node].cost += weight * cost->inside;
	p->hot.v[above].cost += outer * cost->outside + n_counted * cost->counted;
	while (chosen && !p->stack.v[chosen].sampled)
		chosen--;
	if (weight < 2 || !p->stack.v[chosen].sampled)
		return 0;
	taken += (outer - 1) * cost->outside;
	p->hot.v[chosen ? p->stack.v[chosen - 1].node : base].cost -= taken;
	return add_cost_noise(p, thread, chosen, at);
}

static int count_call(struct vprof_tree_part *p, uint32_t thread, size_t at, uint32_t base, uint32_t outer)
{
	const struct vprof_thread_timeline *thr = &p->source->timeline->threads[thread];
	const struct vprof_tree_frame *f = &p->stack.v[at];
	const struct vprof_call *call = &p->window[f->call];
	const struct vprof_sampled *s = call->is_sampled ? vprof_thread_timeline_sampled(thr, call) : NULL;
	struct vprof_tree_node *n = &p->nodes.v[f->node];

	if (!f->host) {
		n->n_calls += (s ? s->represented : 1u) * (uint64_t)outer;
		n->n_timed += !s || s->weight;
	}
	if (!vprof_tree_cost_is_known(p->source))
		return 0;
	return add_cost(p, thread, at, base, outer, s && s->represented ? s->represented - 1 : 0);
}

/* The innermost call of the window that is open at t, or VPROF_NONE; *next: the first one that begins after t. */
static uint32_t call_at(const struct vprof_tree_part *p, uint64_t t, size_t *next)
{
	size_t n = vprof_time_search(p->window, sizeof *p->window, p->n_window, t, 0);
	uint32_t i;

	*next = n;
	if (!n)
		return VPROF_NONE;
	for (i = (uint32_t)n - 1; i != VPROF_NONE && p->window[i].t1 <= t; i = p->window[i].parent)
		;
	return i;
}

/* Fills the stack with the window's frames open at t, outermost first. Returns the innermost one's node (base when
 * there is none), VPROF_NONE without memory. */
static uint32_t open_frames(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base, size_t *next)
{
	const struct vprof_thread_timeline *thr = &p->source->timeline->threads[piece->thread];
	uint32_t call = call_at(p, piece->from, next), outer = 1, node = base;

	p->stack.n = 0;
	for (; call != VPROF_NONE; call = p->window[call].parent) {
		struct vprof_tree_frame *f = VPROF_PUSH(&p->stack);

		if (!f)
			return VPROF_NONE;
		f->call = call;
	}
	for (size_t i = 0; i < p->stack.n / 2; i++) {
		struct vprof_tree_frame f = p->stack.v[i];

		p->stack.v[i] = p->stack.v[p->stack.n - 1 - i];
		p->stack.v[p->stack.n - 1 - i] = f;
	}
	for (size_t i = 0; i < p->stack.n; i++) {
		struct vprof_tree_frame *f = &p->stack.v[i];
		const struct vprof_call *c = &p->window[f->call];

		f->host = vprof_tree_part_host(p, c->code, c->t0, c->t1, i ? p->stack.v[i - 1].host : 0);
		if (!f->host)
			node = vprof_tree_part_child(p, node, VPROF_CLASS_FRAME, c->code, piece->depth);
		f->node = node;
		if (node == VPROF_NONE)
			return VPROF_NONE;
		weigh(p, f, thr, outer, piece->from);
		if (p->window[f->call].t0 == piece->from && count_call(p, piece->thread, i, base, outer))
			return VPROF_NONE;
		outer = f->weight;
	}
	return node;
}

static int push_frame(struct vprof_tree_part *p, const struct vprof_piece *piece, const struct vprof_tree_frame *top,
		      uint32_t base, size_t call)
{
	uint32_t parent = top ? top->node : base;
	const struct vprof_thread_timeline *thr = &p->source->timeline->threads[piece->thread];
	const struct vprof_call *c = &p->window[call];
	uint32_t outer = top ? top->weight : 1, host = top ? top->host : 0;
	struct vprof_tree_frame *f = VPROF_PUSH(&p->stack);

	if (!f)
		return VPROF_ERR_NOMEM;
	f->call = (uint32_t)call;
	f->host = vprof_tree_part_host(p, c->code, c->t0, c->t1, host);
	f->node = f->host ? parent : vprof_tree_part_child(p, parent, VPROF_CLASS_FRAME, c->code, piece->depth);
	if (f->node == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	weigh(p, f, thr, outer, c->t0);
	return count_call(p, piece->thread, p->stack.n - 1, base, outer);
}

/* Place in the stack of the frame that stands for others; one does. */
static size_t chosen_frame(const struct vprof_tree_part *p)
{
	size_t at = p->stack.n - 1;

	while (!p->stack.v[at].sampled)
		at--;
	return at;
}

/* Preempted between t and until; those before `off_cpu` ended earlier. */
static uint64_t preempted_ticks(const struct vprof_thread_timeline *thr, size_t off_cpu, uint64_t t, uint64_t until)
{
	uint64_t sum = 0;

	for (; off_cpu < thr->off_cpu.n && thr->off_cpu.v[off_cpu].t0 < until; off_cpu++) {
		const struct vprof_off_cpu *o = &thr->off_cpu.v[off_cpu];
		uint64_t from = o->t0 > t ? o->t0 : t, to = o->t1 < until ? o->t1 : until;

		if (o->is_preempted && from < to)
			sum += to - from;
	}
	return sum;
}

/* From here on it stands for itself alone. What of its time does not count for others is remembered. */
static void stand_alone(struct vprof_tree_part *p, const struct vprof_thread_timeline *thr, size_t off_cpu, uint64_t t)
{
	size_t at = chosen_frame(p);
	const struct vprof_tree_frame *f = &p->stack.v[at];
	const struct vprof_call *call = &p->window[f->call];

	if (t >= call->t0 + f->sampled->limit && t < call->t1)
		p->nodes.v[f->node].rare_ticks +=
			(f->sampled->weight - 1u) *
			vprof_tree_ticks(p->source, call->t1 - t - preempted_ticks(thr, off_cpu, t, call->t1));
	p->stack.v[at].sampled = NULL;
	for (size_t k = at; k < p->stack.n; k++)
		p->stack.v[k].weight = 1;
}

/* A chosen call's time stands for that of others: what it gains beyond the time that passed, the frame around it
 * loses. */
static int spend_weighted(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base, uint64_t ticks)
{
	const struct vprof_tree_frame *top = &p->stack.v[p->stack.n - 1];
	size_t at = chosen_frame(p);

	for (size_t k = at; k < p->stack.n; k++)
		if ((k == at || p->stack.v[k].node != p->stack.v[k - 1].node) &&
		    vprof_noise_spend(p->noise, p->stack.v[at].sampled, piece->thread, p->stack.v[k].node, ticks, 0))
			return VPROF_ERR_NOMEM;
	if (spend(p, top->node, (int64_t)(top->weight * ticks)))
		return VPROF_ERR_NOMEM;
	return spend(p, at ? p->stack.v[at - 1].node : base, -(int64_t)((top->weight - 1) * ticks));
}

/* All of it is known, so it counts once also within a call that stands for others. */
int vprof_tree_part_preempted(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t node,
			      const struct vprof_off_cpu *off_cpu, uint64_t t, uint64_t until)
{
	uint32_t child;

	if (until == t)
		return 0;
	child = vprof_tree_part_child(p, node, VPROF_CLASS_PREEMPTED, 0, piece->depth);
	if (child == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (p->nodes.v[child].kind == VPROF_NODE_PREEMPTED && t == off_cpu->t0) {
		p->nodes.v[child].n_calls++;
		p->nodes.v[child].n_timed++;
	}
	if (!piece->depth) {
		p->preempted_ticks += vprof_tree_ticks(p->source, until - t);
		p->by_own_ticks += off_cpu->by != VPROF_NONE ? vprof_tree_ticks(p->source, until - t) : 0;
	}
	return spend(p, child, (int64_t)(until - t));
}

/* The first off-CPU time that ends after t; off_cpu.n when there is none. */
static size_t first_off_cpu(const struct vprof_thread_timeline *thr, uint64_t t, size_t *hint)
{
	size_t i = VPROF_TIME_SEARCH(&thr->off_cpu, t, *hint);

	*hint = i;
	return i && thr->off_cpu.v[i - 1].t1 > t ? i - 1 : i;
}

/* Which probes are open in the node's own code. */
static uint64_t context_of(const struct vprof_tree_node *n)
{
	if (n->probe)
		return UINT64_C(1) << n->probe->context;
	return vprof_tree_class(n) == VPROF_CLASS_FRAME && n->kind != VPROF_NODE_INTERVAL ?
		       0 :
		       UINT64_C(1) << VPROF_CONTEXT_TOP;
}

static int move_undivided(void *part, uint32_t node, int64_t ticks)
{
	struct vprof_tree_part *p = part;
	uint32_t child = vprof_tree_part_child(p, node, VPROF_CLASS_UNDIVIDED, 0, p->nodes.v[node].level);

	if (child == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	if (p->nodes.v[child].kind == VPROF_NODE_UNDIVIDED) {
		p->nodes.v[child].n_calls++;
		p->nodes.v[child].n_timed++;
	}
	return spend(p, child, ticks) || spend(p, node, -ticks) ? VPROF_ERR_NOMEM : 0;
}

int vprof_tree_part_divide(struct vprof_tree_part *p)
{
	return vprof_undivided_settle(p->undivided, move_undivided, p);
}

/* Time from t to until, in which nothing changes, on top of the stack. off_cpu: the thread is off-CPU, NULL: it runs.
 */
static int spend_stretch(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base,
			 const struct vprof_off_cpu *off_cpu, uint64_t t, uint64_t until)
{
	const struct vprof_tree_frame *top = p->stack.n ? &p->stack.v[p->stack.n - 1] : NULL;
	uint32_t node = top ? top->node : base, weight = top ? top->weight : 1;

	if (off_cpu && off_cpu->is_preempted)
		return vprof_tree_part_preempted(p, piece, node, off_cpu, t, until);
	if (off_cpu) /* blocked, but in no wait that was recorded: a page on its way from disk */
		p->nodes.v[node].blocked_ticks += weight * vprof_tree_ticks(p->source, until - t);
	if (weight > 1)
		return spend_weighted(p, piece, base, until - t);
	return spend(p, node, (int64_t)(until - t)) ||
			       vprof_undivided_spend(p->undivided, node, context_of(&p->nodes.v[node]), t, until) ?
		       VPROF_ERR_NOMEM :
		       0;
}

/* Follows time through a window of calls. */
static int follow(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base)
{
	const struct vprof_thread_timeline *thr = &p->source->timeline->threads[piece->thread];
	size_t next, i = first_off_cpu(thr, piece->from, &p->off_cpu_hint[piece->thread]);
	uint64_t t = piece->from;

	if (vprof_calls_window(p->calls, piece->thread, &thr->calls, piece->from, piece->to, &p->window,
			       &p->n_window) ||
	    (vprof_undivided_is_full(p->undivided) && vprof_tree_part_divide(p)) ||
	    vprof_undivided_begin(p->undivided, piece->thread, piece->from) ||
	    open_frames(p, piece, base, &next) == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	while (t < piece->to) {
		const struct vprof_tree_frame *top = p->stack.n ? &p->stack.v[p->stack.n - 1] : NULL;
		uint64_t stands = top && top->weight > 1 ? p->stack.v[chosen_frame(p)].until : UINT64_MAX;
		uint64_t leave = top ? p->window[top->call].t1 : UINT64_MAX;
		uint64_t enter = next < p->n_window ? p->window[next].t0 : UINT64_MAX;
		uint64_t until = leave <= enter ? leave : enter, edge = UINT64_MAX;
		struct vprof_tree_frame above = top ? *top : (struct vprof_tree_frame){ .weight = 1 };
		const struct vprof_off_cpu *off_cpu = NULL;

		while (i < thr->off_cpu.n && thr->off_cpu.v[i].t1 <= t)
			i++;
		if (t >= stands) {
			stand_alone(p, thr, i, t);
			continue;
		}
		if (i < thr->off_cpu.n) {
			off_cpu = thr->off_cpu.v[i].t0 <= t ? &thr->off_cpu.v[i] : NULL;
			edge = off_cpu ? off_cpu->t1 : thr->off_cpu.v[i].t0;
		}
		if (until > piece->to)
			until = piece->to;
		if (until > edge)
			until = edge;
		if (until > stands)
			until = stands;
		if (spend_stretch(p, piece, base, off_cpu, t, until))
			return VPROF_ERR_NOMEM;
		t = until;
		if (t >= piece->to)
			break;
		if (t < leave && t < enter)
			continue;
		if (leave <= enter) {
			p->stack.n--;
			if (!p->window[above.call].is_sampled)
				vprof_undivided_ended(p->undivided, p->window[above.call].code);
		} else if (push_frame(p, piece, top ? &above : NULL, base, next++)) {
			return VPROF_ERR_NOMEM;
		}
	}
	return 0;
}

static int follow_in_windows(struct vprof_tree_part *p, struct vprof_piece piece, uint32_t base)
{
	const struct vprof_call_index *index = &p->source->timeline->threads[piece.thread].calls;
	uint64_t to = piece.to;

	for (; piece.from < to; piece.from = piece.to) {
		piece.to = vprof_call_index_cut(index, piece.from, to, WINDOW_BLOCKS);
		if (follow(p, &piece, base))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

/* New calls of a stretch: each gains its time, the one around it loses it. */
static int spend_calls(struct vprof_tree_part *p, const struct vprof_stretch *s, const struct vprof_piece *piece,
		       uint32_t base)
{
	const struct vprof_call_cost cost = p->source->cost;
	const int has_hosts = p->source->timeline->outlasting.n > 0;
	uint32_t *node = p->call_node.v, *host = p->call_host.v;

	for (size_t i = s->n_kept; i < s->n; i++) {
		const struct vprof_stretch_call *c = &s->v[i];
		uint32_t above = c->parent == VPROF_NONE ? base : node[c->parent],
			 key = c->code | (uint32_t)piece->depth << VP_CODE_BITS, n;
		struct vprof_tree_hot *hot = p->hot.v;
		int64_t ticks = (int64_t)(c->high - c->low);

		if (has_hosts) {
			host[i] = vprof_tree_part_host(p, c->code, c->t0, c->t1,
						       c->parent == VPROF_NONE ? 0 : host[c->parent]);
			if (host[i]) {
				node[i] = above;
				hot[above].cost += c->t0 >= s->from ? cost.inside + cost.outside : 0;
				continue;
			}
		}
		n = hot[above].memo_child;
		if (hot[above].memo_key != key) {
			n = vprof_tree_part_child(p, above, VPROF_CLASS_FRAME, c->code, piece->depth);
			if (n == VPROF_NONE)
				return VPROF_ERR_NOMEM;
			hot = p->hot.v;
			hot[above].memo_key = key;
			hot[above].memo_child = n;
		}
		node[i] = n;
		hot[above].ticks -= ticks;
		hot[n].ticks += ticks;
		hot[n].n_begun += c->t0 >= s->from;
		hot[n].cost += c->t0 >= s->from ? cost.inside : 0;
		hot[above].cost += c->t0 >= s->from ? cost.outside : 0;
		if (!hot[n].is_touched && spend(p, n, 0))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int spend_between(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base, uint64_t from,
			 uint64_t to)
{
	const int has_hosts = p->source->timeline->outlasting.n > 0;
	struct vprof_stretch s;
	int ret;

	if (from >= to)
		return 0;
	if (spend(p, base, (int64_t)(to - from)))
		return VPROF_ERR_NOMEM;
	vprof_stretch_begin(&s, p->calls, piece->thread, &p->source->timeline->threads[piece->thread].calls, from, to);
	while ((ret = vprof_stretch_next(&s)) > 0) {
		if (VPROF_ROOM(&p->call_node, s.n) || (has_hosts && VPROF_ROOM(&p->call_host, s.n)))
			return VPROF_ERR_NOMEM;
		for (size_t i = 0; i < s.n_kept; i++)
			p->call_node.v[i] = p->call_node.v[s.kept[i]];
		for (size_t i = 0; has_hosts && i < s.n_kept; i++)
			p->call_host.v[i] = p->call_host.v[s.kept[i]];
		if (spend_calls(p, &s, piece, base))
			return VPROF_ERR_NOMEM;
	}
	return ret;
}

int vprof_tree_part_run(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base)
{
	const struct vprof_thread_timeline *thr = &p->source->timeline->threads[piece->thread];
	uint64_t t = piece->from;

	if (vprof_call_index_has_sampled(&thr->calls, piece->from, piece->to))
		return follow_in_windows(p, *piece, base);
	for (size_t i = thr->off_cpu.n ? first_off_cpu(thr, t, &p->off_cpu_hint[piece->thread]) : 0;
	     i < thr->off_cpu.n && t < piece->to; i++) {
		const struct vprof_off_cpu *off_cpu = &thr->off_cpu.v[i];
		struct vprof_piece without = *piece;

		if (off_cpu->t0 >= piece->to)
			break;
		without.from = off_cpu->t0 > t ? off_cpu->t0 : t;
		without.to = off_cpu->t1 < piece->to ? off_cpu->t1 : piece->to;
		if (spend_between(p, piece, base, t, without.from) || follow_in_windows(p, without, base))
			return VPROF_ERR_NOMEM;
		t = without.to;
	}
	return spend_between(p, piece, base, t, piece->to);
}

uint32_t vprof_tree_part_frames(struct vprof_tree_part *p, const struct vprof_piece *piece, uint32_t base)
{
	const struct vprof_call_index *index = &p->source->timeline->threads[piece->thread].calls;
	uint32_t host = 0;
	size_t next;

	if (vprof_calls_open(p->calls, piece->thread, index, piece->from, &p->window, &p->n_window))
		return VPROF_NONE;
	if (vprof_call_index_has_sampled(index, piece->from, piece->from + 1)) {
		if (vprof_calls_window(p->calls, piece->thread, index, piece->from, piece->from + 1, &p->window,
				       &p->n_window))
			return VPROF_NONE;
		return open_frames(p, piece, base, &next);
	}
	for (size_t i = p->n_window; i-- > 0;) {
		const struct vprof_call *c = &p->window[i];
		uint32_t above = base;

		host = vprof_tree_part_host(p, c->code, c->t0, c->t1, host);
		if (!host)
			base = vprof_tree_part_child(p, base, VPROF_CLASS_FRAME, c->code, piece->depth);
		if (base == VPROF_NONE)
			return base;
		if (c->t0 != piece->from)
			continue;
		p->hot.v[base].n_begun += !host;
		if (!vprof_tree_cost_is_known(p->source))
			continue;
		if (spend(p, base, 0))
			return VPROF_NONE;
		p->hot.v[base].cost += p->source->cost.inside;
		p->hot.v[above].cost += p->source->cost.outside;
	}
	return base;
}
