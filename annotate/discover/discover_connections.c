/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: servers with a thread for each connection.
 *
 * The thread's function, or one that it calls, has a loop; in it, or in what it calls, something is received first and
 * then something larger is called, which works on one request. The receive may be several calls away, the last one
 * through a pointer (plain sockets, TLS and pipes behind one interface).
 *
 * Where the thread's function has no loop, and calls one that receives outside of any loop, that one is the whole of
 * a connection: the thread serves it and ends.
 */
#include "annotate/discover/discover_connections.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 2	     /* calls between the thread's function and the loop */
#define RECEIVE_LEVELS_MAX 8 /* calls between the loop and the receive */
#define WORK_CALLS_MIN 8     /* a function with fewer calls is not work on a request */

enum { NEVER = 255 };

struct served {
	struct vprof_discovery *d;
	uint8_t *receives;  /* [n_functions] calls to the receive, NEVER: none */
	uint32_t *by;	    /* [n_functions] */
	const char **types; /* of what receives and has its address taken */
	size_t n_types;
};

/* The types of functions that receive themselves, or one call away, and whose address is taken. */
static void find_receiver_types(struct served *s)
{
	const struct vprof_facts *facts = s->d->facts;
	const char **type;
	size_t i, j;

	for (i = 0; i < facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &facts->addresses[i];

		if (!a->function || s->receives[a->function - 1] > 1 || !*a->signature ||
		    !strncmp(a->signature, "void (", 6))
			continue;
		for (j = 0; j < s->n_types && strcmp(s->types[j], a->signature); j++)
			;
		type = j < s->n_types ? NULL : vprof_arena_push(s->d->arena, &s->types, &s->n_types, sizeof *type);
		if (type)
			*type = a->signature;
	}
}

static int may_receive(const struct served *s, const struct vprof_facts_call *call)
{
	size_t i;

	for (i = 0; i < s->n_types && call->kind == VPROF_CALL_POINTER; i++)
		if (!strcmp(s->types[i], call->signature))
			return 1;
	return 0;
}

static void find_receivers(struct served *s)
{
	const struct vprof_facts *facts = s->d->facts;
	const uint8_t *direct = s->d->distance[VPROF_ROLE_RECEIVE];
	uint32_t f, i;
	int round;

	for (f = 0; f < facts->n_functions; f++)
		s->receives[f] = direct[f] <= 1 ? direct[f] : NEVER;
	find_receiver_types(s);
	for (f = 0; f < facts->n_functions; f++)
		for (i = 0; i < facts->functions[f].n_calls && s->receives[f] == NEVER; i++)
			if (may_receive(s, vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i)))
				s->receives[f] = 2;
	for (round = 1; round < RECEIVE_LEVELS_MAX; round++)
		for (f = 0; f < facts->n_functions; f++)
			for (i = 0; i < facts->functions[f].n_calls && s->receives[f] > round + 1; i++) {
				uint32_t callee = vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i)
							  ->callee_function;

				if (callee && s->receives[callee - 1] == round)
					s->receives[f] = (uint8_t)(round + 1);
			}
}

/* The line of the first call that leads to the receive, or 0. */
static int receive_line(const struct served *s, uint32_t f, int in_loop)
{
	uint32_t i, callee;
	int line = 0;

	for (i = 0; i < s->d->facts->functions[f].n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i);

		callee = call->callee_function;
		if ((!in_loop || call->in_loop) && callee && s->receives[callee - 1] < s->receives[f] &&
		    (!line || call->line < line))
			line = call->line;
	}
	return line;
}

static void mark_work(struct served *s, uint32_t f, int in_loop)
{
	const struct vprof_facts *facts = s->d->facts;
	int line = receive_line(s, f, in_loop);
	uint32_t i, callee;

	for (i = 0; line && i < facts->functions[f].n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i);

		callee = call->callee_function;
		if (call->line > line && (!in_loop || call->in_loop) && callee && callee - 1 != f &&
		    facts->functions[callee - 1].n_calls >= WORK_CALLS_MIN && !s->by[callee - 1])
			s->by[callee - 1] = f + 1;
	}
}

/* The loops of `f` and, while levels are left, of what it calls. */
static void follow_thread(struct served *s, uint32_t f, int levels)
{
	uint32_t i, callee;

	mark_work(s, f, 1);
	for (i = 0; i < s->d->facts->functions[f].n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i);

		callee = call->callee_function;
		if (!callee || callee - 1 == f || s->receives[callee - 1] == NEVER)
			continue;
		if (call->in_loop)
			mark_work(s, callee - 1, 0);
		else if (levels)
			follow_thread(s, callee - 1, levels - 1);
	}
}

/* Functions that are all that the thread `f` does, and that receive once. */
static void mark_whole(const struct served *s, uint32_t f, uint32_t *whole)
{
	const struct vprof_facts *facts = s->d->facts;
	uint32_t i, j, callee;

	for (i = 0; i < facts->functions[f].n_calls; i++)
		if (vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i)->in_loop)
			return;
	for (i = 0; i < facts->functions[f].n_calls; i++) {
		callee = vprof_facts_call_of(s->d->facts, &s->d->facts->functions[f], i)->callee_function;
		if (!callee || callee - 1 == f || s->receives[callee - 1] == NEVER ||
		    facts->functions[callee - 1].n_calls < WORK_CALLS_MIN)
			continue;
		for (j = 0; j < facts->functions[callee - 1].n_calls; j++) {
			const struct vprof_facts_call *inner =
				vprof_facts_call_of(s->d->facts, &s->d->facts->functions[callee - 1], j);

			if (!inner->in_loop && inner->callee_function &&
			    s->receives[inner->callee_function - 1] < s->receives[callee - 1])
				whole[callee - 1] = f + 1;
		}
	}
}

/* by[n_functions], all 0 before; where a thread that serves a connection calls it after a receive: index + 1 of the
 * caller. whole[n_functions], likewise: the thread's index + 1 where it is all that the thread does. */
static void find_served(struct vprof_discovery *d, uint32_t *by, uint32_t *whole)
{
	size_t n = d->facts->n_functions, f;
	struct served s = { .d = d, .receives = malloc(n + 1), .by = by };

	if (!s.receives) {
		d->arena->failed = 1;
		return;
	}
	find_receivers(&s);
	for (f = 0; f < n; f++)
		if (d->is_entry[f] && strcmp(d->facts->functions[f].name, "main")) {
			follow_thread(&s, (uint32_t)f, LEVELS_MAX);
			mark_whole(&s, (uint32_t)f, whole);
		}
	free(s.receives);
}

void vprof_observe_connections(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t *by = calloc(d->facts->n_functions + 1, sizeof *by), f;
	uint32_t *whole = calloc(d->facts->n_functions + 1, sizeof *whole);

	if (by && whole)
		find_served(d, by, whole);
	else
		d->arena->failed = 1;
	for (f = 0; by && whole && f < d->facts->n_functions; f++) {
		if (whole[f])
			vprof_ranking_observe(
				r, f, 45,
				vprof_arena_printf(
					d->arena,
					"all that the thread %s does; it receives outside a loop, so each connection has a thread",
					vprof_ranking_name(r, whole[f] - 1)));
		if (!by[f] || r->chain[f] == 0)
			continue;
		r->chain[f] = 0;
		vprof_ranking_observe(
			r, f, 30,
			vprof_arena_printf(d->arena,
					   "called by %s after a receive, in the loop of a connection's thread",
					   vprof_ranking_name(r, by[f] - 1)));
	}
	free(by);
	free(whole);
}
