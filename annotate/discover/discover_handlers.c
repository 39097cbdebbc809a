/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/discover/discover_handlers.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/discover/draft.h"

#define LOOP_DISTANCE 2
#define BELOW_MAX 3
#define CHILD_DISTANCE 3 /* calls from the work of a forked child to its receive */
#define TARGETS_MAX 16

static const char *const callback_registrars[] = { "event_set",
						   "event_assign",
						   "event_new",
						   "evhttp_set_cb",
						   "evhttp_set_gencb",
						   "evconnlistener_new",
						   "evconnlistener_new_bind",
						   "bufferevent_setcb",
						   "ev_io_init",
						   "ev_init",
						   "uv_listen",
						   "uv_read_start",
						   "uv_poll_start",
						   "uv_queue_work",
						   "MHD_start_daemon",
						   "g_io_add_watch" };

static void observe_dispatchers(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t f;
	size_t i;
	int round;
	static const double points[VPROF_DISTANCE_MAX + 1] = { 0, 28, 24, 20, 16, 12 };
	uint8_t *distance = d->distance[VPROF_ROLE_DISPATCH];

	for (f = 0; f < d->facts->n_functions; f++) {
		if (d->dispatch_call[f]) {
			const struct vprof_dispatch_table *t = &d->tables[d->dispatch_table[f]];
			double points = t->n > 100 ? 32 : t->n > 10 ? 24 : 12;

			vprof_ranking_observe(
				r, f, t->takes_request ? points + 14 : points - 6,
				vprof_arena_printf(d->arena, "calls one of the %zu functions in %s through %s", t->n,
						   t->variable, d->facts->calls[d->dispatch_call[f] - 1].callee));
		}
	}
	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = call->callee_function ? vprof_facts_caller(r->d->facts, call) : UINT32_MAX;

		if (caller == UINT32_MAX)
			continue;
		f = call->callee_function - 1;
		for (round = 1; round <= VPROF_DISTANCE_MAX; round++)
			if (distance[caller] == round && distance[f] == round - 1 &&
			    r->all[caller].score < points[round])
				vprof_ranking_observe(r, caller, points[round] - r->all[caller].score,
						      vprof_arena_printf(d->arena,
									 "leads to the dispatcher by calling %s",
									 vprof_ranking_name(r, f)));
	}
}

/* Handlers: called through a pointer, in a loop, by a function that polls. */
static void observe_handlers(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t targets[256];
	size_t i, j, n;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = call->kind == VPROF_CALL_POINTER && call->in_loop ?
					  vprof_facts_caller(r->d->facts, call) :
					  UINT32_MAX;

		if (caller == UINT32_MAX || d->distance[VPROF_ROLE_POLL][caller] > LOOP_DISTANCE - 1)
			continue;
		n = vprof_facts_pointer_targets(d->facts, call->signature, targets, VPROF_LENGTH(targets));
		for (j = 0; j < n && j < VPROF_LENGTH(targets); j++) {
			if (r->chain[targets[j]] == 0)
				continue;
			r->chain[targets[j]] = 0;
			vprof_ranking_observe(r, targets[j], 20,
					      vprof_arena_printf(d->arena,
								 "handler: called through %s by %s, which polls",
								 call->callee, vprof_ranking_name(r, caller)));
		}
	}
	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (!a->function || a->use != VPROF_ADDRESS_ARGUMENT ||
		    !vprof_name_in(a->target, callback_registrars, VPROF_LENGTH(callback_registrars)) ||
		    r->chain[a->function - 1] == 0)
			continue;
		r->chain[a->function - 1] = 0;
		vprof_ranking_observe(
			r, a->function - 1, 20,
			vprof_arena_printf(d->arena, "handler: registered with %s at line %d", a->target, a->line));
	}
}

/* A handler that calls through a pointer may call handlers that were registered with some function: there are layers
 * between the loop and the program's own callbacks. */
