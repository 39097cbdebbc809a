/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call after the other: times of each context in it, from its gaps; then moments over calls. What may have been
 * called unseen in a gap is noted at the innermost function that was there throughout, and handed down at the end. */
#include "analysis/latency/call_sums.h"

#include <math.h>

#include "analysis/latency/inference.h"

/* what may have been called unseen, from here on inwards */
enum unseen {
	UNSEEN_CODE,   /* the program's and its libraries', while the program ran */
	UNSEEN_SYSTEM, /* system calls, while it ran and some were not recorded */
	UNSEEN_KERNEL, /* the kernel's, within a call of it */
	UNSEEN_KINDS
};

struct times { /* of a context in one call, ns */
	uint64_t low, high;
	uint64_t own_low, own_high; /* own_high: without what is unseen beneath, which `unseen` adds */
	uint64_t unseen[UNSEEN_KINDS];
};

struct moments { /* over calls: of the middle of the bounds, of half their width */
	double mean, m2, half2;
};

struct summing {
	struct vprof_call_sums *out;
	const struct vprof_latency_history *history;
	uint32_t *nodes, *paths;			/* vprof_context_tree_build() */
	struct times *times;				/* [nodes] of the call at hand */
	struct moments *moments;			/* [nodes] */
	unsigned char *is_kernel, *is_system, *is_seen; /* [nodes] is_system: in a system call */
	struct vprof_call_times *told_times;		/* [nodes] for `told`; NULL: nobody is told */
	vprof_call_told *told;
	void *arg;
};

/* May x, beneath the node `at`, have been called unseen in this gap? Which kind of what is unseen is it then? */
static int is_unseen_kind(const struct summing *g, uint32_t x, uint32_t at, uint32_t flags, enum unseen *kind)
{
	if (flags & VPROF_LATENCY_HELD) {
		*kind = UNSEEN_KERNEL;
		return g->is_kernel[at] && !(flags & VPROF_LATENCY_OFF_CPU);
	}
	*kind = g->is_system[x] ? UNSEEN_SYSTEM : UNSEEN_CODE;
	return !g->is_system[x] || (flags & VPROF_LATENCY_SKIPPED);
}

static void add_unseen(struct summing *g, uint32_t at, uint32_t flags, uint64_t ns)
{
	struct times *t = &g->times[at];

	if (!(flags & VPROF_LATENCY_HELD)) {
		t->unseen[UNSEEN_CODE] += ns;
		t->unseen[UNSEEN_SYSTEM] += flags & VPROF_LATENCY_SKIPPED ? ns : 0;
	} else if (g->is_kernel[at] && !(flags & VPROF_LATENCY_OFF_CPU)) {
		t->unseen[UNSEEN_KERNEL] += ns;
	}
}

/* Frames of a stack that may have been there: from `from` on, without those of the stack before it. */
static void add_perhaps(struct summing *g, const struct vprof_latency_stack *s, const struct vprof_latency_stack *other,
			uint32_t from, uint32_t at, uint32_t flags, uint64_t ns)
{
	enum unseen kind;

	for (uint32_t d = from; s && d < s->n; d++) {
		uint32_t x = g->nodes[s->first + d];

		g->is_seen[x] = 1;
		if (other && d < other->n && g->nodes[other->first + d] == x)
			continue;
		g->times[x].own_high += ns;
		if (!is_unseen_kind(g, x, at, flags, &kind))
			g->times[x].high += ns;
	}
}

