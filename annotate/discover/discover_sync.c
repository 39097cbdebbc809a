/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: the program's own locks and queues.
 *
 * pthread and POSIX calls are intercepted by the runtime, so a plain wrapper of them needs no annotation and
 * is only listed. A lock that spins, sleeps or uses futexes by itself is invisible to the runtime: it is
 * proposed. A pair of functions whose names are opposites on the same type, one side of which signals or
 * waits, is a queue.
 */
#include <string.h>

#include "annotate/discover/discovery.h"
#include "common/json_places.h"

#define WRAPPER_CALLS_MAX 8
#define NAME_BYTES 128

static const struct opposite lock_words[] = { { "acquire", "release" }, { "lock", "unlock" },	{ "enter", "leave" },
					      { "enter", "exit" },	{ "down", "up" },	{ "wait", "post" },
					      { "wait", "signal" },	{ "latch", "unlatch" }, { "take", "give" },
					      { "begin", "end" } };
static const struct opposite queue_words[] = {
	{ "push", "pop" },	{ "enqueue", "dequeue" }, { "put", "get" },    { "put", "take" },
	{ "add", "get" },	{ "add", "take" },	  { "add", "remove" }, { "add", "next" },
	{ "add", "pop" },	{ "submit", "take" },	  { "submit", "get" }, { "submit", "next" },
	{ "insert", "remove" }, { "send", "receive" },	  { "send", "recv" },  { "post", "fetch" },
	{ "post", "get" },	{ "produce", "consume" }, { "offer", "poll" }, { "append", "pop" },
	{ "append", "shift" },	{ "write", "read" },	  { "in", "out" },     { "push", "get" },
	{ "push", "take" },	{ "put", "pop" },	  { "enq", "deq" }
};
static const char *const spin_calls[] = {
	"sched_yield", "usleep",	"nanosleep",  "_mm_pause", "__builtin_ia32_pause",
	"futex",       "pthread_yield", "thrd_yield", "yield",	   "sleep_for",
	"pause",       "semop"
};
static const char *const spin_starts[] = { "__sync_",	       "__atomic_",    "atomic_",   "__c11_atomic_",
					   "compare_exchange", "test_and_set", "pg_atomic_" };

/* `out` = `name` with the n-th place of `word` replaced; 0 when there is no such place. */
static int replace_word(char *out, size_t size, const char *name, const char *word, const char *other, int nth)
{
	const char *hit = name;
	size_t before, length = strlen(word);

	while ((hit = strstr(hit, word)) && nth--)
		hit++;
	if (!hit)
		return 0;
	before = (size_t)(hit - name);
	if (before + strlen(other) + strlen(hit + length) + 1 > size)
		return 0;
	memcpy(out, name, before);
	strcpy(out + before, other);
	strcat(out, hit + length);
	return 1;
}

static int same_type(const char *a, const char *b)
{
	return !strcmp(a, b);
}

/* Do two functions work on the same thing: methods of one class, or the same type of first parameter? */
static int same_object(struct discovery *d, const struct vprof_facts_function *a, const struct vprof_facts_function *b)
{
	size_t na, nb, n;
	const struct parameter *pa = parameters_of(d, a, &na), *pb = parameters_of(d, b, &nb);
	const char *colon = strrchr(a->display, ':');

	if (colon) {
		n = (size_t)(colon - a->display);
		return !strncmp(a->display, b->display, n + 1) && !strchr(b->display + n + 1, ':');
	}
	if (!na || !nb)
		return !na && !nb && a->file == b->file;
	return same_type(pa[0].type, pb[0].type);
}

const struct vprof_facts_function *find_opposite(struct discovery *d, const struct vprof_facts_function *f,
						 const struct opposite *words, size_t n_words, int same_first)
{
	const char *name = d->normal[f - d->facts->functions];
	const struct vprof_facts_function *best = NULL;
	char wanted[NAME_BYTES];
	size_t w, i;
	int nth;

	for (w = 0; w < n_words; w++) {
		for (nth = 0; nth < 3; nth++) {
			if (!replace_word(wanted, sizeof wanted, name, words[w].word, words[w].other, nth))
				break;
			for (i = normal_lower_bound(d, wanted);
			     i < d->facts->n_functions && !strcmp(d->normal[d->by_normal[i]], wanted); i++) {
				const struct vprof_facts_function *g = &d->facts->functions[d->by_normal[i]];

				if (g == f || (same_first && !same_object(d, f, g)))
					continue;
				if (!best || (g->file == f->file && best->file != f->file))
					best = g;
			}
			if (best)
				return best;
		}
	}
	return NULL;
}

