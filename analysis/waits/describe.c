/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See describe.h. Names are made unique by the role, then by the tid, then by the number of the vertex. */
#include "analysis/waits/describe.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

_Static_assert((int)VPROF_WAITS_PARTY_KINDS == (int)VPROF_WAITS_ENTITY_KINDS, "the same kinds in the same order");
_Static_assert((int)VPROF_WAITS_ENDINGS == (int)VPROF_WAITS_ENDS, "the same ends in the same order");

/* How many vertices have a thread's name, and how many of these its role, too. */
struct namesakes {
	uint32_t n_of_name, n_of_role;
};

static void name_party(char *to, size_t size, const struct vprof_waits_vertex *v, const struct vprof_waits_entity *e,
		       uint32_t vertex, struct namesakes n)
{
	const char *role = e->role ? e->role : "";
	int is_main = !strcmp(role, "main"); /* as every process's first */
	size_t stem = strlen(e->name);
	char nameless[32];

	snprintf(nameless, sizeof nameless, "thread %u", e->tid); /* as the input calls one of which nothing was told */
	while (stem > 1 && isdigit((unsigned char)e->name[stem - 1]))
		stem--;
	if (n.n_of_name < 2 && v->n_entities > 1 && !e->n_merged && stem < strlen(e->name))
		snprintf(to, size, "%.*s*", (int)stem, e->name); /* a pool's */
	else if (n.n_of_name < 2 && *role && !is_main && !strcmp(e->name, nameless))
		snprintf(to, size, "%s (%.60s)", e->name, role);
	else if (n.n_of_name < 2)
		snprintf(to, size, "%s", e->name);
	else if (*role && n.n_of_role < 2)
		snprintf(to, size, "%.100s (%.60s)", e->name, role);
	else if (e->tid)
		snprintf(to, size, *role && !is_main ? "%.100s %u (%.60s)" : "%.100s %u", e->name, e->tid, role);
	else
		snprintf(to, size, "%.100s #%u", e->name, vertex + 1);
}

static int describe_party(struct vprof_waits_results *r, const struct vprof_waits *w, uint32_t vertex,
			  struct namesakes namesakes)
{
	const struct vprof_waits_vertex *v = &w->graph.vertices.v[vertex];
	const struct vprof_waits_entity *e = &w->history->entities.v[v->entity];
	struct vprof_waits_party *p = &r->parties[vertex];
	char name[200];

	name_party(name, sizeof name, v, e, vertex, namesakes);
	*p = (struct vprof_waits_party){
		.name = vprof_strings_keep(&r->strings, name),
		.role = vprof_strings_keep(&r->strings, e->role ? e->role : ""),
		.kind = (enum vprof_waits_party_kind)v->kind,
		.n_threads = v->n_entities,
		.is_outside = v->kind == VPROF_WAITS_THREAD && e->is_foreign,
		.running_ns = (double)v->running_ns,
		.runnable_ns = (double)v->runnable_ns,
		.blocked_ns = (double)v->blocked_ns,
		.unknown_ns = (double)v->unknown_ns,
	};
	r->n_threads += v->kind == VPROF_WAITS_THREAD ? v->n_entities : 0;
	return p->name && p->role ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* number[n vertices], n_of[names]: counts which vertices have the same text. */
static int count_same(const struct vprof_waits *w, int with_role, uint32_t *number, uint32_t *n_of)
{
	struct vprof_strings texts = { 0 };
	struct vprof_text text = VPROF_TEXT_INIT;
	int ret = VPROF_OK;

	for (size_t i = 0; i < w->graph.vertices.n && !ret; i++) {
		const struct vprof_waits_entity *e = &w->history->entities.v[w->graph.vertices.v[i].entity];

		vprof_text_clear(&text);
		vprof_text_addf(&text, with_role ? "%s (%s)" : "%s", e->name, e->role ? e->role : "");
		number[i] = text.failed ? VPROF_NONE : vprof_strings_number(&texts, text.s);
		if (number[i] == VPROF_NONE)
			ret = VPROF_ERR_NOMEM;
		else
			n_of[number[i]]++;
	}
	vprof_text_release(&text);
	vprof_strings_release(&texts);
	return ret;
}

static int describe_parties(struct vprof_waits_results *r, const struct vprof_waits *w)
{
	size_t n = w->graph.vertices.n;
	uint32_t *counts = calloc(4 * n + 1, sizeof *counts);
	uint32_t *name = counts, *n_of_name = counts + n, *role = counts + 2 * n, *n_of_role = counts + 3 * n;
	int ret = counts ? count_same(w, 0, name, n_of_name) : VPROF_ERR_NOMEM;

	ret = ret ? ret : count_same(w, 1, role, n_of_role);
	for (uint32_t i = 0; i < n && !ret; i++) {
		r->n_parties++;
		ret = describe_party(r, w, i, (struct namesakes){ n_of_name[name[i]], n_of_role[role[i]] });
	}
	free(counts);
	return ret;
}

static const char *stack_text(struct vprof_waits_results *r, const struct vprof_waits *w, uint32_t stack)
{
	return stack < w->history->stacks.n ? vprof_strings_keep(&r->strings, w->history->stacks.v[stack]) : "";
}

/* Reasons of an edge are sorted by weight, but may share their texts: those are one. */
static int describe_stacks(struct vprof_waits_results *r, const struct vprof_waits *w, const struct vprof_waits_edge *e,
			   struct vprof_waits_arc *a)
{
	a->stacks = calloc(VPROF_WAITS_STACKS_SHOWN, sizeof *a->stacks);
	if (!a->stacks)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < e->n_reasons; i++) {
		const struct vprof_waits_reason *reason = &w->reasons.v.v[w->graph.by_edge.v[e->first_reason + i]];
		const char *wait = stack_text(r, w, reason->wait_stack), *waker = stack_text(r, w, reason->waker_stack);
		size_t k = 0;

		if (!wait || !waker)
			return VPROF_ERR_NOMEM;
		if (!*wait && !*waker)
			continue;
		while (k < a->n_stacks && (strcmp(a->stacks[k].wait, wait) || strcmp(a->stacks[k].waker, waker)))
			k++;
		if (k == VPROF_WAITS_STACKS_SHOWN)
			continue;
		if (k == a->n_stacks)
			a->stacks[a->n_stacks++] = (struct vprof_waits_stack){ wait, waker, 0, 0 };
		a->stacks[k].n += reason->n_waits;
		a->stacks[k].weight_ns += (double)reason->weight_ns;
	}
	return VPROF_OK;
}

