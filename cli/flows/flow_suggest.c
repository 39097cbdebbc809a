/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_suggest.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS 3 /* of calls beneath one that is made under a lock */

/* ---- who runs under a lock ---- */

static int by_usr(const void *a, const void *b)
{
	const struct vprof_facts_function *f = *(const struct vprof_facts_function *const *)a;
	const struct vprof_facts_function *g = *(const struct vprof_facts_function *const *)b;

	return strcmp(f->usr, g->usr);
}

static int has_lock(const struct vprof_facts *facts, uint32_t id)
{
	size_t low = 0, high = facts->n_guarded;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (facts->guarded[middle].function < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < facts->n_guarded && facts->guarded[low].function == id; low++)
		if (facts->guarded[low].is_locked)
			return 1;
	return 0;
}

/* Functions that are called under a lock, and those that they call without taking one themselves. */
static int mark_called(const struct vprof_discovery *d, unsigned char *under)
{
	const struct vprof_facts *facts = d->facts;
	const struct vprof_facts_function **sorted = calloc(facts->n_functions + 1, sizeof *sorted);

	if (!sorted)
		return -1;
	for (size_t i = 0; i < facts->n_functions; i++)
		sorted[i] = &facts->functions[i];
	qsort(sorted, facts->n_functions, sizeof *sorted, by_usr);
	for (size_t i = 0; i < facts->n_guarded; i++) {
		const struct vprof_facts_function wanted = { .usr = facts->guarded[i].usr }, *key = &wanted;
		const struct vprof_facts_function **found;

		if (facts->guarded[i].kind != VPROF_GUARDED_CALL || !facts->guarded[i].is_locked)
			continue;
		found = bsearch(&key, sorted, facts->n_functions, sizeof *sorted, by_usr);
		if (found)
			under[*found - facts->functions] = 1;
	}
	free(sorted);
	for (unsigned level = 1; level <= LEVELS; level++)
		for (size_t i = 0; i < facts->n_functions; i++)
			for (uint32_t k = d->graph->first[i];
			     under[i] == level && !has_lock(facts, facts->functions[i].id) &&
			     k < d->graph->first[i + 1];
			     k++)
				if (d->graph->edges[k] < facts->n_functions && !under[d->graph->edges[k]])
					under[d->graph->edges[k]] = (unsigned char)(level + 1);
	return 0;
}

/* ---- what fits ---- */

static int is_guarded(const struct vprof_discovery *d, const struct vprof_facts_guarded *g, const unsigned char *under)
{
	const struct vprof_facts_function *f = vprof_facts_function(d->facts, g->function);

	return f && (g->is_locked || under[f - d->facts->functions]);
}

/* Does the read take out what the store put in, and can no run see it? */
static const char *fits(const struct vprof_facts_guarded *store, const struct vprof_facts_guarded *load)
{
	if (load->kind == VPROF_GUARDED_COPY)
		return !strcmp(store->type, "pointer") ? "member" : NULL;
	if (load->kind != VPROF_GUARDED_LOAD || !strcmp(store->type, "pointer") || strcmp(store->type, load->type) != 0)
		return NULL;
	return store->type;
}

static int waits(const struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	size_t i = (size_t)(f - d->facts->functions);

	return d->distance[VPROF_ROLE_SIGNAL][i] <= 1 || d->distance[VPROF_ROLE_WAIT][i] <= 1;
}

static int add(struct vprof_flow_suggestions *out, struct vprof_discovery *d, const struct vprof_facts_guarded *store,
	       const struct vprof_facts_guarded *load, const char *type)
{
	const struct vprof_facts_function *from = vprof_facts_function(d->facts, store->function);
	const struct vprof_facts_function *to = vprof_facts_function(d->facts, load->function);
	struct vprof_flow_suggestion *slot;

	for (size_t i = 0; i < out->n; i++)
		if (out->list[i].from == from && out->list[i].to == to && !strcmp(out->list[i].type, type)) {
			out->list[i].n_objects++;
			return 0;
		}
	slot = vprof_arena_push(d->arena, &out->list, &out->n, sizeof *slot);
	if (!slot)
		return -1;
	*slot = (struct vprof_flow_suggestion){ .from = from,
						.to = to,
						.object = load->kind == VPROF_GUARDED_COPY ? load->object :
											     store->object,
						.type = type,
						.item = store->value,
						.taken = load->value,
						.from_line = store->line,
						.to_line = load->line,
						.n_objects = 1,
						.is_waited_for = waits(d, from) || waits(d, to) };
	return 0;
}

static int by_object(const void *a, const void *b)
{
	const struct vprof_facts_guarded *x = *(const struct vprof_facts_guarded *const *)a;
	const struct vprof_facts_guarded *y = *(const struct vprof_facts_guarded *const *)b;
	int order = strcmp(x->usr, y->usr);

	return order ? order : x->function != y->function ? (x->function < y->function ? -1 : 1) : x->line - y->line;
}

static int by_waiting(const void *a, const void *b)
{
	const struct vprof_flow_suggestion *x = a, *y = b;

	if (x->is_waited_for != y->is_waited_for)
		return y->is_waited_for - x->is_waited_for;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

/* Rows of one variable or member, from `rows` on. */
static int add_object(struct vprof_flow_suggestions *out, struct vprof_discovery *d,
		      const struct vprof_facts_guarded *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && rows[i]->kind == VPROF_GUARDED_STORE; k++) {
			const char *type = rows[k]->function != rows[i]->function ? fits(rows[i], rows[k]) : NULL;

			if (type && add(out, d, rows[i], rows[k], type))
				return -1;
		}
	return 0;
}

int vprof_flow_suggest(struct vprof_flow_suggestions *out, struct vprof_discovery *d)
{
	const struct vprof_facts *facts = d->facts;
	const struct vprof_facts_guarded **rows = calloc(facts->n_guarded + 1, sizeof *rows);
	unsigned char *under = calloc(facts->n_functions + 1, 1);
	size_t n = 0;
	int rc = rows && under ? mark_called(d, under) : -1;

	*out = (struct vprof_flow_suggestions){ NULL };
	for (size_t i = 0; !rc && i < facts->n_guarded; i++)
		if (facts->guarded[i].kind != VPROF_GUARDED_CALL && is_guarded(d, &facts->guarded[i], under))
			rows[n++] = &facts->guarded[i];
	if (n)
		qsort(rows, n, sizeof *rows, by_object);
	for (size_t i = 0, next; !rc && i < n; i = next) {
		for (next = i + 1; next < n && !strcmp(rows[next]->usr, rows[i]->usr); next++)
			;
		rc = add_object(out, d, rows + i, next - i);
	}
	if (out->n)
		qsort(out->list, out->n, sizeof *out->list, by_waiting);
	free(rows);
	free(under);
	return rc;
}
