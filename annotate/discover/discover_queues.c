/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pair of functions whose names are opposites on the same type, one side of which signals or waits, is a queue. After
 * a discovery run, what it found comes first, and such pairs are only suggestions; among them queues of numbers, which
 * no run can see. */
#include "annotate/discover/discover_queues.h"

#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/code/opposites.h"
#include "annotate/discover/draft.h"

#define NOTIFIER_CALLS_MAX 8 /* what calls more than this does not only push and tell */

static const struct vprof_opposite queue_words[] = {
	{ "push", "pop" },	{ "enqueue", "dequeue" }, { "put", "get" },    { "put", "take" },
	{ "add", "get" },	{ "add", "take" },	  { "add", "remove" }, { "add", "next" },
	{ "add", "pop" },	{ "submit", "take" },	  { "submit", "get" }, { "submit", "next" },
	{ "insert", "remove" }, { "send", "receive" },	  { "send", "recv" },  { "post", "fetch" },
	{ "post", "get" },	{ "produce", "consume" }, { "offer", "poll" }, { "append", "pop" },
	{ "append", "shift" },	{ "write", "read" },	  { "in", "out" },     { "push", "get" },
	{ "push", "take" },	{ "put", "pop" },	  { "enq", "deq" }
};

/* Does it, or one of its callers beside the call, tell another thread? Writes to a pipe or eventfd count
 * there. */
static const char *signal_of(struct vprof_discovery *d, const struct vprof_facts_function *push)
{
	uint32_t index = (uint32_t)(push - d->facts->functions), i, k;

	if (d->distance[VPROF_ROLE_SIGNAL][index] <= 1)
		return "its push signals a waiting thread";
	for (i = d->graph->rfirst[index]; i < d->graph->rfirst[index + 1]; i++) {
		uint32_t caller = d->graph->redges[i];
		const struct vprof_facts_function *f;

		if (caller >= d->facts->n_functions)
			continue;
		if (d->distance[VPROF_ROLE_SIGNAL][caller] == 0)
			return vprof_arena_printf(d->arena, "%s pushes and signals", d->facts->functions[caller].name);
		f = &d->facts->functions[caller];
		for (k = 0; k < f->n_calls && f->n_calls <= NOTIFIER_CALLS_MAX; k++)
			if (!vprof_facts_call_of(d->facts, f, k)->callee_function &&
			    !strcmp(vprof_facts_call_of(d->facts, f, k)->callee, "write"))
				return vprof_arena_printf(d->arena, "%s pushes and writes to a file descriptor",
							  f->name);
	}
	return NULL;
}

/* Both ends take the same lock: work crosses threads, though nobody is woken. */
static int both_lock(struct vprof_discovery *d, const struct vprof_facts_function *a,
		     const struct vprof_facts_function *b)
{
	return d->distance[VPROF_ROLE_LOCK][a - d->facts->functions] <= 1 &&
	       d->distance[VPROF_ROLE_LOCK][b - d->facts->functions] <= 1;
}

/* Bytes are copied through such a queue: the reader's pointer is not the writer's. */
static int is_bytes(const char *type)
{
	return strstr(type, "char *") && !strstr(type, "char **");
}

static const char *pushed_item(struct vprof_discovery *d, const struct vprof_facts_function *push,
			       int queue_is_parameter)
{
	size_t n, i;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, push, &n);

	for (i = queue_is_parameter ? 1 : 0; i < n; i++)
		if (list[i].is_pointer && !is_bytes(list[i].type))
			return list[i].name;
	return NULL;
}

static const char *popped_item(struct vprof_discovery *d, const struct vprof_facts_function *pop,
			       int queue_is_parameter, int *at_exit)
{
	size_t n, i, length;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, pop, &n);

	*at_exit = 1;
	if (pop->return_kind == VPROF_RETURNS_SCALAR && strchr(pop->returns, '*') && !is_bytes(pop->returns))
		return "$return";
	for (i = queue_is_parameter ? 1 : 0; i < n; i++) {
		length = strlen(list[i].type);
		if (list[i].is_pointer && length > 1 && strchr(list[i].type, '*') != strrchr(list[i].type, '*'))
			return vprof_arena_printf(d->arena, "*%s", list[i].name);
	}
	return NULL;
}