/* The expression for the lock: the parameter that a call inside mentions, else the first pointer or integer.
 */
static const char *object_of(struct discovery *d, const struct vprof_facts_function *f, const char *text)
{
	size_t n, i;
	const struct parameter *list = parameters_of(d, f, &n);

	for (i = 0; text && i < n; i++)
		if ((list[i].is_pointer || list[i].is_integer) && mentions(text, list[i].name))
			return list[i].name;
	for (i = 0; i < n; i++)
		if (list[i].is_pointer)
			return list[i].name;
	for (i = 0; i < n; i++)
		if (list[i].is_integer)
			return list[i].name;
	return is_method(f) ? "this" : NULL;
}

static const struct vprof_facts_call *call_of(struct discovery *d, const struct vprof_facts_function *f, uint32_t i)
{
	return &d->facts->calls[d->facts->calls_by_caller[f->first_call + i]];
}

/* --- locks --- */

static const struct vprof_facts_call *spinning_call(struct discovery *d, const struct vprof_facts_function *f)
{
	uint32_t i;
	size_t j;

	for (i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = call_of(d, f, i);

		if (!call->in_loop)
			continue;
		if (call->callee_function) {
			uint32_t callee = call->callee_function - 1;

			if (d->distance[TRAIT_WAIT][callee] <= 1 || strstr(call->callee, "spin") ||
			    strstr(call->callee, "backoff"))
				return call;
			continue;
		}
		if (name_in(call->callee, spin_calls, LENGTH(spin_calls)) ||
		    (!strcmp(call->callee, "syscall") && strstr(call->args, "futex")))
			return call;
		for (j = 0; j < LENGTH(spin_starts); j++)
			if (!strncmp(call->callee, spin_starts[j], strlen(spin_starts[j])))
				return call;
	}
	return NULL;
}

static int has_lock_word(const char *name)
{
	static const char *const words[] = { "lock", "acquire", "latch", "mutex", "semaphore", "semdown", "semwait" };
	char lower[NAME_BYTES];
	size_t i;

	normalise_name(lower, sizeof lower, name);
	if (strstr(lower, "unlock") || strstr(lower, "release") || strstr(lower, "block") || strstr(lower, "clock"))
		return 0;
	for (i = 0; i < LENGTH(words); i++)
		if (strstr(lower, words[i]))
			return 1;
	return 0;
}

/* Of a small function: the call by which it locks something that hangs on a parameter, or on the object of a method. */
static const struct vprof_facts_call *locking_call(struct discovery *d, const struct vprof_facts_function *f)
{
	size_t n, p;
	const struct parameter *list = parameters_of(d, f, &n);
	uint32_t i;

	if (f->n_calls > WRAPPER_CALLS_MAX)
		return NULL;
	for (i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = call_of(d, f, i);
		int locks = call->callee_function ?
				    d->distance[TRAIT_LOCK][call->callee_function - 1] == 0 &&
					    has_lock_word(call->callee) :
				    d->distance[TRAIT_LOCK][f - d->facts->functions] == 0 &&
					    (strstr(call->callee, "lock") || strstr(call->callee, "sem_wait"));

		if (!locks || strstr(call->callee, "unlock"))
			continue;
		if (!n && is_method(f))
			return call;
		for (p = 0; p < n; p++)
			if (mentions(call->args, list[p].name))
				return call;
	}
	return NULL;
}

static int same_class(const struct vprof_facts_function *a, const struct vprof_facts_function *b)
{
	const char *colon = strrchr(a->display, ':');
	size_t n = colon ? (size_t)(colon - a->display) + 1 : 0;

	return n && is_method(a) && is_method(b) && !strncmp(a->display, b->display, n) && !strchr(b->display + n, ':');
}

/* How a method that waits is ended where no name is its opposite: by the method of its class that wakes. */
static const struct vprof_facts_function *waking_method(struct discovery *d, const struct vprof_facts_function *f)
{
	size_t i;

	for (i = 0; is_method(f) && i < d->facts->n_functions; i++)
		if (d->distance[TRAIT_SIGNAL][i] == 0 && d->distance[TRAIT_WAIT][i] &&
		    same_class(f, &d->facts->functions[i]))
			return &d->facts->functions[i];
	return NULL;
}