static int add_gap(void *summing, const struct vprof_latency_gap *gap, uint64_t from, uint64_t ns)
{
	struct summing *g = summing;
	const struct vprof_latency_stack *a = gap->stack == VPROF_NONE ? NULL : &g->history->stacks.v[gap->stack];
	const struct vprof_latency_stack *b = gap->next == VPROF_NONE ? NULL : &g->history->stacks.v[gap->next];
	uint32_t sure = gap->common.sure_depth, at = sure ? g->nodes[a->first + sure - 1] : VPROF_CONTEXT_ROOT;
	int is_whole = a && b && sure == a->n && sure == b->n;

	(void)from;
	for (uint32_t d = 0; d < sure; d++) {
		g->times[g->nodes[a->first + d]].low += ns;
		g->times[g->nodes[a->first + d]].high += ns;
		g->is_seen[g->nodes[a->first + d]] = 1;
	}
	/* stayed at one place of the kernel's, or had no CPU: nothing was called meanwhile */
	if (is_whole && (gap->flags & VPROF_LATENCY_OFF_CPU))
		g->times[at].own_low += ns;
	g->times[at].own_high += ns;
	add_unseen(g, at, gap->flags, ns);
	add_perhaps(g, a, NULL, sure, at, gap->flags, ns);
	add_perhaps(g, b, a, sure, at, gap->flags, ns);
	return VPROF_OK;
}

static int on_instance(void *summing, const struct vprof_latency_instance *i)
{
	(void)summing;
	(void)i;
	return VPROF_OK;
}

static void add_value(struct moments *m, double n, double low, double high)
{
	double mid = (low + high) / 2, half = (high - low) / 2, step = mid - m->mean;

	m->mean += step / n;
	m->m2 += step * (mid - m->mean);
	m->half2 += half * half;
}

/* The call at hand is complete: what is unseen is handed down, and all is added to the moments. */
static void add_call(struct summing *g)
{
	struct vprof_call_sums *out = g->out;
	double n = (double)++out->n_calls;

	for (uint32_t x = 1; x < out->tree.nodes.n; x++) {
		uint32_t parent = out->tree.nodes.v[x].parent;
		struct times *t = &g->times[x];
		struct vprof_call_context *c = &out->contexts[x];
		/* of the callers: handed down so far */
		uint64_t above = g->times[parent].unseen[g->is_system[x] ? UNSEEN_SYSTEM : UNSEEN_CODE] +
				 g->times[parent].unseen[UNSEEN_KERNEL];

		for (int k = 0; k < UNSEEN_KINDS; k++)
			t->unseen[k] += g->times[parent].unseen[k];
		t->high += above;
		t->own_high += above;
		t->own_high = t->own_high < t->high ? t->own_high : t->high;
		add_value(&g->moments[x], n, (double)t->low, (double)t->high);
		c->n += g->is_seen[x];
		c->low_ns += (double)t->low;
		c->high_ns += (double)t->high;
		c->own_low_ns += (double)t->own_low;
		c->own_high_ns += (double)t->own_high;
		if (g->told)
			g->told_times[x] =
				(struct vprof_call_times){ t->low, t->high, t->own_low, t->own_high, g->is_seen[x] };
	}
}

static int take_calls(struct summing *g)
{
	struct vprof_latency_gaps gaps = { 0 };
	struct vprof_latency_inference inference = { .history = g->history,
						     .tree = &g->out->tree,
						     .nodes = g->nodes,
						     .paths = g->paths,
						     .gaps = &gaps,
						     .instance = on_instance,
						     .gap = add_gap,
						     .arg = g };
	size_t n_nodes = g->out->tree.nodes.n;
	int ret = VPROF_OK;

	for (size_t i = 0; i < g->history->threads.n && !ret; i++) {
		if (g->history->threads.v[i].begin_is_cut || g->history->threads.v[i].end_is_cut) {
			g->out->n_cut += !g->history->threads.v[i].is_continued;
			continue;
		}
		memset(g->times, 0, n_nodes * sizeof *g->times);
		memset(g->is_seen, 0, n_nodes);
		ret = vprof_latency_infer(&inference, (uint32_t)i);
		if (!ret)
			add_call(g);
		if (!ret && g->told)
			ret = g->told(g->arg, (uint32_t)i, g->told_times);
	}
	vprof_latency_gaps_release(&gaps);
	return ret;
}

static double ratio2(double a, double b)
{
	return b > 0 ? a * a / (b * b) : NAN;
}