/* Is one of them an end of a queue that is proposed already? pop may be NULL. */
static int queue_known(struct vprof_discovery *d, const char *push, const char *pop)
{
	size_t i;

	for (i = 0; i < d->draft->n_queues; i++)
		if (!strcmp(d->draft->queues[i].enqueue, push) || (pop && !strcmp(d->draft->queues[i].dequeue, pop)))
			return 1;
	return 0;
}

static void propose_queue(struct vprof_discovery *d, const struct vprof_facts_function *push, const char *item,
			  const struct vprof_facts_function *pop, const char *taken, int at_exit, const char *why)
{
	struct vprof_queue_proposal *p = vprof_arena_push(d->arena, &d->draft->queues, &d->draft->n_queues, sizeof *p);
	size_t n;

	if (!p)
		return;
	vprof_discovery_parameters(d, pop, &n);
	*p = (struct vprof_queue_proposal){ .enqueue = vprof_discovery_name(d, push),
					    .enqueue_item = item,
					    .dequeue = vprof_discovery_name(d, pop),
					    .dequeue_item = taken,
					    .dequeue_at_exit = at_exit,
					    .where = vprof_discovery_where(d, push) };
	p->why = vprof_arena_printf(d->arena, "a queue: %s and %s (%s) are a pair on %s, and %s", push->name, pop->name,
				    vprof_discovery_where(d, pop),
				    n > 0 && !vprof_function_is_method(push) ? "the same type" : "one queue", why);
}

/* Is what `taken` points to of the type `item`? */
static int points_to(const char *taken, const char *item)
{
	size_t n = strlen(item);

	return !strncmp(taken, item, n) && !strcmp(taken + n, "*");
}

/* The parameter of `push` that `pop` hands out through one of its own; that one is *taken. NULL when there is none. */
static const char *passed_item(struct vprof_discovery *d, const struct vprof_facts_function *push,
			       const struct vprof_facts_function *pop, const char **taken)
{
	size_t n_push, n_pop, i, k;
	const struct vprof_parameter *in = vprof_discovery_parameters(d, push, &n_push),
				     *out = vprof_discovery_parameters(d, pop, &n_pop);

	for (i = 1; i < n_push; i++)
		for (k = 1; k < n_pop && in[i].is_pointer && !is_bytes(in[i].type); k++)
			if (points_to(out[k].type, in[i].type)) {
				*taken = vprof_arena_printf(d->arena, "*%s", out[k].name);
				return in[i].name;
			}
	return NULL;
}

/* Where the names of both ends differ beyond the opposite words (push_socket, pop_something): the push signals, the pop
 * waits, and what goes in comes out. */
static void find_uneven_queue(struct vprof_discovery *d, const struct vprof_facts_function *push)
{
	size_t n = d->facts->n_functions, index = (size_t)(push - d->facts->functions), i, w;
	const char *item, *taken;

	if (vprof_function_is_method(push) || !push->instrumentable || d->distance[VPROF_ROLE_SIGNAL][index] > 1)
		return;
	for (w = 0; w < VPROF_LENGTH(queue_words); w++)
		for (i = 0; i < n && strstr(d->normal[index], queue_words[w].word); i++) {
			const struct vprof_facts_function *pop = &d->facts->functions[i];

			if (d->distance[VPROF_ROLE_WAIT][i] > 1 || !strstr(d->normal[i], queue_words[w].other) ||
			    !pop->instrumentable || pop == push || !vprof_same_object(d, push, pop))
				continue;
			item = passed_item(d, push, pop, &taken);
			if (item && !queue_known(d, vprof_discovery_name(d, push), vprof_discovery_name(d, pop))) {
				propose_queue(d, push, item, pop, taken, 1, "what goes in comes out");
				return;
			}
		}
}