/* Two methods of a class lock the object itself, unless both take a parameter of one type. */
static int locks_itself(struct discovery *d, const struct vprof_facts_function *f,
			const struct vprof_facts_function *release)
{
	size_t n, n_release, i, j;
	const struct parameter *list = parameters_of(d, f, &n), *at_release = parameters_of(d, release, &n_release);

	if (!same_class(f, release))
		return 0;
	for (i = 0; i < n; i++)
		for (j = 0; j < n_release; j++)
			if (list[i].is_pointer && same_type(list[i].type, at_release[j].type))
				return 0;
	return 1;
}

static void add_lock(struct discovery *d, const struct vprof_facts_function *f, const struct vprof_facts_call *call,
		     int custom)
{
	const struct vprof_facts_function *release = find_opposite(d, f, lock_words, LENGTH(lock_words), 1);
	const char *object = object_of(d, f, call ? call->args : NULL);
	const char *release_object = release ? object_of(d, release, NULL) : NULL;
	struct vprof_sync_proposal *p;

	if (custom && !release && (release = waking_method(d, f)))
		release_object = "this";
	if (release && locks_itself(d, f, release))
		object = release_object = "this";
	if (!object || (custom && (!release || !release_object)))
		return;
	p = vprof_arena_push(d->arena, &d->draft->sync, &d->draft->n_sync, sizeof *p);
	if (!p)
		return;
	*p = (struct vprof_sync_proposal){ .acquire = public_name(d, f),
					   .acquire_object = object,
					   .custom = custom,
					   .release = release ? public_name(d, release) : NULL,
					   .release_object = release_object,
					   .where = where_of(d, f) };
	if (!call)
		p->why = "a lock by its name, with a release of the same type, that calls no pthread "
			 "function; move it to "
			 "\"sync\" if threads wait in it";
	else if (custom)
		p->why = vprof_arena_printf(d->arena, "a lock of its own: its loop calls %s (line %d)", call->callee,
					    call->line);
	else
		p->why = vprof_arena_printf(d->arena, "wraps %s(%s), which vprof intercepts: nothing to do",
					    call->callee, object);
}

static int unlocks(struct discovery *d, const struct vprof_facts_function *f)
{
	return f && d->distance[TRAIT_UNLOCK][f - d->facts->functions] <= 1;
}

/* The call in a loop of `f` that blocks, or NULL. */
static const struct vprof_facts_call *blocking_call(struct discovery *d, const struct vprof_facts_function *f)
{
	uint32_t i;

	for (i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = call_of(d, f, i);

		if (call->in_loop && call->callee_function && d->distance[TRAIT_WAIT][call->callee_function - 1] <= 1)
			return call;
	}
	return NULL;
}

static int calls(struct discovery *d, const struct vprof_facts_function *f, const struct vprof_facts_function *callee)
{
	uint32_t i;

	for (i = 0; f && i < f->n_calls; i++)
		if (call_of(d, f, i)->callee_function == callee - d->facts->functions + 1)
			return 1;
	return 0;
}

static void add_relative(struct discovery *d, const struct vprof_facts_function *f,
			 const struct vprof_facts_call *blocks, const char *lock)
{
	const char *object = object_of(d, f, NULL), *name = public_name(d, f);
	struct vprof_sync_proposal *p;
	size_t i;

	for (i = 0; i < d->draft->n_sync; i++) {
		p = &d->draft->sync[i];
		if ((p->acquire && !strcmp(p->acquire, name)) || (p->release && !strcmp(p->release, name)))
			return;
	}
	p = object ? vprof_arena_push(d->arena, &d->draft->sync, &d->draft->n_sync, sizeof *p) : NULL;
	if (!p)
		return;
	*p = (struct vprof_sync_proposal){ .custom = 1, .where = where_of(d, f) };
	if (blocks) {
		p->acquire = name;
		p->acquire_object = object;
		p->why = vprof_arena_printf(d->arena,
					    "waits for the same kind of lock as %s: its loop calls %s (line %d)", lock,
					    blocks->callee, blocks->line);
	} else {
		p->release = name;
		p->release_object = object;
		p->why = vprof_arena_printf(d->arena, "wakes those that wait for the same kind of lock as %s", lock);
	}
}

/* A lock often has more ways in and out than one pair: "wait until it is free", "tell the waiters". They take the same
 * object as the pair, and block in a loop or signal. */
