/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads take batches of this rank's intervals and fill trees of their own, which are joined, then those of all ranks.
 */
#include "analysis/transactions/crosstalk.h"

#include "analysis/transactions/crosstalk_bounds.h"
#include "analysis/transactions/crosstalk_describe.h"
#include "analysis/transactions/context_walk.h"
#include "analysis/transactions/contexts_describe.h"
#include "analysis/transactions/crosstalk_walk.h"
#include "common/parallel.h"

#define BATCH 256

struct filling {
	const struct vprof_crosstalk_input *in;
	const struct vprof_run_blocks *blocks;
	struct vprof_blame_of *of; /* [n_sources] */
	struct vprof_blame_walker *walkers;
	size_t from, to; /* this rank's intervals */
};

static int add_interval(struct vprof_blame_walker *w, uint32_t instance, uint32_t block)
{
	const struct vprof_piece *pieces;
	size_t n;
	int ret = vprof_path_walk(w->path, instance, &pieces, &n);

	ret = ret ? ret : vprof_crosstalk_walk(w, pieces, n, instance, block);
	return ret ? ret : vprof_context_walk(w, pieces, n, block);
}

static int add_batch(void *arg, int worker, size_t batch)
{
	struct filling *f = arg;
	struct vprof_blame_walker *w = &f->walkers[worker];
	size_t i = f->from + batch * BATCH, end = i + BATCH < f->to ? i + BATCH : f->to, s = 0;
	int ret = VPROF_OK;

	for (; i < end && !ret; i++) {
		while (i >= f->in->sources[s].first + f->in->sources[s].chosen.n)
			s++;
		ret = vprof_blame_walker_turn(w, &f->of[s]);
		ret = ret ? ret :
			    add_interval(w, f->in->sources[s].chosen.v[i - f->in->sources[s].first],
					 vprof_crosstalk_block_of(f->blocks, f->in->n_intervals, i));
	}
	return ret;
}

static int join_walkers(struct vprof_blame_tree *tree, const struct vprof_blame_walker *walkers, int n)
{
	int ret = vprof_blame_begin(tree);

	for (int i = 0; i < n && !ret; i++)
		ret = vprof_blame_join(tree, walkers[i].tree.nodes.v, walkers[i].tree.nodes.n, walkers[i].tree.sums.v,
				       walkers[i].tree.sums.n, NULL);
	return ret;
}

static int fill_own(struct filling *f, struct vprof_blame_tree *tree)
{
	int n = vprof_parallel_count(f->in->team.n_threads), ret;

	f->walkers = calloc((size_t)n, sizeof *f->walkers);
	if (!f->walkers)
		return VPROF_ERR_NOMEM;
	ret = vprof_parallel_run(n, (f->to - f->from + BATCH - 1) / BATCH, add_batch, f);
	ret = ret ? ret : join_walkers(tree, f->walkers, n);
	for (int i = 0; i < n; i++)
		vprof_blame_walker_release(&f->walkers[i]);
	free(f->walkers);
	return ret;
}

/* what a rank tells: these counts, its nodes, its sums */
struct counts {
	uint64_t n_nodes, n_sums;
};

static int add_rank(void *arg, const void *bytes, size_t n_bytes, int is_own)
{
	const struct counts *c = bytes;
	const struct vprof_blame_node *nodes = (const void *)(c + 1);

	(void)n_bytes;
	(void)is_own;
	return vprof_blame_join(arg, nodes, c->n_nodes, (const void *)(nodes + c->n_nodes), c->n_sums, NULL);
}

/* `ret`: what this rank came to. The tree of all ranks, on each. */
static int unite_ranks(const struct vprof_team *team, int ret, struct vprof_blame_tree *tree)
{
	size_t n_nodes = tree->nodes.n * sizeof *tree->nodes.v, n_sums = tree->sums.n * sizeof *tree->sums.v;
	struct counts counts = { tree->nodes.n, tree->sums.n };
	unsigned char *mine;

	if (!team->exchange)
		return ret;
	mine = malloc(sizeof counts + n_nodes + n_sums);
	ret = mine ? ret : VPROF_ERR_NOMEM;
	if (!ret) {
		memcpy(mine, &counts, sizeof counts);
		memcpy(mine + sizeof counts, tree->nodes.v, n_nodes);
		if (n_sums)
			memcpy(mine + sizeof counts + n_nodes, tree->sums.v, n_sums);
		vprof_blame_release(tree);
		ret = vprof_blame_begin(tree);
	}
	ret = vprof_collect(team, ret, mine, sizeof counts + n_nodes + n_sums, add_rank, tree);
	free(mine);
	return ret;
}