static void finish(struct summing *g)
{
	double n = (double)g->out->n_calls;

	for (uint32_t x = 1; n > 0 && x < g->out->tree.nodes.n; x++) {
		struct vprof_call_context *c = &g->out->contexts[x], *all = &g->out->contexts[1];
		double sd = n > 1 ? sqrt(g->moments[x].m2 / (n - 1)) : NAN;
		double error = n > 1 ? sqrt(g->moments[x].half2 / (n - 1)) : NAN;

		c->low_ns /= n;
		c->high_ns /= n;
		c->own_low_ns /= n;
		c->own_high_ns /= n;
		c->sd_low_ns = sd > error ? sd - error : n > 1 ? 0 : NAN;
		c->sd_high_ns = sd + error;
		c->share_low = ratio2(c->sd_low_ns, all->sd_high_ns);
		c->share_high = ratio2(c->sd_high_ns, all->sd_low_ns);
	}
}

/* All are calls of one function, whose node is the first one. */
static int check(const struct summing *g, struct vprof_error *err)
{
	for (size_t i = 0; i < g->history->stacks.n; i++)
		if (g->nodes[g->history->stacks.v[i].first] != 1)
			return vprof_error_set(err, VPROF_ERR_INPUT, "stacks of calls of several functions");
	return g->history->windows.n ? vprof_error_set(err, VPROF_ERR_INPUT, "calls with windows of time") : VPROF_OK;
}

/* The kernel's contexts, and those in a system call: a frame of the kernel called sys_NAME, or beneath one. */
static void mark_kernel(struct summing *g)
{
	for (uint32_t x = 1; x < g->out->tree.nodes.n; x++) {
		const struct vprof_context_node *n = &g->out->tree.nodes.v[x];
		const struct vprof_latency_function *f = &g->history->functions.v[n->function];

		g->is_kernel[x] = f->layer == VPROF_LATENCY_KERNEL;
		g->is_system[x] = g->is_system[n->parent] || (g->is_kernel[x] && !strncmp(f->name, "sys_", 4));
	}
}

int vprof_call_sums_build(struct vprof_call_sums *out, const struct vprof_latency_history *calls,
			  struct vprof_error *err)
{
	return vprof_call_sums_build_each(out, calls, NULL, NULL, err);
}

int vprof_call_sums_build_each(struct vprof_call_sums *out, const struct vprof_latency_history *calls,
			       vprof_call_told *told, void *arg, struct vprof_error *err)
{
	struct summing g = { .out = out, .history = calls, .told = told, .arg = arg };
	int ret = VPROF_ERR_NOMEM;
	size_t n;

	*out = (struct vprof_call_sums){ .history = calls };
	g.nodes = malloc((calls->frames.n + 1) * sizeof *g.nodes);
	g.paths = malloc((calls->stacks.n + 1) * sizeof *g.paths);
	if (g.nodes && g.paths)
		ret = vprof_context_tree_build(&out->tree, calls, g.nodes, g.paths);
	n = out->tree.nodes.n;
	if (!ret) {
		out->contexts = calloc(n, sizeof *out->contexts);
		g.times = calloc(n, sizeof *g.times);
		g.moments = calloc(n, sizeof *g.moments);
		g.is_kernel = calloc(n, 1);
		g.is_system = calloc(n, 1);
		g.is_seen = calloc(n, 1);
		g.told_times = calloc(n, sizeof *g.told_times);
		ret = out->contexts && g.times && g.moments && g.is_kernel && g.is_system && g.is_seen && g.told_times ?
			      check(&g, err) :
			      VPROF_ERR_NOMEM;
	}
	if (!ret) {
		mark_kernel(&g);
		ret = take_calls(&g);
	}
	if (!ret)
		finish(&g);
	free(g.nodes);
	free(g.paths);
	free(g.times);
	free(g.moments);
	free(g.is_kernel);
	free(g.is_system);
	free(g.is_seen);
	free(g.told_times);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : ret;
}

void vprof_call_sums_release(struct vprof_call_sums *sums)
{
	vprof_context_tree_release(&sums->tree);
	free(sums->contexts);
	*sums = (struct vprof_call_sums){ .n_calls = 0 };
}