/* A queue of numbers: a whole number goes in and comes out. */
static const char *pushed_number(struct vprof_discovery *d, const struct vprof_facts_function *push,
				 int queue_is_parameter, const struct vprof_facts_function *pop, const char **taken)
{
	size_t n;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, push, &n);

	if (pop->return_kind != VPROF_RETURNS_SCALAR || strchr(pop->returns, '*'))
		return NULL;
	for (size_t i = queue_is_parameter ? 1 : 0; i < n; i++)
		if (list[i].is_integer && !strcmp(list[i].type, pop->returns)) {
			*taken = "$return";
			return list[i].name;
		}
	return NULL;
}

static void add_queue(struct vprof_discovery *d, const struct vprof_facts_function *push,
		      const struct vprof_facts_function *pop)
{
	size_t n_push, n_pop;
	const char *why = signal_of(d, push), *item, *taken;
	int at_exit, is_parameter;

	vprof_discovery_parameters(d, push, &n_push);
	vprof_discovery_parameters(d, pop, &n_pop);
	is_parameter = n_pop > 0 && !vprof_function_is_method(push);
	if (!why && d->distance[VPROF_ROLE_WAIT][pop - d->facts->functions] <= 1)
		why = "its pop waits";
	if (!why && both_lock(d, push, pop) && n_push > 1)
		why = "both ends lock";
	item = pushed_item(d, push, is_parameter);
	taken = popped_item(d, pop, is_parameter, &at_exit);
	if (!item && d->draft->found) {
		item = pushed_number(d, push, is_parameter, pop, &taken);
		why = why ? vprof_arena_printf(d->arena, "%s; numbers, which no run can see", why) : NULL;
	}
	if (why && item && taken && push->instrumentable && pop->instrumentable &&
	    !queue_known(d, vprof_discovery_name(d, push), NULL))
		propose_queue(d, push, item, pop, taken, at_exit, why);
}

/* "push@queue.c" is of this function? */
static int is_named(const char *entry, const char *function)
{
	size_t n = strcspn(entry, "@");

	return !strncmp(entry, function, n) && !function[n];
}

static void mark_unconfirmed(struct vprof_discovery *d, struct vprof_queue_proposal *p)
{
	const struct vprof_found_queues *found = d->draft->found;
	const char *said = "nothing was seen to pass it";

	p->is_unconfirmed = 1;
	for (size_t i = 0; i < found->n_seen; i++)
		if (is_named(p->enqueue, found->seen[i].from) && is_named(p->dequeue, found->seen[i].to))
			said = vprof_arena_printf(d->arena, "it is no queue (%s): %s", found->seen[i].verdict,
						  found->seen[i].reason);
	p->why = vprof_arena_printf(d->arena, "%s; the discovery run: %s", p->why, said);
}

static void take_found(struct vprof_discovery *d)
{
	const struct vprof_found_queues *found = d->draft->found;

	for (size_t i = 0; found && i < found->n_queues; i++) {
		struct vprof_queue_proposal *p =
			vprof_arena_push(d->arena, &d->draft->queues, &d->draft->n_queues, sizeof *p);

		if (p)
			*p = found->queues[i];
	}
}

void vprof_discover_queues(struct vprof_discovery *d)
{
	const struct vprof_facts_function *pop;
	size_t i, n, n_found;

	take_found(d);
	n_found = d->draft->n_queues;
	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *push = &d->facts->functions[i];

		vprof_discovery_parameters(d, push, &n);
		if (!n || push->is_tiny)
			continue;
		pop = vprof_opposite_find(d, push, queue_words, VPROF_LENGTH(queue_words),
					  n > 1 || vprof_function_is_method(push));
		if (pop)
			add_queue(d, push, pop);
		else if (n > 1)
			find_uneven_queue(d, push);
	}
	for (i = n_found; d->draft->found && i < d->draft->n_queues; i++)
		mark_unconfirmed(d, &d->draft->queues[i]);
}
