/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: which functions handle one request.
 *
 * A request is handled where the program turns from waiting for many things to working on one: in a function
 * called through a pointer from a loop that polls, in what follows a receive or dequeue in one loop, in a
 * dispatcher that picks a function from a table, and in the callers that lead to it. Each such observation
 * adds to a score, with its words; names only break ties. The weights were set by looking at Redis and
 * memcached.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/discover/ranking.h"

#define PROPOSALS_MAX 12
#define LOOP_DISTANCE 2
#define BELOW_MAX 3
#define TRAFFIC_MAX 3
#define TARGETS_MAX 16

static const char *const bad_words[] = { "init",     "free",   "create", "close",   "destroy", "error", "log",
					 "print",    "help",   "config", "test",    "load",    "save",	"cron",
					 "stat",     "usage",  "parse",	 "version", "alloc",   "debug", "setup",
					 "shutdown", "signal", "timer",	 "clock" };
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
static const char *const outside_folders[] = { "/deps/", "/vendor/", "/third_party/", "/thirdparty/", "/external/",
					       "/test/", "/tests/",  "/contrib/",     "/benchmark",   "/examples/" };

void observe(struct ranking *r, uint32_t f, double points, const char *what)
{
	struct candidate *c = &r->all[f];
	size_t n = strlen(c->why);

	c->score += points;
	c->n_evidence++;
	if (n + strlen(what) + 3 < sizeof c->why && !strstr(c->why, what))
		snprintf(c->why + n, sizeof c->why - n, "%s%s", n ? "; " : "", what);
}

uint32_t caller_of(struct ranking *r, const struct vprof_facts_call *call)
{
	const struct vprof_facts_function *f = vprof_facts_function(r->d->facts, call->caller);

	return f ? (uint32_t)(f - r->d->facts->functions) : UINT32_MAX;
}

const char *name_of(struct ranking *r, uint32_t f)
{
	return r->d->facts->functions[f].name;
}

/* --- observations --- */

static void observe_dispatchers(struct ranking *r)
{
	struct discovery *d = r->d;
	uint32_t f;
	size_t i;
	int round;
	static const double points[DISTANCE_MAX + 1] = { 0, 28, 24, 20, 16, 12 };
	uint8_t *distance = d->distance[TRAIT_DISPATCH];

	for (f = 0; f < d->facts->n_functions; f++) {
		if (d->dispatch_call[f]) {
			const struct dispatch *t = &d->tables[d->dispatch_table[f]];
			double points = t->n > 100 ? 32 : t->n > 10 ? 24 : 12;

			observe(r, f, t->takes_request ? points + 14 : points - 6,
				vprof_arena_printf(d->arena, "calls one of the %zu functions in %s through %s", t->n,
						   t->variable, d->facts->calls[d->dispatch_call[f] - 1].callee));
		}
	}
	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = call->callee_function ? caller_of(r, call) : UINT32_MAX;

		if (caller == UINT32_MAX)
			continue;
		f = call->callee_function - 1;
		for (round = 1; round <= DISTANCE_MAX; round++)
			if (distance[caller] == round && distance[f] == round - 1 &&
			    r->all[caller].score < points[round])
				observe(r, caller, points[round] - r->all[caller].score,
					vprof_arena_printf(d->arena, "leads to the dispatch by calling %s",
							   name_of(r, f)));
	}
}

/* Handlers: called through a pointer, in a loop, by a function that polls. */
static void observe_handlers(struct ranking *r)
{
	struct discovery *d = r->d;
	uint32_t targets[256];
	size_t i, j, n;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = call->kind == VPROF_CALL_POINTER && call->in_loop ? caller_of(r, call) : UINT32_MAX;

		if (caller == UINT32_MAX || d->distance[TRAIT_POLL][caller] > LOOP_DISTANCE - 1)
			continue;
		n = vprof_facts_pointer_targets(d->facts, call->signature, targets, LENGTH(targets));
		for (j = 0; j < n && j < LENGTH(targets); j++) {
			if (r->chain[targets[j]] == 0)
				continue;
			r->chain[targets[j]] = 0;
			observe(r, targets[j], 20,
				vprof_arena_printf(d->arena, "handler: called through %s by %s, which polls",
						   call->callee, name_of(r, caller)));
		}
	}
	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (!a->function || strcmp(a->how, "argument") ||
		    !name_in(a->target, callback_registrars, LENGTH(callback_registrars)) ||
		    r->chain[a->function - 1] == 0)
			continue;
		r->chain[a->function - 1] = 0;
		observe(r, a->function - 1, 20,
			vprof_arena_printf(d->arena, "handler: registered with %s at line %d", a->target, a->line));
	}
}

