/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads become roles first, and what several threads of one role did is joined. Then every pair is a HOLDER node,
 * every lock a SITE node, and what is beneath is listed in preorder. Nodes have an order of their own (time, then what
 * they are), so that results do not depend on who met a node first. */
#include "analysis/transactions/crosstalk_describe.h"

#include <math.h>
#include <stdio.h>

#include "analysis/transactions/blame_order.h"
#include "analysis/transactions/crosstalk_bounds.h"
#include "analysis/timeline/edges/thread_roles.h"

#define PAIRS_MAX 256
#define LOCKS_MAX 8
#define HOLDER_CALLS_MAX 24   /* of a lock */
#define HOLDER_CALL_PART 0.01 /* of the lock's time: below, it is not listed */

struct describing {
	struct vprof_results *r;
	const struct vprof_crosstalk_input *in;
	const struct vprof_working_for *working;
	const struct vprof_run_blocks *blocks;
	const struct vprof_strings *names;
	struct vprof_blame_tree tree; /* keys of holders: places in r->parties */
	struct vprof_blame_order order;
	uint32_t *party_of; /* [n_holders] place in r->parties, VPROF_NONE: not there */
	double ns_per_tick;
};

/* Place of a party of this kind and name in r->parties, which has room for one more. */
static uint32_t party_place(struct vprof_results *r, enum vprof_party_kind kind, const char *name)
{
	for (uint32_t i = 0; i < r->n_parties; i++)
		if (r->parties[i].kind == kind && r->parties[i].name == name)
			return i;
	r->parties[r->n_parties] = (struct vprof_party){ .kind = kind, .name = name };
	return (uint32_t)r->n_parties++;
}

/* The outermost measured function in which the thread was waited for longest; NULL: none. */
static const char *role_by_work(const struct describing *d, const struct vprof_blame_tree *tree, uint32_t holder)
{
	const struct vprof_blame_node *v = tree->nodes.v, *best = NULL;
	int64_t *ticks = calloc(tree->nodes.n, sizeof *ticks);
	const struct vprof_probe *probe;
	uint32_t best_i = 0;

	for (size_t i = tree->nodes.n; ticks && i-- > 1;) {
		ticks[i] += v[i].ticks;
		ticks[v[i].parent] += ticks[i];
	}
	for (uint32_t i = 1; ticks && i < tree->nodes.n; i++)
		if (v[i].class == VPROF_BLAME_FRAME && v[v[i].parent].class == VPROF_BLAME_SITE &&
		    v[v[v[v[i].parent].parent].parent].key == holder &&
		    (!best || ticks[i] > ticks[best_i] || (ticks[i] == ticks[best_i] && v[i].key < best->key))) {
			best = &v[i];
			best_i = i;
		}
	free(ticks);
	probe = best && d->in->plan ? vprof_plan_probe(d->in->plan, best->key) : NULL;
	return probe ? probe->display : NULL;
}

static int add_thread(struct describing *d, const struct vprof_blame_tree *tree, struct vprof_symbols **symbols,
		      uint32_t holder)
{
	const struct vprof_source *source;
	const char *name = NULL;
	uint32_t thread;
	size_t s;

	vprof_holder_is_thread(d->working, holder, &s, &thread);
	source = &d->in->sources[s];
	if (!symbols[s] && !(symbols[s] = vprof_symbols_new(source->timeline)))
		return VPROF_ERR_NOMEM;
	name = vprof_thread_role(source->timeline, thread, symbols[s]);
	name = name ? name : role_by_work(d, tree, holder);
	name = vprof_results_string(d->r, name ? name : "threads outside measured functions");
	if (!name)
		return VPROF_ERR_NOMEM;
	d->party_of[holder] = party_place(d->r, VPROF_PARTY_THREAD, name);
	return VPROF_OK;
}

