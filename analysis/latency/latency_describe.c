/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/latency_describe.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>

#include "common/text.h"

#define SHARE_MIN 0.0005 /* of the threads' time: contexts of less are left out */
#define PATHS_SHOWN 10	 /* of which instances are kept */

struct describing {
	struct vprof_latency_results *out;
	const struct vprof_paired_tree *tree;
	const struct vprof_latency_ranking *ranking;
	unsigned char *is_wanted; /* [nodes] 1, or 2: with its instances */
	uint32_t *number;	  /* [nodes] among the results' */
	uint32_t *name;		  /* [functions] */
};

static void want(struct describing *g)
{
	for (uint32_t i = (uint32_t)g->tree->nodes.n; i-- > 1;) {
		for (int side = 0; side < 2; side++) {
			const struct vprof_latency_context *c =
				g->tree->sides[side] ? vprof_paired_context(g->tree, side, i) : NULL;

			if (c && (double)c->high_ns >= SHARE_MIN * (double)g->tree->sides[side]->total_ns)
				g->is_wanted[i] |= 1;
		}
	}
	for (size_t p = 0; p < g->ranking->paths.n; p++)
		for (size_t k = 0; k < g->ranking->paths.v[p].n_nodes; k++)
			g->is_wanted[g->ranking->nodes.v[g->ranking->paths.v[p].first_node + k].node] |=
				p < PATHS_SHOWN ? 3 : 1;
	for (size_t i = 0; i < g->ranking->parts.n; i++)
		g->is_wanted[g->ranking->parts.v[i].node] |= 1;
	for (uint32_t i = (uint32_t)g->tree->nodes.n; i-- > 1;)
		if (g->is_wanted[i])
			g->is_wanted[g->tree->nodes.v[i].parent] |= 1;
}

/* How many calls began in all of the recording, from those that began in windows: with the error of 16 parts, or fewer.
 */
static void count_calls(const struct vprof_annotated_tree *t, uint32_t node, struct vprof_latency_figures *f)
{
	double duration = (double)(t->history->end - t->history->begin), mean = 0, sum = 0, error;
	double scale = t->observed_ns ? duration / (double)t->observed_ns : 0;
	const uint32_t *begun = t->begun_blocks + (size_t)node * VPROF_LATENCY_BLOCKS;
	uint32_t n = t->n_blocks;

	for (uint32_t b = 0; b < n; b++)
		mean += (double)begun[b] / n;
	for (uint32_t b = 0; b < n; b++)
		sum += (begun[b] - mean) * (begun[b] - mean);
	error = sqrt(sum * n / (n - 1)) * gsl_cdf_tdist_Qinv(0.025, n - 1);
	f->calls_low = scale * (mean * n - error > 0 ? mean * n - error : 0);
	f->calls_high = scale * (mean * n + error + f->n_unsure);
}

static struct vprof_latency_figures figures(const struct vprof_annotated_tree *t, const struct vprof_latency_context *c)
{
	int has_windows = t->history->windows.n > 0;
	double n = (double)(has_windows ? c->n_begun : c->n);

	return (struct vprof_latency_figures){
		.is_there = 1,
		.n = (double)c->n,
		.calls_low = n,
		.calls_high = n + (double)c->n_unsure,
		.n_cut = (double)c->n_cut,
		.n_unsure = (double)c->n_unsure,
		.low_ns = (double)c->low_ns,
		.high_ns = (double)c->high_ns,
		.own_ns = (double)c->own_ns,
		.own_low_ns = (double)c->own_low_ns,
		.own_high_ns = (double)c->own_high_ns,
		.own_off_ns = (double)c->own_off_ns,
		.own_likely_ns = c->likely_ns,
		.own_idle_ns = (double)c->own_idle_ns,
		.call_low_ns = n > 0 ? (double)c->low_ns / (n + (double)c->n_unsure) : NAN,
		.call_high_ns = n > 0 ? (double)(has_windows ? c->high_ns : c->longest_ns) / n : NAN,
		.slowest_low_ns = (double)c->slowest_ns,
		.slowest_high_ns = (double)c->slowest_longest_ns,
	};
}

static struct vprof_latency_figures side_figures(const struct vprof_paired_tree *tree, int side, uint32_t node)
{
	const struct vprof_annotated_tree *t = tree->sides[side];
	const struct vprof_latency_context *c = t ? vprof_paired_context(tree, side, node) : NULL;
	struct vprof_latency_figures f = { .is_there = 0 };

	if (!c)
		return f;
	f = figures(t, c);
	if (!t->history->windows.n)
		return f;
	count_calls(t, tree->nodes.v[node].side[side], &f);
	if (f.calls_low <= 0 && c->n_cut > c->n_begun) /* longer than windows, and hardly any was seen to begin */
		f.call_low_ns = f.call_high_ns = NAN;
	return f;
}