static void observe_inner_handlers(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint8_t *layer = calloc(d->facts->n_functions + 1, 1);
	uint32_t caller, target;
	size_t i, j;

	for (i = 0; layer && i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		caller = call->callee_function ? vprof_facts_caller(r->d->facts, call) : UINT32_MAX;
		if (caller != UINT32_MAX && r->chain[caller] == 0)
			layer[caller] = layer[call->callee_function - 1] = 1;
	}
	for (i = 0; layer && i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		caller = call->kind == VPROF_CALL_POINTER ? vprof_facts_caller(r->d->facts, call) : UINT32_MAX;
		if (caller == UINT32_MAX || !layer[caller])
			continue;
		for (j = 0; j < d->facts->n_addresses; j++) {
			const struct vprof_facts_address *a = &d->facts->addresses[j];

			target = a->function ? a->function - 1 : 0;
			if (!a->function || a->use != VPROF_ADDRESS_ARGUMENT || strcmp(a->signature, call->signature) ||
			    !vprof_name_sounds_like_request(a->signature) || r->chain[target] == 0)
				continue;
			r->chain[target] = 0;
			vprof_ranking_observe(r, target, 24,
					      vprof_arena_printf(d->arena, "handler: registered with %s", a->target));
		}
	}
	if (!layer)
		d->arena->failed = 1;
	free(layer);
}

static int is_queue_pop(struct vprof_ranking *r, const char *callee)
{
	size_t i;

	for (i = 0; i < r->d->draft->n_queues; i++)
		if (!strcmp(r->d->draft->queues[i].dequeue, callee))
			return 1;
	return 0;
}

/* What a loop of this function waits for, or NULL. */
static const char *loop_source(struct vprof_ranking *r, uint32_t f)
{
	struct vprof_discovery *d = r->d;
	const struct vprof_facts_function *function = &d->facts->functions[f];
	uint32_t i;

	for (i = 0; i < function->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, function, i);
		uint32_t callee = call->callee_function;

		if (!call->in_loop)
			continue;
		if (is_queue_pop(r, call->callee))
			return call->callee;
		if (callee &&
		    (d->distance[VPROF_ROLE_POLL][callee - 1] <= 1 || d->distance[VPROF_ROLE_RECEIVE][callee - 1] == 0))
			return call->callee;
		if (!callee && (!strncmp(call->callee, "accept", 6) || !strncmp(call->callee, "recv", 4) ||
				!strcmp(call->callee, "read") || !strcmp(call->callee, "pthread_cond_wait") ||
				!strcmp(call->callee, "mq_receive") || !strcmp(call->callee, "epoll_wait") ||
				!strcmp(call->callee, "poll") || !strcmp(call->callee, "select") ||
				!strcmp(call->callee, "sem_wait")))
			return call->callee;
	}
	return NULL;
}

/* In the loop of a thread or main: what is called beside the call that waits. */
static void observe_loops(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint32_t f, i, targets[64];
	size_t n, j;

	for (f = 0; f < d->facts->n_functions; f++) {
		const struct vprof_facts_function *function = &d->facts->functions[f];
		const char *source = loop_source(r, f);
		double points = d->is_entry[f] ? 30 : 10;

		for (i = 0; source && i < function->n_calls; i++) {
			const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, function, i);

			if (!call->in_loop || !strcmp(call->callee, source))
				continue;
			n = 0;
			if (call->callee_function) {
				targets[0] = call->callee_function - 1;
				n = 1;
			} else if (call->kind == VPROF_CALL_POINTER) {
				n = vprof_facts_pointer_targets(d->facts, call->signature, targets,
								VPROF_LENGTH(targets));
			}
			for (j = 0; j < n && j < VPROF_LENGTH(targets) && targets[j] != f; j++) {
				if (r->chain[targets[j]] <= !d->is_entry[f])
					continue;
				r->chain[targets[j]] = !d->is_entry[f];
				vprof_ranking_observe(r, targets[j], strstr(source, "cond_") ? points / 2 : points,
						      vprof_arena_printf(d->arena,
									 "called in the loop of %s that waits in %s",
									 function->name, source));
			}
		}
	}
}

/* A loop that forks: what it calls next, and what receives, is the work of the child. */
static void observe_children(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;

	for (size_t i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *fork = &d->facts->calls[i];
		uint32_t parent = fork->callee_function || !fork->in_loop || strcmp(fork->callee, "fork") ?
					  UINT32_MAX :
					  vprof_facts_caller(d->facts, fork);
		const struct vprof_facts_function *function = &d->facts->functions[parent == UINT32_MAX ? 0 : parent];

		for (uint32_t k = 0; parent != UINT32_MAX && k < function->n_calls; k++) {
			const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, function, k);
			uint32_t f = call->callee_function - 1;

			if (!call->callee_function || f == parent || call->begin < fork->end || !call->in_loop ||
			    d->distance[VPROF_ROLE_RECEIVE][f] > CHILD_DISTANCE || r->all[f].is_child)
				continue;
			r->chain[f] = 0;
			r->all[f].is_child = 1;
			if (d->facts->functions[f].file == function->file)
				r->all[f].id = r->all[f].end_id = "getpid()";
			vprof_ranking_observe(r, f, 40,
					      vprof_arena_printf(d->arena,
								 "%s calls it after it forks: a process for each",
								 vprof_ranking_name(r, parent)));
		}
	}
}