/* Parties of the results: those of intervals that wait or are waited for, then who else is waited for. */
static int find_parties(struct describing *d, const struct vprof_blame_tree *tree)
{
	static const char *const special[] = {
		[VPROF_HOLDER_RELEASED] = "released", [VPROF_HOLDER_UNKNOWN] = "unknown", [VPROF_HOLDER_SELF] = "itself"
	};
	static const uint8_t kinds[] = { [VPROF_HOLDER_RELEASED] = VPROF_PARTY_RELEASED,
					 [VPROF_HOLDER_UNKNOWN] = VPROF_PARTY_UNKNOWN,
					 [VPROF_HOLDER_SELF] = VPROF_PARTY_ITSELF };
	size_t n = vprof_n_holders(d->working), n_types = d->working->parties.n;
	uint8_t *is_there = calloc(n + 1, 1);
	struct vprof_symbols **symbols = calloc(d->in->n_sources + 1, sizeof(struct vprof_symbols *));
	int ret = VPROF_ERR_NOMEM;

	d->r->parties = calloc(n + 1, sizeof *d->r->parties);
	d->party_of = calloc(n + 1, sizeof *d->party_of);
	if (!is_there || !symbols || !d->r->parties || !d->party_of)
		goto out;
	for (size_t s = 0; s < d->in->n_sources; s++)
		for (size_t i = 0; i < d->in->sources[s].chosen.n; i++)
			is_there[VPROF_HOLDER_FIRST +
				 vprof_party_of(
					 d->working,
					 &d->in->sources[s].intervals->instances.v[d->in->sources[s].chosen.v[i]])] = 1;
	for (size_t i = 0; i < tree->nodes.n; i++)
		if (tree->nodes.v[i].class == VPROF_BLAME_HOLDER)
			is_there[tree->nodes.v[i].key] = 1;
	for (uint32_t i = 0; i < n_types; i++)
		d->party_of[VPROF_HOLDER_FIRST + i] =
			is_there[VPROF_HOLDER_FIRST + i] ?
				party_place(d->r, VPROF_PARTY_TYPE, d->working->parties.v[i]) :
				VPROF_NONE;
	ret = VPROF_OK;
	for (uint32_t i = 0; i < VPROF_HOLDER_FIRST && !ret; i++) {
		const char *name = vprof_results_string(d->r, special[i]);

		if (!name)
			ret = VPROF_ERR_NOMEM;
		else if (is_there[i])
			d->party_of[i] = party_place(d->r, kinds[i], name);
	}
	for (size_t i = VPROF_HOLDER_FIRST + n_types; i < n && !ret; i++)
		if (is_there[i])
			ret = add_thread(d, tree, symbols, (uint32_t)i);
out:
	for (size_t s = 0; s < d->in->n_sources && symbols; s++)
		vprof_symbols_free(symbols[s]);
	free(symbols);
	free(is_there);
	return ret;
}

static const struct vprof_probe *probe_of(const struct describing *d, uint32_t code)
{
	return d->in->plan && code != VPROF_NONE ? vprof_plan_probe(d->in->plan, code) : NULL;
}

static const char *text_of(struct describing *d, const char *text, int *ret)
{
	const char *kept = vprof_results_string(d->r, text ? text : "");

	*ret = kept ? *ret : VPROF_ERR_NOMEM;
	return kept;
}

static int fill_holder_call(struct describing *d, const struct vprof_blame_node *n, uint32_t depth, double total_ns,
			    struct vprof_holder_call *h)
{
	static const uint8_t probe_kinds[] = { [VPROF_PROBE_FUNCTION] = VPROF_NODE_FUNCTION,
					       [VPROF_PROBE_SITE] = VPROF_NODE_SITE,
					       [VPROF_PROBE_POINTER] = VPROF_NODE_POINTER };
	const struct vprof_probe *probe = n->class == VPROF_BLAME_FRAME ? probe_of(d, n->key) : NULL;
	char code[32];
	int ret = VPROF_OK;

	snprintf(code, sizeof code, "code %u", n->key);
	*h = (struct vprof_holder_call){ .kind = n->class == VPROF_BLAME_WAIT	   ? VPROF_NODE_WAIT :
						 n->class == VPROF_BLAME_PREEMPTED ? VPROF_NODE_PREEMPTED :
										     VPROF_NODE_FUNCTION,
					 .depth = depth,
					 .total_ns = total_ns };
	if (probe && (unsigned)probe->kind < sizeof probe_kinds)
		h->kind = probe_kinds[probe->kind];
	h->name = text_of(d,
			  n->class == VPROF_BLAME_WAIT	    ? d->names->kept.v[n->key] :
			  n->class == VPROF_BLAME_PREEMPTED ? "preempted" :
			  probe				    ? probe->display :
							      code,
			  &ret);
	h->file = text_of(d, probe ? probe->file : "", &ret);
	h->line = probe ? probe->line : 0;
	return ret;
}