/* The function's number among the results' names. */
static uint32_t keep_name(struct describing *g, uint32_t function)
{
	const struct vprof_latency_function *f = g->tree->functions.v[function];
	struct vprof_latency_results *r = g->out;

	if (g->name[function] != VPROF_NONE)
		return g->name[function];
	r->names[r->n_names] =
		(struct vprof_latency_name){ vprof_strings_keep(&r->strings, vprof_latency_function_display(f)),
					     vprof_strings_keep(&r->strings, f->file),
					     (enum vprof_latency_results_layer)f->layer };
	if (!r->names[r->n_names].name || !r->names[r->n_names].file)
		return VPROF_NONE;
	return g->name[function] = (uint32_t)r->n_names++;
}

static int describe_nodes(struct describing *g)
{
	struct vprof_latency_results *r = g->out;
	size_t n = 0;

	for (uint32_t i = 1; i < g->tree->nodes.n; i++)
		n += g->is_wanted[i] != 0;
	r->nodes = calloc(n + 1, sizeof *r->nodes);
	r->names = calloc(g->tree->functions.n + 1, sizeof *r->names);
	if (!r->nodes || !r->names)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 1; i < g->tree->nodes.n; i++) {
		const struct vprof_paired_node *from = &g->tree->nodes.v[i];
		uint32_t name = g->is_wanted[i] ? keep_name(g, from->function) : 0;

		if (name == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		if (!g->is_wanted[i])
			continue;
		r->nodes[r->n_nodes] = (struct vprof_latency_node){
			.parent = from->parent ? g->number[from->parent] : VPROF_LATENCY_NONE,
			.function = name,
		};
		for (int side = 0; side < 2; side++)
			r->nodes[r->n_nodes].side[side] = side_figures(g->tree, side, i);
		g->number[i] = (uint32_t)r->n_nodes++;
	}
	return VPROF_OK;
}