/* Functions handed to a thread pool: their address is an argument of something that enqueues. */
static void observe_tasks(struct vprof_ranking *r)
{
	static const char *const pools[] = { "submit",	      "enqueue",  "addtask",	  "addwork",
					     "addjob",	      "post",	  "schedule",	  "queuework",
					     "threadpooladd", "pushtask", "dispatchasync" };
	struct vprof_discovery *d = r->d;
	char name[128];
	size_t i, j;

	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (!a->function || a->use != VPROF_ADDRESS_ARGUMENT || d->is_entry[a->function - 1])
			continue;
		vprof_name_normalise(name, sizeof name, a->target);
		for (j = 0; j < VPROF_LENGTH(pools) && !strstr(name, pools[j]); j++)
			;
		if (j == VPROF_LENGTH(pools) || r->chain[a->function - 1] == 0)
			continue;
		r->chain[a->function - 1] = 0;
		vprof_ranking_observe(r, a->function - 1, 25,
				      vprof_arena_printf(d->arena, "a task: handed to %s", a->target));
	}
}

void vprof_observe_handlers(struct vprof_ranking *r)
{
	observe_dispatchers(r);
	observe_handlers(r);
	observe_inner_handlers(r);
	observe_loops(r);
	observe_children(r);
	observe_tasks(r);
}

/* Remembers for every function the best caller of this round. */
static void offer_caller(struct vprof_ranking *r, uint32_t *best, uint32_t caller, uint32_t f, int round)
{
	if (r->chain[f] > round && (!best[f] || r->all[best[f] - 1].score < r->all[caller].score))
		best[f] = caller + 1;
}

/* Callees of handlers work for the same request, a little less surely with every level. */
static void observe_callees(struct vprof_ranking *r)
{
	static const double points[] = { 0, 12, 8, 4 };
	struct vprof_discovery *d = r->d;
	uint32_t *best = calloc(d->facts->n_functions + 1, sizeof *best), targets[TARGETS_MAX], caller, f;
	size_t i, n;
	int round;

	for (round = 1; best && round <= BELOW_MAX; round++) {
		memset(best, 0, d->facts->n_functions * sizeof *best);
		for (i = 0; i < d->facts->n_calls; i++) {
			const struct vprof_facts_call *call = &d->facts->calls[i];

			caller = vprof_facts_caller(r->d->facts, call);
			if (caller == UINT32_MAX || r->chain[caller] != round - 1)
				continue;
			if (call->callee_function)
				offer_caller(r, best, caller, call->callee_function - 1, round);
			n = call->kind == VPROF_CALL_POINTER && vprof_name_sounds_like_request(call->signature) ?
				    vprof_facts_pointer_targets(d->facts, call->signature, targets, TARGETS_MAX) :
				    0;
			while (n && n <= TARGETS_MAX)
				offer_caller(r, best, caller, targets[--n], round);
		}
		for (f = 0; f < d->facts->n_functions; f++) {
			if (!best[f])
				continue;
			r->chain[f] = (uint8_t)round;
			vprof_ranking_observe(
				r, f, points[round],
				vprof_arena_printf(d->arena, "called by %s", vprof_ranking_name(r, best[f] - 1)));
		}
	}
	if (!best)
		d->arena->failed = 1;
	free(best);
}

/* A handler that calls something in a loop takes several requests from one delivery: one call is one request.
 */
static void observe_repeats(struct vprof_ranking *r)
{
	struct vprof_discovery *d = r->d;
	uint8_t *seen = calloc(d->facts->n_functions + 1, 1);
	uint32_t caller, f;
	size_t i;

	for (i = 0; seen && i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		caller = call->in_loop && call->callee_function ? vprof_facts_caller(r->d->facts, call) : UINT32_MAX;
		if (caller == UINT32_MAX || r->chain[caller] || r->chain[call->callee_function - 1] != 1)
			continue;
		f = call->callee_function - 1;
		if (!seen[f] && d->facts->functions[f].n_calls > 1) /* not a setter or getter */
			vprof_ranking_observe(r, f, 15, "in its loop, once for each request");
		seen[f] = 1;
	}
	if (!seen)
		d->arena->failed = 1;
	free(seen);
}

void vprof_observe_callees(struct vprof_ranking *r)
{
	observe_callees(r);
	observe_repeats(r);
}