static int fill_of(struct vprof_blame_of *of, const struct vprof_crosstalk_input *in, size_t source,
		   const struct vprof_working_for *working, struct vprof_strings *names)
{
	const struct vprof_timeline *timeline = in->sources[source].timeline;
	uint32_t *canonical = calloc(timeline->n_names + 1, sizeof *canonical);

	of->working = working;
	of->call_paths = in->call_paths;
	of->plan = in->plan;
	of->source = source;
	of->ratio = timeline->ns_per_tick / in->sources[0].timeline->ns_per_tick;
	of->canonical = canonical;
	for (size_t i = 0; canonical && i < timeline->n_names; i++) {
		canonical[i] = vprof_strings_number(names, timeline->names[i]);
		if (canonical[i] == VPROF_NONE)
			return VPROF_ERR_NOMEM;
	}
	return canonical ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* [n_probes] which probes have the name of a wait of any source. NULL without memory. */
static uint8_t *find_waiting_probes(const struct vprof_plan *plan, const struct vprof_strings *names)
{
	uint8_t *may_wait = calloc(plan ? plan->n_probes + 1 : 1, 1);

	for (size_t i = 0; may_wait && plan && i < plan->n_probes; i++)
		may_wait[i] = vprof_strings_find(names, plan->probes[i].name) != VPROF_NONE;
	return may_wait;
}

static int fill(struct vprof_results *r, const struct vprof_crosstalk_input *in)
{
	struct vprof_strings names = { 0 };
	struct vprof_run_blocks blocks = { 0 };
	struct vprof_working_for working = { 0 };
	struct vprof_blame_tree tree = { 0 };
	struct filling f = { .in = in, .blocks = &blocks, .of = calloc(in->n_sources + 1, sizeof *f.of) };
	uint8_t *may_wait = NULL;
	int ret = f.of ? vprof_working_for_find(&working, r, in->sources, in->n_sources, in->name) : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < in->n_sources && !ret; i++)
		ret = fill_of(&f.of[i], in, i, &working, &names);
	if (!ret) {
		may_wait = find_waiting_probes(in->plan, &names);
		ret = may_wait ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < in->n_sources && !ret; i++)
		f.of[i].may_wait = may_wait;
	ret = ret ? ret : vprof_run_blocks_choose(&blocks, in->attributes);
	vprof_team_own(&in->team, in->n_intervals, &f.from, &f.to);
	ret = ret ? ret : fill_own(&f, &tree);
	ret = unite_ranks(&in->team, ret, &tree);
	ret = ret ? ret : vprof_crosstalk_describe(r, in, &working, &blocks, &names, &tree);
	ret = ret ? ret : vprof_contexts_describe(r, in, &blocks, &names, &tree);
	for (size_t i = 0; i < in->n_sources && f.of; i++)
		free((void *)f.of[i].canonical);
	free(f.of);
	free(may_wait);
	vprof_blame_release(&tree);
	vprof_working_for_release(&working);
	vprof_run_blocks_release(&blocks);
	vprof_strings_release(&names);
	return ret;
}

int vprof_crosstalk_fill(struct vprof_results *r, const struct vprof_crosstalk_input *input, struct vprof_error *err)
{
	int ret;

	if (!input->n_intervals) {
		r->parties = calloc(1, sizeof *r->parties);
		r->crosstalk = calloc(1, sizeof *r->crosstalk);
		r->contexts = calloc(1, sizeof *r->contexts);
		return r->parties && r->crosstalk && r->contexts ? VPROF_OK : vprof_error_no_memory(err);
	}
	ret = fill(r, input);
	return ret ? vprof_error_set(err, ret,
				     "not enough memory to tell which of %zu intervals waited for which: record a "
				     "shorter run",
				     input->n_intervals) :
		     VPROF_OK;
}