static int describe_paths(struct describing *g)
{
	static const enum vprof_latency_path_verdict verdicts[] = {
		[VPROF_LATENCY_CHANGED] = VPROF_LATENCY_PATH_SETTLED,
		[VPROF_LATENCY_UNBOUNDED] = VPROF_LATENCY_PATH_UNBOUNDED,
		[VPROF_LATENCY_VARIES] = VPROF_LATENCY_PATH_VARIES,
	};
	struct vprof_latency_results *r = g->out;

	r->paths = calloc(g->ranking->paths.n + 1, sizeof *r->paths);
	for (size_t i = 0; r->paths && i < g->ranking->paths.n; i++) {
		const struct vprof_ranked_path *from = &g->ranking->paths.v[i];
		struct vprof_latency_path_result *to = &r->paths[r->n_paths++];

		*to = (struct vprof_latency_path_result){ .cost_ns = from->cost,
							  .low_ns = from->low,
							  .high_ns = from->high,
							  .least_ns = from->least,
							  .n_own = g->tree->nodes.v[from->node].depth + 1,
							  .is_own = from->is_own,
							  .share = from->share,
							  .error_ns = from->error,
							  .n_whole = from->n_whole,
							  .verdict = verdicts[from->verdict],
							  .steps = calloc(from->n_nodes + 1, sizeof *to->steps),
							  .parts = calloc(from->n_parts + 1, sizeof *to->parts) };
		if (!to->steps || !to->parts)
			return VPROF_ERR_NOMEM;
		for (; to->n_parts < from->n_parts; to->n_parts++) {
			const struct vprof_ranked_part *part = &g->ranking->parts.v[from->first_part + to->n_parts];

			to->parts[to->n_parts] = (struct vprof_latency_part){ g->number[part->node], part->cost };
		}
		for (; to->n_steps < from->n_nodes; to->n_steps++) {
			const struct vprof_ranked_node *n = &g->ranking->nodes.v[from->first_node + to->n_steps];

			to->steps[to->n_steps] = (struct vprof_latency_step){ g->number[n->node], n->rank, n->cost };
		}
	}
	return r->paths ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* The results' number of each thread of the history: what was seen of it with breaks is one. */
static uint32_t *number_threads(const struct vprof_latency_history *h)
{
	uint32_t *number = malloc((h->threads.n + 1) * sizeof *number), n = 0;

	for (size_t i = 0; number && i < h->threads.n; i++) {
		n += i && !h->threads.v[i].is_continued;
		number[i] = n;
	}
	return number;
}

static int describe_calls(struct describing *g)
{
	const struct vprof_annotated_tree *t = g->tree->sides[1];
	struct vprof_latency_results *r = g->out;
	double begin = (double)t->history->begin;
	uint32_t *threads = number_threads(t->history);

	if (!threads)
		return VPROF_ERR_NOMEM;
	r->calls = calloc(t->kept.n + 1, sizeof *r->calls);
	for (uint32_t i = 1; r->calls && i < g->tree->nodes.n; i++) {
		uint32_t node = g->tree->nodes.v[i].side[1];

		if (!(g->is_wanted[i] & 2) || node == VPROF_NONE)
			continue;
		for (size_t k = t->first_kept[node]; k < t->first_kept[node + 1]; k++) {
			const struct vprof_latency_instance *from = &t->kept.v[k];

			r->calls[r->n_calls++] = (struct vprof_latency_call){ .context = g->number[i],
									      .thread = threads[from->thread],
									      .before_ns = (double)from->before - begin,
									      .first_ns = (double)from->first - begin,
									      .last_ns = (double)from->last - begin,
									      .after_ns = (double)from->after - begin,
									      .is_cut = from->flags != 0,
									      .n_unsure = from->n_unsure };
		}
	}
	free(threads);
	return r->calls ? VPROF_OK : VPROF_ERR_NOMEM;
}

static int describe_threads(struct describing *g)
{
	const struct vprof_latency_history *h = g->tree->sides[1]->history;
	struct vprof_latency_results *r = g->out;
	char name[96];

	r->threads = calloc(h->threads.n + 1, sizeof *r->threads);
	for (size_t i = 0; r->threads && i < h->threads.n; i++) {
		if (i && h->threads.v[i].is_continued)
			continue;
		snprintf(name, sizeof name, "%.64s %u", h->threads.v[i].name, h->threads.v[i].tid);
		r->threads[r->n_threads] = vprof_strings_keep(&r->strings, name);
		if (!r->threads[r->n_threads++])
			return VPROF_ERR_NOMEM;
	}
	return r->threads ? VPROF_OK : VPROF_ERR_NOMEM;
}

static void describe_sides(struct describing *g)
{
	for (int i = 0; i < 2; i++) {
		const struct vprof_annotated_tree *t = g->tree->sides[i];
		struct vprof_latency_side *s = &g->out->sides[i];

		if (!t)
			continue;
		s->duration_ns = (double)(t->history->end - t->history->begin);
		s->n_events = t->history->events.n;
		s->n_windows = t->history->windows.n;
		s->observed_ns = (double)t->observed_ns;
		for (size_t k = 0; k < t->history->threads.n; k++)
			s->n_threads += !k || !t->history->threads.v[k].is_continued;
		s->n_instances = t->n_instances;
		s->n_contexts = t->tree.nodes.n - 1;
		s->total_ns = (double)t->total_ns;
		s->idle_ns = (double)t->idle_ns;
		s->unsure_ns = (double)t->unsure_ns;
		s->n_units = g->ranking->units->n[i];
		s->n_few = g->ranking->units->few[i];
	}
}

/* Which calls are the unit, if they receive requests: their functions, outermost first. */
static int describe_unit(struct describing *g)
{
	uint32_t node = g->ranking->units->node, nodes[VPROF_LATENCY_DEPTH_MAX], n = 0;
	struct vprof_text text = VPROF_TEXT_INIT;

	g->out->ratio = g->ranking->ratio;
	g->out->spread = g->ranking->spread;
	if (node == VPROF_NONE)
		return VPROF_OK;
	for (; node && n < VPROF_LATENCY_DEPTH_MAX; node = g->tree->nodes.v[node].parent)
		nodes[n++] = node;
	for (uint32_t i = n; i-- > 0;)
		vprof_text_addf(
			&text, "%s%s", i + 1 < n ? " > " : "",
			vprof_latency_function_display(g->tree->functions.v[g->tree->nodes.v[nodes[i]].function]));
	g->out->unit_path = text.failed ? NULL : vprof_strings_keep(&g->out->strings, text.s);
	g->out->unit = vprof_strings_keep(
		&g->out->strings,
		vprof_latency_function_display(g->tree->functions.v[g->tree->nodes.v[nodes[0]].function]));
	vprof_text_release(&text);
	return g->out->unit && g->out->unit_path ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_latency_describe(struct vprof_latency_results *out, const struct vprof_paired_tree *t,
			   const struct vprof_latency_ranking *ranking, struct vprof_error *err)
{
	struct describing g = { .out = out, .tree = t, .ranking = ranking };
	int ret = VPROF_ERR_NOMEM;

	out->is_comparison = t->sides[0] != NULL;
	g.is_wanted = calloc(t->nodes.n, 1);
	g.number = calloc(t->nodes.n, sizeof *g.number);
	g.name = malloc((t->functions.n + 1) * sizeof *g.name);
	if (g.is_wanted && g.number && g.name) {
		memset(g.name, 0xff, (t->functions.n + 1) * sizeof *g.name);
		want(&g);
		ret = describe_nodes(&g);
	}
	if (!ret)
		ret = describe_paths(&g);
	if (!ret)
		ret = describe_calls(&g);
	if (!ret)
		ret = describe_threads(&g);
	if (!ret)
		ret = describe_unit(&g);
	describe_sides(&g);
	free(g.is_wanted);
	free(g.number);
	free(g.name);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