/* A handler that calls through a pointer hands on to handlers that were registered with some function: layers
 * between the loop and the program's own callbacks. */
static void observe_inner_handlers(struct ranking *r)
{
	struct discovery *d = r->d;
	uint8_t *layer = calloc(d->facts->n_functions + 1, 1);
	uint32_t caller, target;
	size_t i, j;

	for (i = 0; layer && i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		caller = call->callee_function ? caller_of(r, call) : UINT32_MAX;
		if (caller != UINT32_MAX && r->chain[caller] == 0)
			layer[caller] = layer[call->callee_function - 1] = 1;
	}
	for (i = 0; layer && i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		caller = call->kind == VPROF_CALL_POINTER ? caller_of(r, call) : UINT32_MAX;
		if (caller == UINT32_MAX || !layer[caller])
			continue;
		for (j = 0; j < d->facts->n_addresses; j++) {
			const struct vprof_facts_address *a = &d->facts->addresses[j];

			target = a->function ? a->function - 1 : 0;
			if (!a->function || strcmp(a->how, "argument") || strcmp(a->signature, call->signature) ||
			    !sounds_like_request(a->signature) || r->chain[target] == 0)
				continue;
			r->chain[target] = 0;
			observe(r, target, 24, vprof_arena_printf(d->arena, "handler: registered with %s", a->target));
		}
	}
	if (!layer)
		d->arena->failed = 1;
	free(layer);
}

static int is_queue_pop(struct ranking *r, const char *callee)
{
	size_t i;

	for (i = 0; i < r->d->draft->n_queues; i++)
		if (!strcmp(r->d->draft->queues[i].dequeue, callee))
			return 1;
	return 0;
}