static void find_relatives(struct discovery *d, const struct vprof_facts_function *acquire)
{
	const struct vprof_facts_function *release = find_opposite(d, acquire, lock_words, LENGTH(lock_words), 1);
	size_t n, n_first, i;
	const struct parameter *own = parameters_of(d, acquire, &n), *first;

	if (!n || !own[0].is_pointer || is_method(acquire) || !release || !blocking_call(d, acquire))
		return;
	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &d->facts->functions[i];
		const struct vprof_facts_call *blocks;

		if (f == acquire || f == release || f->is_tiny || !f->instrumentable)
			continue;
		first = parameters_of(d, f, &n_first);
		if (!n_first || !same_type(first[0].type, own[0].type) ||
		    find_opposite(d, f, lock_words, LENGTH(lock_words), 1))
			continue;
		blocks = blocking_call(d, f);
		if (blocks ||
		    (d->distance[TRAIT_SIGNAL][i] <= 1 && d->distance[TRAIT_WAIT][i] > 1 && !calls(d, release, f)))
			add_relative(d, f, blocks, acquire->name);
	}
}

void find_sync(struct discovery *d)
{
	size_t i;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &d->facts->functions[i];
		int named = has_lock_word(f->name), plain = d->distance[TRAIT_LOCK][i] == 0;
		const struct vprof_facts_call *call;

		if (d->is_entry[i])
			continue;
		call = named && !plain && f->instrumentable ? spinning_call(d, f) : NULL;
		if (call) {
			add_lock(d, f, call, 1);
			find_relatives(d, f);
			continue;
		}
		call = d->distance[TRAIT_UNLOCK][i] ? locking_call(d, f) : NULL;
		if (call && (named || unlocks(d, find_opposite(d, f, lock_words, LENGTH(lock_words), 1))))
			add_lock(d, f, call, 0);
		else if (named && d->distance[TRAIT_LOCK][i] == FAR && f->n_calls <= WRAPPER_CALLS_MAX && !f->is_tiny &&
			 find_opposite(d, f, lock_words, LENGTH(lock_words), 1))
			add_lock(d, f, NULL, 0);
	}
}

/* --- queues --- */

/* Does it, or one of its callers beside the call, tell another thread? Writes to a pipe or eventfd count
 * there. */
static const char *signal_of(struct discovery *d, const struct vprof_facts_function *push)
{
	uint32_t index = (uint32_t)(push - d->facts->functions), i, k;

	if (d->distance[TRAIT_SIGNAL][index] <= 1)
		return "its push signals a waiting thread";
	for (i = d->graph->rfirst[index]; i < d->graph->rfirst[index + 1]; i++) {
		uint32_t caller = d->graph->redges[i];
		const struct vprof_facts_function *f;

		if (caller >= d->facts->n_functions)
			continue;
		if (d->distance[TRAIT_SIGNAL][caller] == 0)
			return vprof_arena_printf(d->arena, "%s pushes and signals", d->facts->functions[caller].name);
		f = &d->facts->functions[caller];
		for (k = 0; k < f->n_calls && f->n_calls <= WRAPPER_CALLS_MAX; k++)
			if (!call_of(d, f, k)->callee_function && !strcmp(call_of(d, f, k)->callee, "write"))
				return vprof_arena_printf(d->arena, "%s pushes and writes to a descriptor", f->name);
	}
	return NULL;
}

/* Both ends take the same lock: work crosses threads, though nobody is woken. */
static int both_lock(struct discovery *d, const struct vprof_facts_function *a, const struct vprof_facts_function *b)
{
	return d->distance[TRAIT_LOCK][a - d->facts->functions] <= 1 &&
	       d->distance[TRAIT_LOCK][b - d->facts->functions] <= 1;
}

/* Bytes are copied through such a queue: the reader's pointer is not the writer's. */
static int is_bytes(const char *type)
{
	return strstr(type, "char *") && !strstr(type, "char **");
}

static const char *pushed_item(struct discovery *d, const struct vprof_facts_function *push, int queue_is_parameter)
{
	size_t n, i;
	const struct parameter *list = parameters_of(d, push, &n);

	for (i = queue_is_parameter ? 1 : 0; i < n; i++)
		if (list[i].is_pointer && !is_bytes(list[i].type))
			return list[i].name;
	return NULL;
}

static const char *popped_item(struct discovery *d, const struct vprof_facts_function *pop, int queue_is_parameter,
			       int *at_exit)
{
	size_t n, i, length;
	const struct parameter *list = parameters_of(d, pop, &n);

	*at_exit = 1;
	if (!strcmp(pop->return_kind, "scalar") && strchr(pop->returns, '*') && !is_bytes(pop->returns) &&
	    !strcmp(pop->lang, "c"))
		return "$return";
	for (i = queue_is_parameter ? 1 : 0; i < n; i++) {
		length = strlen(list[i].type);
		if (list[i].is_pointer && length > 1 && strchr(list[i].type, '*') != strrchr(list[i].type, '*'))
			return vprof_arena_printf(d->arena, "*%s", list[i].name);
	}
	return NULL;
}