static int list_holder_calls(struct describing *d, uint32_t node, uint32_t depth, int64_t least,
			     struct vprof_holder_call *calls, size_t *n)
{
	for (uint32_t c = d->order.first[node]; c < d->order.first[node + 1] && *n < HOLDER_CALLS_MAX; c++) {
		uint32_t child = d->order.children[c];

		if (d->order.ticks[child] <= 0 || d->order.ticks[child] < least)
			break;
		if (fill_holder_call(d, &d->tree.nodes.v[child], depth, (double)d->order.ticks[child] * d->ns_per_tick,
				     &calls[*n]))
			return VPROF_ERR_NOMEM;
		++*n;
		if (list_holder_calls(d, child, depth + 1, least, calls, n))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* Beneath a HOLDER or a SITE: what is not just the holder's time. */
static double measured_ns(const struct describing *d, uint32_t node)
{
	double ns = 0;

	if (d->tree.nodes.v[node].class == VPROF_BLAME_SITE)
		return (double)(d->order.ticks[node] - d->tree.nodes.v[node].ticks) * d->ns_per_tick;
	for (uint32_t c = d->order.first[node]; c < d->order.first[node + 1]; c++)
		ns += measured_ns(d, d->order.children[c]);
	return ns;
}

static int fill_lock(struct describing *d, uint32_t site, struct vprof_crosstalk_lock *lock)
{
	const struct vprof_blame_node *n = &d->tree.nodes.v[site], *of = &d->tree.nodes.v[n->parent];
	const char *name = of->key == VPROF_NONE ? "queued" : d->names->kept.v[of->key];
	const struct vprof_probe *probe = probe_of(d, n->key);
	struct vprof_holder_call *calls = calloc(HOLDER_CALLS_MAX, sizeof *calls);
	char object[32] = "";
	int ret = calls ? VPROF_OK : VPROF_ERR_NOMEM;

	if (n->objects == 1)
		snprintf(object, sizeof object, "0x%llx", (unsigned long long)n->object);
	lock->is_call = probe && probe->kind != VPROF_PROBE_FUNCTION && !strcmp(probe->name, name);
	lock->name = text_of(d, name, &ret);
	lock->function = text_of(d, !probe ? "" : lock->is_call ? probe->caller : probe->display, &ret);
	lock->file = text_of(d, probe ? probe->file : "", &ret);
	lock->line = probe ? probe->line : 0;
	lock->object = text_of(d, n->objects > 1 ? VPROF_OBJECT_SEVERAL : object, &ret);
	lock->awaited = text_of(d, "", &ret);
	lock->n_waits = n->n_waits;
	lock->total_ns = (double)d->order.ticks[site] * d->ns_per_tick;
	lock->measured_ns = measured_ns(d, site);
	lock->holder_calls = calls;
	return ret ? ret :
		     list_holder_calls(d, site, 0, (int64_t)ceil(HOLDER_CALL_PART * (double)d->order.ticks[site]),
				       calls, &lock->n_holder_calls);
}

/* The heaviest SITE nodes beneath a HOLDER. */
static int fill_locks(struct describing *d, uint32_t pair, struct vprof_crosstalk *x)
{
	VPROF_ARRAY(uint32_t) sites = { NULL, 0, 0 };
	struct vprof_crosstalk_lock *locks = calloc(LOCKS_MAX, sizeof *locks);
	int ret = locks ? VPROF_OK : VPROF_ERR_NOMEM;

	x->locks = locks;
	for (uint32_t l = d->order.first[pair]; l < d->order.first[pair + 1] && !ret; l++)
		for (uint32_t s = d->order.first[d->order.children[l]];
		     s < d->order.first[d->order.children[l] + 1] && !ret; s++) {
			uint32_t *slot = VPROF_PUSH(&sites);

			ret = slot ? VPROF_OK : VPROF_ERR_NOMEM;
			if (slot)
				*slot = d->order.children[s];
		}
	if (!ret && sites.n)
		vprof_blame_sort(&d->order, sites.v, sites.n);
	for (size_t i = 0; i < sites.n && i < LOCKS_MAX && !ret; i++)
		if (d->order.ticks[sites.v[i]] > 0)
			ret = fill_lock(d, sites.v[i], &locks[x->n_locks++]);
	VPROF_ARRAY_RELEASE(&sites);
	return ret;
}

/* Of all parties: intervals and latencies. */
static void count_intervals(struct describing *d, struct vprof_crosstalk_sums *sums)
{
	size_t at = 0;

	for (size_t s = 0; s < d->in->n_sources; s++)
		for (size_t i = 0; i < d->in->sources[s].chosen.n; i++, at++) {
			const struct vprof_source *source = &d->in->sources[s];
			uint32_t party =
				d->party_of[VPROF_HOLDER_FIRST +
					    vprof_party_of(d->working,
							   &source->intervals->instances.v[source->chosen.v[i]])];
			size_t cell =
				party * d->blocks->n + vprof_crosstalk_block_of(d->blocks, d->in->n_intervals, at);

			d->r->parties[party].n++;
			d->r->parties[party].total_ns += d->in->attributes->ns[at];
			sums->n[cell]++;
			sums->latency_ns[cell] += d->in->attributes->ns[at];
		}
}

/* The pairs, by falling time; pair_of[nodes] gets the place of each HOLDER, VPROF_NONE elsewhere. */
static int fill_pairs(struct describing *d, uint32_t *pair_of)
{
	VPROF_ARRAY(uint32_t) pairs = { NULL, 0, 0 };
	int ret = VPROF_OK;

	for (uint32_t i = 0; i < d->tree.nodes.n; i++) {
		uint32_t *slot;

		pair_of[i] = VPROF_NONE;
		if (d->tree.nodes.v[i].class != VPROF_BLAME_HOLDER || d->order.ticks[i] <= 0)
			continue;
		slot = VPROF_PUSH(&pairs);
		if (!slot)
			ret = VPROF_ERR_NOMEM;
		else
			*slot = i;
	}
	d->r->crosstalk = calloc(pairs.n + 1, sizeof *d->r->crosstalk);
	if (!d->r->crosstalk)
		ret = VPROF_ERR_NOMEM;
	if (!ret && pairs.n)
		vprof_blame_sort(&d->order, pairs.v, pairs.n);
	for (size_t i = 0; i < pairs.n && i < PAIRS_MAX && !ret; i++) {
		const struct vprof_blame_node *n = &d->tree.nodes.v[pairs.v[i]];
		struct vprof_crosstalk *x = &d->r->crosstalk[d->r->n_crosstalk++];
		const struct vprof_party *waiter;

		pair_of[pairs.v[i]] = (uint32_t)i;
		x->waiter = d->party_of[VPROF_HOLDER_FIRST + d->tree.nodes.v[n->parent].key];
		x->holder = n->key;
		waiter = &d->r->parties[x->waiter];
		x->n_waits = n->n_waits;
		x->total_ns = (double)d->order.ticks[pairs.v[i]] * d->ns_per_tick;
		x->measured_ns = measured_ns(d, pairs.v[i]);
		x->mean_ns = x->total_ns / (double)waiter->n;
		x->mean_low = x->mean_high = x->share_low = x->share_high = NAN;
		x->share = waiter->total_ns > 0 ? x->total_ns / waiter->total_ns : NAN;
		ret = fill_locks(d, pairs.v[i], x);
	}
	VPROF_ARRAY_RELEASE(&pairs);
	return ret;
}

static int describe(struct describing *d)
{
	size_t n_cells = d->r->n_parties * d->blocks->n + 1;
	struct vprof_crosstalk_sums sums = { .n = calloc(n_cells, sizeof *sums.n),
					     .latency_ns = calloc(n_cells, sizeof *sums.latency_ns) };
	uint32_t *pair_of = calloc(d->tree.nodes.n + 1, sizeof *pair_of);
	int ret = sums.n && sums.latency_ns && pair_of ? VPROF_OK : VPROF_ERR_NOMEM;

	if (!ret) {
		count_intervals(d, &sums);
		ret = fill_pairs(d, pair_of);
	}
	sums.waited_ns = ret ? NULL : calloc(d->r->n_crosstalk * d->blocks->n + 1, sizeof *sums.waited_ns);
	for (size_t i = 0; sums.waited_ns && i < d->tree.sums.n; i++) {
		const struct vprof_blame_sum *s = &d->tree.sums.v[i];

		if (pair_of[s->node] != VPROF_NONE)
			sums.waited_ns[pair_of[s->node] * d->blocks->n + s->block] = (double)s->ticks * d->ns_per_tick;
	}
	if (sums.waited_ns)
		ret = vprof_crosstalk_bounds(d->r, d->blocks, &sums, d->in->team.n_threads);
	else
		ret = VPROF_ERR_NOMEM;
	free(sums.n);
	free(sums.latency_ns);
	free(sums.waited_ns);
	free(pair_of);
	return ret;
}

int vprof_crosstalk_describe(struct vprof_results *r, const struct vprof_crosstalk_input *input,
			     const struct vprof_working_for *working, const struct vprof_run_blocks *blocks,
			     const struct vprof_strings *names, const struct vprof_blame_tree *tree)
{
	struct describing d = { .r = r,
				.in = input,
				.working = working,
				.blocks = blocks,
				.names = names,
				.ns_per_tick = input->sources[0].timeline->ns_per_tick };
	int ret = vprof_blame_begin(&d.tree);

	ret = ret ? ret : find_parties(&d, tree);
	ret = ret ? ret :
		    vprof_blame_join(&d.tree, tree->nodes.v, tree->nodes.n, tree->sums.v, tree->sums.n, d.party_of);
	ret = ret ? ret : vprof_blame_arrange(&d.order, &d.tree);
	ret = ret ? ret : describe(&d);
	vprof_blame_release(&d.tree);
	vprof_blame_order_release(&d.order);
	free(d.party_of);
	return ret;
}