/* What a loop of this function waits for, or NULL. */
static const char *loop_source(struct ranking *r, uint32_t f)
{
	struct discovery *d = r->d;
	const struct vprof_facts_function *function = &d->facts->functions[f];
	uint32_t i;

	for (i = 0; i < function->n_calls; i++) {
		const struct vprof_facts_call *call =
			&d->facts->calls[d->facts->calls_by_caller[function->first_call + i]];
		uint32_t callee = call->callee_function;

		if (!call->in_loop)
			continue;
		if (is_queue_pop(r, call->callee))
			return call->callee;
		if (callee && (d->distance[TRAIT_POLL][callee - 1] <= 1 || d->distance[TRAIT_RECEIVE][callee - 1] == 0))
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
static void observe_loops(struct ranking *r)
{
	struct discovery *d = r->d;
	uint32_t f, i, targets[64];
	size_t n, j;

	for (f = 0; f < d->facts->n_functions; f++) {
		const struct vprof_facts_function *function = &d->facts->functions[f];
		const char *source = loop_source(r, f);
		double points = d->is_entry[f] ? 30 : 10;

		for (i = 0; source && i < function->n_calls; i++) {
			const struct vprof_facts_call *call =
				&d->facts->calls[d->facts->calls_by_caller[function->first_call + i]];

			if (!call->in_loop || !strcmp(call->callee, source))
				continue;
			n = 0;
			if (call->callee_function) {
				targets[0] = call->callee_function - 1;
				n = 1;
			} else if (call->kind == VPROF_CALL_POINTER) {
				n = vprof_facts_pointer_targets(d->facts, call->signature, targets, LENGTH(targets));
			}
			for (j = 0; j < n && j < LENGTH(targets) && targets[j] != f; j++) {
				if (r->chain[targets[j]] <= !d->is_entry[f])
					continue;
				r->chain[targets[j]] = !d->is_entry[f];
				observe(r, targets[j], strstr(source, "cond_") ? points / 2 : points,
					vprof_arena_printf(d->arena, "called in the loop of %s that waits in %s",
							   function->name, source));
			}
		}
	}
}

/* Functions handed to a thread pool: their address is an argument of something that enqueues. */
static void observe_tasks(struct ranking *r)
{
	static const char *const pools[] = { "submit",	      "enqueue",  "addtask",	  "addwork",
					     "addjob",	      "post",	  "schedule",	  "queuework",
					     "threadpooladd", "pushtask", "dispatchasync" };
	struct discovery *d = r->d;
	char name[128];
	size_t i, j;

	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (!a->function || strcmp(a->how, "argument") || d->is_entry[a->function - 1])
			continue;
		normalise_name(name, sizeof name, a->target);
		for (j = 0; j < LENGTH(pools) && !strstr(name, pools[j]); j++)
			;
		if (j == LENGTH(pools) || r->chain[a->function - 1] == 0)
			continue;
		r->chain[a->function - 1] = 0;
		observe(r, a->function - 1, 25, vprof_arena_printf(d->arena, "a task: handed to %s", a->target));
	}
}

/* Remembers for every function the best caller of this round. */
static void offer_caller(struct ranking *r, uint32_t *best, uint32_t caller, uint32_t f, int round)
{
	if (r->chain[f] > round && (!best[f] || r->all[best[f] - 1].score < r->all[caller].score))
		best[f] = caller + 1;
}

/* Callees of handlers work for the same request, a little less surely with every level. */
static void observe_callees(struct ranking *r)
{
	static const double points[] = { 0, 12, 8, 4 };
	struct discovery *d = r->d;
	uint32_t *best = calloc(d->facts->n_functions + 1, sizeof *best), targets[TARGETS_MAX], caller, f;
	size_t i, n;
	int round;

	for (round = 1; best && round <= BELOW_MAX; round++) {
		memset(best, 0, d->facts->n_functions * sizeof *best);
		for (i = 0; i < d->facts->n_calls; i++) {
			const struct vprof_facts_call *call = &d->facts->calls[i];

			caller = caller_of(r, call);
			if (caller == UINT32_MAX || r->chain[caller] != round - 1)
				continue;
			if (call->callee_function)
				offer_caller(r, best, caller, call->callee_function - 1, round);
			n = call->kind == VPROF_CALL_POINTER && sounds_like_request(call->signature) ?
				    vprof_facts_pointer_targets(d->facts, call->signature, targets, TARGETS_MAX) :
				    0;
			while (n && n <= TARGETS_MAX)
				offer_caller(r, best, caller, targets[--n], round);
		}
		for (f = 0; f < d->facts->n_functions; f++) {
			if (!best[f])
				continue;
			r->chain[f] = (uint8_t)round;
			observe(r, f, points[round],
				vprof_arena_printf(d->arena, "called by %s", name_of(r, best[f] - 1)));
		}
	}
	if (!best)
		d->arena->failed = 1;
	free(best);
}

/* A handler that calls something in a loop takes several requests from one delivery: one call is one request.
 */
static void observe_repeats(struct ranking *r)
{
	struct discovery *d = r->d;
	uint8_t *seen = calloc(d->facts->n_functions + 1, 1);
	uint32_t caller, f;
	size_t i;

	for (i = 0; seen && i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		caller = call->in_loop && call->callee_function ? caller_of(r, call) : UINT32_MAX;
		if (caller == UINT32_MAX || r->chain[caller] || r->chain[call->callee_function - 1] != 1)
			continue;
		f = call->callee_function - 1;
		if (!seen[f] && d->facts->functions[f].n_calls > 1) /* not what only sets or asks something */
			observe(r, f, 15, "in its loop, once for each");
		seen[f] = 1;
	}
	if (!seen)
		d->arena->failed = 1;
	free(seen);
}

/* Files that connect and never accept belong to clients and load generators. */
static void lower_clients(struct ranking *r)
{
	const struct vprof_facts *facts = r->d->facts;
	uint8_t *connects = calloc(facts->n_functions + 1, 1); /* by the first function of a file */
	size_t i, j;

	for (i = 0; connects && i < facts->n_calls; i++) {
		uint32_t caller = facts->calls[i].callee_function ? UINT32_MAX : caller_of(r, &facts->calls[i]);

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
static void lower_other_programs(struct ranking *r)
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

/* What a thread that serves a connection does for each request. */
static void observe_served(struct ranking *r)
{
	struct discovery *d = r->d;
	uint32_t *by = calloc(d->facts->n_functions + 1, sizeof *by), f;
	uint32_t *whole = calloc(d->facts->n_functions + 1, sizeof *whole);

	if (by && whole)
		find_served(d, by, whole);
	else
		d->arena->failed = 1;
	for (f = 0; by && whole && f < d->facts->n_functions; f++) {
		if (whole[f])
			observe(r, f, 45,
				vprof_arena_printf(d->arena,
						   "all that the thread %s does; it receives outside of a loop: "
						   "a thread for each connection",
						   name_of(r, whole[f] - 1)));
		if (!by[f] || r->chain[f] == 0)
			continue;
		r->chain[f] = 0;
		observe(r, f, 30,
			vprof_arena_printf(d->arena,
					   "called by %s, which receives first, in the loop of a connection's thread",
					   name_of(r, by[f] - 1)));
	}
	free(by);
	free(whole);
}

static void observe_traffic(struct ranking *r)
{
	struct discovery *d = r->d;
	uint32_t f;

	for (f = 0; f < d->facts->n_functions; f++) {
		uint8_t in = d->distance[TRAIT_RECEIVE][f], out = d->distance[TRAIT_SEND][f];

		if (!r->all[f].n_evidence)
			continue;
		if (in <= 1)
			observe(r, f, in ? 6 : 8, "it receives");
		if (in <= TRAFFIC_MAX && out <= TRAFFIC_MAX)
			observe(r, f, 8, "it reaches both a receive and a send");
		if (d->distance[TRAIT_POLL][f] <= 1) {
			r->all[f].score -= 40; /* the loop itself: it never ends */
		}
	}
}

/* --- the expression that identifies the request --- */

/* *rank: 3 looks like a request, 2 a pointer, 1 a descriptor, 0 none. */
const char *id_of(struct discovery *d, const struct vprof_facts_function *f, int *rank)
{
	size_t n, i;
	const struct parameter *list = parameters_of(d, f, &n), *best = NULL;

	*rank = 0;
	for (i = 0; i < n; i++) {
		int worth = 0;

		if (list[i].is_pointer && !strstr(list[i].type, "char"))
			worth = !mentions(list[i].type, "void") && (sounds_like_request(list[i].name) ||
								    sounds_like_request(list[i].type)) ?
					3 :
					2;
		else if (list[i].is_integer &&
			 (mentions(list[i].name, "fd") || strstr(list[i].name, "sock") || strstr(list[i].name, "id")))
			worth = 1;
		if (worth > *rank) {
			*rank = worth;
			best = &list[i];
		}
	}
	if (!best && is_method(f)) {
		*rank = 2;
		return "this";
	}
	return best ? best->name : "1";
}

/* The expression at `end` for what id_of says at `begin`, or NULL: it is not known there. */
const char *end_id_of(struct discovery *d, const struct vprof_facts_function *begin,
		      const struct vprof_facts_function *end)
{
	size_t n, n_end, i, j;
	int rank;
	const char *id = id_of(d, begin, &rank);
	const struct parameter *list = parameters_of(d, begin, &n), *at_end = parameters_of(d, end, &n_end);

	for (i = 0; i < n && strcmp(list[i].name, id); i++)
		;
	if (i == n)
		return id; /* "1", "this" */
	for (j = 0; j < n_end && strcmp(at_end[j].type, list[i].type); j++)
		;
	return j < n_end ? at_end[j].name : NULL;
}

/* --- ranking --- */

/* C++'s operator+= and the like. */
static int is_operator(const char *name)
{
	return !strncmp(name, "operator", 8) && name[8] && !isalnum((unsigned char)name[8]) && name[8] != '_';
}

static void weigh_names(struct ranking *r)
{
	struct discovery *d = r->d;
	uint32_t f, n_callers;
	int rank, words;
	size_t i;

	for (f = 0; f < d->facts->n_functions; f++) {
		const struct vprof_facts_function *function = &d->facts->functions[f];
		const struct vprof_facts_file *file = vprof_facts_file(d->facts, function->file);
		struct candidate *c = &r->all[f];

		if (!c->n_evidence)
			continue;
		id_of(d, function, &rank);
		c->score += rank == 3 ? 15 : rank == 2 ? 3 : rank == 1 ? 3 : -15;
		if (rank == 3)
			observe(r, f, 0, "a parameter looks like a request or connection");
		words = good_words_in(function->name);
		c->score += words > 1 ? 12 : 8 * words;
		/* where several ways to the same work meet; but what everybody calls is no request */
		n_callers = d->graph->rfirst[f + 1] - d->graph->rfirst[f];
		c->score += n_callers >= 3 && n_callers <= 6 ? 5 : n_callers > 20 ? -10 : 0;
		if (has_word(function->name, bad_words, LENGTH(bad_words)))
			c->score -= 25;
		c->score -= function->is_tiny ? 20 : 0;
		c->score -= d->is_entry[f] ? 60 : 0;
		c->score -= is_operator(function->name) ? 60 : 0;
		for (i = 0; file && i < LENGTH(outside_folders); i++)
			if (strstr(file->path + (strncmp(file->path, d->facts->root, strlen(d->facts->root)) ?
							 0 :
							 strlen(d->facts->root)),
				   outside_folders[i])) {
				c->score -= 30;
				break;
			}
		if (!function->instrumentable)
			c->score = -1000;
	}
}

struct place_in_order {
	double score;
	uint32_t f;
};

static int by_score(const void *pa, const void *pb)
{
	const struct place_in_order *a = pa, *b = pb;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->f < b->f ? -1 : a->f > b->f;
}

/* What is committed may be rolled back instead: the function that ends it then, beside the one that ends it well. */
static void propose_given_up(struct discovery *d, const struct vprof_facts_function *begin,
			     const struct vprof_facts_function *end, struct vprof_interval_proposal *p)
{
	static const struct opposite words[] = {
		{ "commit", "abort" }, { "commit", "rollback" }, { "end", "abort" },
		{ "end", "cancel" },   { "finish", "abort" },	 { "finish", "cancel" }
	};
	const struct vprof_facts_function *other = find_opposite(d, end, words, LENGTH(words), 0);

	if (!other || !other->instrumentable || other->file != end->file || other == begin)
		return;
	p->given_up_id = end_id_of(d, begin, other);
	p->given_up = p->given_up_id ? public_name(d, other) : NULL;
}

static void propose(struct ranking *r, const struct place_in_order *best)
{
	struct discovery *d = r->d;
	const struct vprof_facts_function *f = &d->facts->functions[best->f];
	const struct candidate *c = &r->all[best->f];
	struct vprof_interval_proposal *p =
		vprof_arena_push(d->arena, &d->draft->intervals, &d->draft->n_intervals, sizeof *p);
	int rank;

	if (!p)
		return;
	p->function = public_name(d, f);
	p->where = where_of(d, f);
	p->id = id_of(d, f, &rank);
	p->id = c->id ? c->id : p->id;
	p->end = c->end ? public_name(d, &d->facts->functions[c->end - 1]) : NULL;
	p->end_id = c->end_id ? c->end_id : c->end ? end_id_of(d, f, &d->facts->functions[c->end - 1]) : NULL;
	p->is_left = c->is_left;
	if (c->end && !c->end_id)
		propose_given_up(d, f, &d->facts->functions[c->end - 1], p);
	p->why = vprof_arena_copy(d->arena, c->why, strlen(c->why));
	p->score = c->score;
	p->confidence = c->score >= 50 && rank ? "high" : c->score >= 30 ? "medium" : "low";
}

/* A dispatcher tells what kind of request it is: the nearest one that the best proposal reaches. */
static void propose_type(struct ranking *r, uint32_t best)
{
	struct discovery *d = r->d;
	uint32_t f = best, i, next;
	const char *arrow;
	int length;

	while (d->distance[TRAIT_DISPATCH][f] && d->distance[TRAIT_DISPATCH][f] != FAR) {
		const struct vprof_facts_function *function = &d->facts->functions[f];

		for (next = f, i = 0; i < function->n_calls; i++) {
			const struct vprof_facts_call *call =
				&d->facts->calls[d->facts->calls_by_caller[function->first_call + i]];

			if (call->callee_function &&
			    d->distance[TRAIT_DISPATCH][call->callee_function - 1] < d->distance[TRAIT_DISPATCH][f])
				next = call->callee_function - 1;
		}
		if (next == f)
			return;
		f = next;
	}
	if (d->distance[TRAIT_DISPATCH][f])
		return;
	{
		const char *callee = d->facts->calls[d->dispatch_call[f] - 1].callee;

		arrow = strstr(callee, "->") ? callee + strlen(callee) : NULL;
		while (arrow && arrow > callee && strncmp(arrow, "->", 2))
			arrow--;
		length = arrow ? (int)(arrow - callee) : (int)strlen(callee);
		d->draft->type_function = public_name(d, &d->facts->functions[f]);
		d->draft->type_hint =
			vprof_arena_printf(d->arena,
					   "it calls %s: if %.*s has a name or a number that tells requests apart, add "
					   "\"type\": {\"function\": \"%s\", \"value\": \"...\"}",
					   callee, length, callee, d->draft->type_function);
	}
}

/* The code itself says where intervals begin: a draft must not say it again. */
static void find_annotated_code(struct discovery *d)
{
	const struct vprof_facts_function *f;
	size_t i;

	for (i = 0; i < d->facts->n_calls && !d->draft->annotated_in; i++) {
		f = strcmp(d->facts->calls[i].callee, "vprof_begin") ?
			    NULL :
			    vprof_facts_function(d->facts, d->facts->calls[i].caller);
		if (f)
			d->draft->annotated_in =
				vprof_arena_printf(d->arena, "%s (%s)", public_name(d, f), where_of(d, f));
	}
}

void find_intervals(struct discovery *d)
{
	struct ranking r = { d };
	struct place_in_order *order;
	size_t i, n = d->facts->n_functions;

	r.all = calloc(n + 1, sizeof *r.all);
	r.chain = vprof_arena_alloc(d->arena, n + 1);
	order = calloc(n + 1, sizeof *order);
	if (!r.all || !r.chain || !order) {
		d->arena->failed = 1;
		goto out;
	}
	memset(r.chain, FAR, n + 1);
	find_annotated_code(d);
	observe_dispatchers(&r);
	observe_handlers(&r);
	observe_inner_handlers(&r);
	observe_loops(&r);
	observe_tasks(&r);
	observe_served(&r);
	observe_units(&r);
	observe_turns(&r);
	observe_callees(&r);
	observe_repeats(&r);
	observe_replies(&r);
	lower_clients(&r);
	lower_other_programs(&r);
	observe_traffic(&r);
	observe_names(&r);
	weigh_names(&r);
	for (i = 0; i < n; i++)
		order[i] = (struct place_in_order){ r.all[i].n_evidence ? r.all[i].score : -1000, (uint32_t)i };
	qsort(order, n, sizeof *order, by_score);
	for (i = 0; i < n && i < PROPOSALS_MAX && order[i].score > 5; i++)
		propose(&r, &order[i]);
	if (d->draft->n_intervals)
		propose_type(&r, order[0].f);
out:
	free(r.all);
	free(order);
}
