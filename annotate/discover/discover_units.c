/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: units of work that no loop waits for, known by what begins and ends them, by turns that threads take, and
 * by names. Names alone count where they stand in a loop.
 */
#include "annotate/discover/discover_units.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/code/opposites.h"
#include "annotate/discover/draft.h"

#define TURN_CALLS_MIN 12
#define GUARD_CALLS_MAX 3

static const char *const part_words[] = { "sub", "nested", "block", "command", "savepoint", "prepare" };

/* How many functions call it, or call a caller of it. */
static uint32_t callers_near(struct vprof_discovery *d, uint32_t f)
{
	const struct vprof_callgraph *g = d->graph;
	uint32_t n = 0, i;

	for (i = g->rfirst[f]; i < g->rfirst[f + 1]; i++)
		n += 1 + g->rfirst[g->redges[i] + 1] - g->rfirst[g->redges[i]];
	return n;
}

static int is_called_by_name(struct vprof_discovery *d, uint32_t f)
{
	size_t i;

	for (i = 0; i < d->facts->n_calls; i++)
		if (d->facts->calls[i].callee_function == f + 1)
			return 1;
	return 0;
}

/* A parser that meets "begin" notes it; nothing runs yet. */
static int takes_parser(struct vprof_discovery *d, uint32_t f)
{
	static const char *const words[] = { "parse", "lexer" };
	size_t n, i;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, &d->facts->functions[f], &n);

	for (i = 0; i < n; i++)
		if (list[i].is_pointer && vprof_name_has_part(list[i].type, words, VPROF_LENGTH(words)))
			return 1;
	return 0;
}

static int calls_named(struct vprof_discovery *d, const struct vprof_facts_function *f, const char *word)
{
	uint32_t i;

	for (i = 0; i < f->n_calls; i++)
		if (vprof_name_has_part(vprof_facts_call_of(d->facts, f, i)->callee, &word, 1))
			return 1;
	return 0;
}

/* A pair of few calls, one of which locks and the other unlocks, only guards something: cache_start_read,
 * cache_end_read. */
static int is_lock_pair(struct vprof_discovery *d, const struct vprof_facts_function *begin,
			const struct vprof_facts_function *end)
{
	return begin->n_calls <= GUARD_CALLS_MAX && end->n_calls <= GUARD_CALLS_MAX && calls_named(d, begin, "lock") &&
	       calls_named(d, end, "unlock");
}

/* What a program begins and commits or ends by name, wherever that happens: StartTransaction and CommitTransaction.
 * Callbacks only hear of what others begin. */
void vprof_observe_units(struct vprof_ranking *r)
{
	static const struct vprof_opposite words[] = { { "start", "commit" }, { "begin", "commit" },
						       { "start", "end" },    { "begin", "end" },
						       { "start", "finish" }, { "begin", "finish" } };
	static const char *const units[] = { "transaction", "request", "trx", "txn", "query" };
	struct vprof_discovery *d = r->d;
	uint32_t f, n_callers;

	for (f = 0; f < d->facts->n_functions; f++) {
		const struct vprof_facts_function *function = &d->facts->functions[f], *end;

		if (function->is_tiny || (!vprof_name_has_part(function->name, units, VPROF_LENGTH(units)) &&
					  !vprof_name_has_word(function->name, "trans")))
			continue;
		end = vprof_opposite_find(d, function, words, VPROF_LENGTH(words), 0);
		if (!end || !end->instrumentable || end->is_tiny || end->file != function->file ||
		    !vprof_request_end_id(d, function, end) || !is_called_by_name(d, f) || takes_parser(d, f) ||
		    is_lock_pair(d, function, end))
			continue;
		r->all[f].end = (uint32_t)(end - d->facts->functions) + 1;
		n_callers = callers_near(d, f);
		vprof_ranking_observe(
			r, f,
			(vprof_name_has_part(function->name, part_words, VPROF_LENGTH(part_words)) ? 20 : 42) +
				(n_callers > 50 ? 20 :
				 n_callers > 10 ? 10 :
						  0),
			vprof_arena_printf(d->arena, "begins what %s (%s) ends; %u callers, counting theirs", end->name,
					   vprof_discovery_where(d, end), n_callers));
	}
}

/* Does this call of `f` wait, signal, ...: itself, or one level down? */
static int does(struct vprof_discovery *d, uint32_t f, const struct vprof_facts_call *call, int role, const char *word)
{
	if (call->callee_function)
		return d->distance[role][call->callee_function - 1] == 0;
	return d->distance[role][f] == 0 && call->kind != VPROF_CALL_POINTER && strstr(call->callee, word);
}

static int is_lock(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	const char *name = vprof_discovery_name(d, f);
	size_t i;

	for (i = 0; i < d->draft->n_sync; i++)
		if (d->draft->sync[i].acquire && !strcmp(d->draft->sync[i].acquire, name))
			return 1;
	return 0;
}

/* Work that threads do one after the other: wait for one's turn, do it, wake the next. A bounded queue's push does the
 * same and little else. */
void vprof_observe_turns(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t f, i;

	for (f = 0; f < d->facts->n_functions; f++) {
		const struct vprof_facts_function *function = &d->facts->functions[f];
		const struct vprof_facts_call *waits = NULL, *wakes = NULL;

		for (i = 0; i < function->n_calls && function->n_calls >= TURN_CALLS_MIN; i++) {
			const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, function, i);

			if (call->in_loop && does(d, f, call, VPROF_ROLE_WAIT, "wait"))
				waits = call;
			else if (does(d, f, call, VPROF_ROLE_SIGNAL, "signal") ||
				 does(d, f, call, VPROF_ROLE_SIGNAL, "notify"))
				wakes = call;
		}
		if (waits && wakes && !d->is_entry[f] && r->chain[f] && !is_lock(d, function))
			vprof_ranking_observe(
				r, f, 30,
				vprof_arena_printf(d->arena,
						   "waits for its turn in %s (line %d) and wakes the next with %s",
						   waits->callee, waits->line, wakes->callee));
	}
}

/* Where nothing polls or receives (a batch program, a driver loop): names, if they are called in a loop; surest in the
 * loop that a thread or main is made of. */
void vprof_observe_names(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t caller, f;
	size_t i;
	int rank;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		if (!call->in_loop || !call->callee_function)
			continue;
		f = call->callee_function - 1;
		vprof_request_id(d, &d->facts->functions[f], &rank);
		caller = vprof_facts_caller(r->d->facts, call);
		if (r->all[f].n_evidence || vprof_name_count_work_words(vprof_ranking_name(r, f)) + (rank == 3) < 2)
			continue;
		if (caller != UINT32_MAX && d->is_entry[caller])
			vprof_ranking_observe(
				r, f, 40,
				vprof_arena_printf(
					d->arena,
					"its name suggests it, and it is called in the loop of %s, where %s starts",
					vprof_ranking_name(r, caller),
					strcmp(vprof_ranking_name(r, caller), "main") ? "a thread" : "the program"));
		else
			vprof_ranking_observe(r, f, 10, "its name suggests it, and it is called in a loop");
	}
}