static int describe_arcs(struct vprof_waits_results *r, const struct vprof_waits *w)
{
	size_t next = 0;

	for (uint32_t i = 0; i < w->graph.edges.n; i++) {
		const struct vprof_waits_edge *e = &w->graph.edges.v[i];

		r->arcs[i] = (struct vprof_waits_arc){ .from = e->from,
						       .to = e->to,
						       .is_idle = e->is_idle,
						       .is_sleep = vprof_waits_is_sleep(&w->graph, i),
						       .n_waits = e->n_waits,
						       .own_ns = (double)e->own_ns,
						       .weight_ns = (double)e->weight_ns,
						       .halved = NAN,
						       .gone = NAN,
						       .saved = NAN };
		r->n_arcs++;
		if (next < w->estimates.v.n && w->estimates.v.v[next].edge == i) {
			r->arcs[i].halved = w->estimates.v.v[next].halved;
			r->arcs[i].gone = w->estimates.v.v[next].gone;
			r->arcs[i].saved = w->estimates.v.v[next++].saved;
		}
		if (describe_stacks(r, w, e, &r->arcs[i]))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

static int describe_group(struct vprof_waits_group *g, const struct vprof_waits *w, const struct vprof_waits_knot *k)
{
	*g = (struct vprof_waits_group){
		.verdict = k->end == VPROF_WAITS_BACKGROUND ? VPROF_WAITS_ASIDE :
			   k->is_sink			    ? VPROF_WAITS_SINK :
							      VPROF_WAITS_KNOT,
		.ending = (enum vprof_waits_ending)k->end,
		.busy_ns = (double)k->busy_ns,
		.runnable_ns = (double)k->runnable_ns,
		.parties = calloc(k->n_vertices + 1, sizeof *g->parties),
		.arcs = calloc(k->n_edges + 1, sizeof *g->arcs),
		.n_parties = k->n_vertices,
		.n_arcs = k->n_edges,
	};
	if (!g->parties || !g->arcs)
		return VPROF_ERR_NOMEM;
	memcpy(g->parties, w->knots.vertices.v + k->first_vertex, k->n_vertices * sizeof *g->parties);
	if (k->n_edges)
		memcpy(g->arcs, w->knots.edges.v + k->first_edge, k->n_edges * sizeof *g->arcs);
	return VPROF_OK;
}

static double group_weight(const struct vprof_waits_results *r, const struct vprof_waits_group *g)
{
	double sum = g->busy_ns * 1e-3; /* of sinks, the busiest first */

	for (size_t i = 0; i < g->n_arcs; i++)
		sum += r->arcs[g->arcs[i]].weight_ns;
	return sum;
}

static void sort_groups(struct vprof_waits_results *r)
{
	for (size_t i = 1; i < r->n_groups; i++) {
		struct vprof_waits_group g = r->groups[i];
		size_t at = i;

		for (; at; at--) {
			const struct vprof_waits_group *before = &r->groups[at - 1];
			int was = before->verdict == VPROF_WAITS_ASIDE, is = g.verdict == VPROF_WAITS_ASIDE;

			if (was < is || (was == is && group_weight(r, before) >= group_weight(r, &g)))
				break;
			r->groups[at] = *before;
		}
		r->groups[at] = g;
	}
}

int vprof_waits_describe(struct vprof_waits_results *r, const struct vprof_waits *w,
			 const struct vprof_waits_options *options, struct vprof_error *err)
{
	int ret;

	r->duration_ns = (double)w->graph.length_ns;
	r->n_circular = w->reasons.n_circular;
	r->n_cpus = w->history->n_cpus;
	r->threshold = options->knots.threshold;
	r->fidelity = w->estimates.fidelity;
	r->replayed = w->estimates.replayed;
	r->cpus_simulated = w->estimates.cpus == VPROF_WAITS_CPUS_SIMULATED;
	r->parties = calloc(w->graph.vertices.n + 1, sizeof *r->parties);
	r->arcs = calloc(w->graph.edges.n + 1, sizeof *r->arcs);
	r->groups = calloc(w->knots.knots.n + 1, sizeof *r->groups);
	ret = r->parties && r->arcs && r->groups ? VPROF_OK : VPROF_ERR_NOMEM;
	ret = ret ? ret : describe_parties(r, w);
	ret = ret ? ret : describe_arcs(r, w);
	for (size_t k = 0; k < w->knots.knots.n && !ret; k++) {
		r->n_groups++;
		ret = describe_group(&r->groups[k], w, &w->knots.knots.v[k]);
	}
	if (!ret)
		sort_groups(r);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
