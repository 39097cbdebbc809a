/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: which of a project's programs is the server.
 *
 * A project often builds its server together with clients and tools. Each main() is followed over calls by
 * name; where one of them reaches listen() or accept(), what only the others reach belongs to a client or a
 * tool. What no main() reaches so (callbacks, loadable modules) is left undecided.
 */
#include <stdlib.h>
#include <string.h>

#include "annotate/discover/discovery.h"

enum { NOW = 1, SERVER = 2, OTHER = 4 };

static const struct vprof_facts_call *call_of(const struct vprof_facts *facts, uint32_t f, uint32_t i)
{
	return &facts->calls[facts->calls_by_caller[facts->functions[f].first_call + i]];
}

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
			const struct vprof_facts_call *call = call_of(facts, caller, i);
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

void find_other_programs(struct discovery *d, uint8_t *is_other)
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
