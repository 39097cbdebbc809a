/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: which of a project's programs is the server.
 *
 * A project often builds its server together with clients and tools. Each main() is followed over calls by
 * name; where one of them reaches listen() or accept(), what only the others reach belongs to a client or a
 * tool. What no main() reaches so (callbacks, loadable modules) is left undecided.
 */
#include "annotate/discover/discover_programs.h"

#include <stdlib.h>
#include <string.h>

enum { NOW = 1, SERVER = 2, OTHER = 4 };

/* Marks `f` and what it calls by name, and so on, with NOW. `stack` holds as many functions as there are. Does one
 * accept connections? */
static int mark_called(const struct vprof_facts *facts, uint8_t *marks, uint32_t *stack, uint32_t f)
{
	int accepts = 0;
	size_t n = 0;

	marks[f] |= NOW;
	stack[n++] = f;
	while (n) {
		uint32_t caller = stack[--n], i;

		for (i = 0; i < facts->functions[caller].n_calls; i++) {
			const struct vprof_facts_call *call = vprof_facts_call_of(facts, &facts->functions[caller], i);
			uint32_t callee = call->callee_function;

			accepts |= !callee && (!strncmp(call->callee, "accept", 6) || !strcmp(call->callee, "listen"));
			if (callee && !(marks[callee - 1] & NOW)) {
				marks[callee - 1] |= NOW;
				stack[n++] = callee - 1;
			}
		}
	}
	return accepts;
}

/* is_other[n_functions], all 0 before: 1 where only programs that accept no connections call it, in a project with one
 * that does. */
static void find_other_programs(struct vprof_discovery *d, uint8_t *is_other)
{
	const struct vprof_facts *facts = d->facts;
	uint32_t *stack = calloc(facts->n_functions + 1, sizeof *stack), f, k;
	int n_servers = 0, accepts;

	if (!stack) {
		d->arena->failed = 1;
		return;
	}
	for (f = 0; f < facts->n_functions; f++) {
		if (strcmp(facts->functions[f].name, "main"))
			continue;
		accepts = mark_called(facts, is_other, stack, f);
		n_servers += accepts;
		for (k = 0; k < facts->n_functions; k++)
			if (is_other[k] & NOW)
				is_other[k] = (uint8_t)((is_other[k] & ~NOW) | (accepts ? SERVER : OTHER));
	}
	for (k = 0; k < facts->n_functions; k++)
		is_other[k] = n_servers && is_other[k] == OTHER;
	free(stack);
}

/* Files that connect and never accept belong to clients and load generators. */
static void lower_clients(struct vprof_ranking *r)
{
	const struct vprof_facts *facts = r->d->facts;
	uint8_t *connects = calloc(facts->n_functions + 1, 1); /* by the first function of a file */
	size_t i, j;

	for (i = 0; connects && i < facts->n_calls; i++) {
		uint32_t caller = facts->calls[i].callee_function ? UINT32_MAX :
								    vprof_facts_caller(r->d->facts, &facts->calls[i]);

		if (caller != UINT32_MAX && !strcmp(facts->calls[i].callee, "connect"))
			connects[caller] |= 1;
		if (caller != UINT32_MAX && !strncmp(facts->calls[i].callee, "accept", 6))
			connects[caller] |= 2;
	}
	for (i = 0; connects && i < facts->n_functions; i++) {
		uint8_t both = 0;

		if (connects[i] != 1)
			continue;
		for (j = 0; j < facts->n_functions; j++)
			if (facts->functions[j].file == facts->functions[i].file)
				both |= connects[j] & 3;
		for (j = 0; both == 1 && j < facts->n_functions; j++) {
			if (facts->functions[j].file == facts->functions[i].file && !(connects[j] & 4)) {
				connects[j] |= 4;
				r->all[j].score -= 25;
			}
		}
	}
	if (!connects)
		r->d->arena->failed = 1;
	free(connects);
}

/* Functions that only clients and tools call. */
static void lower_tools(struct vprof_ranking *r)
{
	size_t n = r->d->facts->n_functions, i;
	uint8_t *is_other = calloc(n + 1, 1);

	if (is_other)
		find_other_programs(r->d, is_other);
	else
		r->d->arena->failed = 1;
	for (i = 0; is_other && i < n; i++)
		r->all[i].score -= is_other[i] ? 30 : 0;
	free(is_other);
}

void vprof_ranking_lower_other_programs(struct vprof_ranking *r)
{
	lower_clients(r);
	lower_tools(r);
}