/* Is one of them an end of a queue that is proposed already? pop may be NULL. */
static int queue_known(struct discovery *d, const char *push, const char *pop)
{
	size_t i;

	for (i = 0; i < d->draft->n_queues; i++)
		if (!strcmp(d->draft->queues[i].enqueue, push) || (pop && !strcmp(d->draft->queues[i].dequeue, pop)))
			return 1;
	return 0;
}

static void propose_queue(struct discovery *d, const struct vprof_facts_function *push, const char *item,
			  const struct vprof_facts_function *pop, const char *taken, int at_exit, const char *why)
{
	struct vprof_queue_proposal *p = vprof_arena_push(d->arena, &d->draft->queues, &d->draft->n_queues, sizeof *p);
	size_t n;

	if (!p)
		return;
	parameters_of(d, pop, &n);
	*p = (struct vprof_queue_proposal){ public_name(d, push), item, public_name(d, pop), taken, at_exit,
					    where_of(d, push),	  NULL };
	p->why = vprof_arena_printf(d->arena, "a queue: %s and %s (%s) are a pair on %s, and %s", push->name, pop->name,
				    where_of(d, pop), n > 0 && !is_method(push) ? "the same type" : "one queue", why);
}

/* Is what `taken` points to of the type `item`? */
static int points_to(const char *taken, const char *item)
{
	size_t n = strlen(item);

	return !strncmp(taken, item, n) && !strcmp(taken + n, "*");
}

/* The parameter of `push` that `pop` hands out through one of its own; that one is *taken. NULL when there is none. */
static const char *passed_item(struct discovery *d, const struct vprof_facts_function *push,
			       const struct vprof_facts_function *pop, const char **taken)
{
	size_t n_push, n_pop, i, k;
	const struct parameter *in = parameters_of(d, push, &n_push), *out = parameters_of(d, pop, &n_pop);

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
static void find_uneven_queue(struct discovery *d, const struct vprof_facts_function *push)
{
	size_t n = d->facts->n_functions, index = (size_t)(push - d->facts->functions), i, w;
	const char *item, *taken;

	if (is_method(push) || !push->instrumentable || d->distance[TRAIT_SIGNAL][index] > 1)
		return;
	for (w = 0; w < LENGTH(queue_words); w++)
		for (i = 0; i < n && strstr(d->normal[index], queue_words[w].word); i++) {
			const struct vprof_facts_function *pop = &d->facts->functions[i];

			if (d->distance[TRAIT_WAIT][i] > 1 || !strstr(d->normal[i], queue_words[w].other) ||
			    !pop->instrumentable || pop == push || !same_object(d, push, pop))
				continue;
			item = passed_item(d, push, pop, &taken);
			if (item && !queue_known(d, public_name(d, push), public_name(d, pop))) {
				propose_queue(d, push, item, pop, taken, 1, "what goes in comes out");
				return;
			}
		}
}

static void add_queue(struct discovery *d, const struct vprof_facts_function *push,
		      const struct vprof_facts_function *pop)
{
	size_t n_push, n_pop;
	const char *why = signal_of(d, push), *item, *taken;
	int at_exit, is_parameter;

	parameters_of(d, push, &n_push);
	parameters_of(d, pop, &n_pop);
	is_parameter = n_pop > 0 && !is_method(push);
	if (!why && d->distance[TRAIT_WAIT][pop - d->facts->functions] <= 1)
		why = "its pop waits";
	if (!why && both_lock(d, push, pop) && n_push > 1)
		why = "both ends lock";
	item = pushed_item(d, push, is_parameter);
	taken = popped_item(d, pop, is_parameter, &at_exit);
	if (why && item && taken && push->instrumentable && pop->instrumentable &&
	    !queue_known(d, public_name(d, push), NULL))
		propose_queue(d, push, item, pop, taken, at_exit, why);
}

void find_queues(struct discovery *d)
{
	const struct vprof_facts_function *pop;
	size_t i, n;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *push = &d->facts->functions[i];

		parameters_of(d, push, &n);
		if (!n || push->is_tiny)
			continue;
		pop = find_opposite(d, push, queue_words, LENGTH(queue_words), n > 1 || is_method(push));
		if (pop)
			add_queue(d, push, pop);
		else if (n > 1)
			find_uneven_queue(d, push);
	}
}
