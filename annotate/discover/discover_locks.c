/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pthread and POSIX calls are intercepted by the runtime, so a plain wrapper of them needs no annotation and is only
 * listed. A lock that spins, sleeps or uses futexes by itself is invisible to the runtime: it is proposed.
 */
#include "annotate/discover/discover_locks.h"

#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/code/opposites.h"
#include "annotate/discover/draft.h"

#define WRAPPER_CALLS_MAX 8
#define NAME_BYTES 128

static const struct vprof_opposite lock_words[] = {
	{ "acquire", "release" }, { "lock", "unlock" }, { "enter", "leave" },	{ "enter", "exit" }, { "down", "up" },
	{ "wait", "post" },	  { "wait", "signal" }, { "latch", "unlatch" }, { "take", "give" },  { "begin", "end" }
};

const struct vprof_facts_function *vprof_lock_release_of(struct vprof_discovery *d,
							 const struct vprof_facts_function *acquire)
{
	return vprof_opposite_find(d, acquire, lock_words, VPROF_LENGTH(lock_words), 1);
}

static const char *const spin_calls[] = {
	"sched_yield", "usleep",	"nanosleep",  "_mm_pause", "__builtin_ia32_pause",
	"futex",       "pthread_yield", "thrd_yield", "yield",	   "sleep_for",
	"pause",       "semop"
};
static const char *const spin_starts[] = { "__sync_",	       "__atomic_",    "atomic_",   "__c11_atomic_",
					   "compare_exchange", "test_and_set", "pg_atomic_" };

/* The expression for the lock: the parameter that a call inside mentions, else the first pointer or integer.
 */
static const char *object_of(struct vprof_discovery *d, const struct vprof_facts_function *f, const char *text)
{
	size_t n, i;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, f, &n);

	for (i = 0; text && i < n; i++)
		if ((list[i].is_pointer || list[i].is_integer) && vprof_expression_mentions(text, list[i].name))
			return list[i].name;
	for (i = 0; i < n; i++)
		if (list[i].is_pointer)
			return list[i].name;
	for (i = 0; i < n; i++)
		if (list[i].is_integer)
			return list[i].name;
	return vprof_function_is_method(f) ? "this" : NULL;
}

static const struct vprof_facts_call *spinning_call(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	uint32_t i;
	size_t j;

	for (i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, f, i);

		if (!call->in_loop)
			continue;
		if (call->callee_function) {
			uint32_t callee = call->callee_function - 1;

			if (d->distance[VPROF_ROLE_WAIT][callee] <= 1 || strstr(call->callee, "spin") ||
			    strstr(call->callee, "backoff"))
				return call;
			continue;
		}
		if (vprof_name_in(call->callee, spin_calls, VPROF_LENGTH(spin_calls)) ||
		    (!strcmp(call->callee, "syscall") && strstr(call->args, "futex")))
			return call;
		for (j = 0; j < VPROF_LENGTH(spin_starts); j++)
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

	vprof_name_normalise(lower, sizeof lower, name);
	if (strstr(lower, "unlock") || strstr(lower, "release") || strstr(lower, "block") || strstr(lower, "clock"))
		return 0;
	for (i = 0; i < VPROF_LENGTH(words); i++)
		if (strstr(lower, words[i]))
			return 1;
	return 0;
}

/* Of a small function: the call by which it locks something that hangs on a parameter, or on the object of a method. */
static const struct vprof_facts_call *locking_call(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	size_t n, p;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, f, &n);
	uint32_t i;

	if (f->n_calls > WRAPPER_CALLS_MAX)
		return NULL;
	for (i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, f, i);
		int locks = call->callee_function ?
				    d->distance[VPROF_ROLE_LOCK][call->callee_function - 1] == 0 &&
					    has_lock_word(call->callee) :
				    d->distance[VPROF_ROLE_LOCK][f - d->facts->functions] == 0 &&
					    (strstr(call->callee, "lock") || strstr(call->callee, "sem_wait"));

		if (!locks || strstr(call->callee, "unlock"))
			continue;
		if (!n && vprof_function_is_method(f))
			return call;
		for (p = 0; p < n; p++)
			if (vprof_expression_mentions(call->args, list[p].name))
				return call;
	}
	return NULL;
}

static int same_class(const struct vprof_facts_function *a, const struct vprof_facts_function *b)
{
	const char *colon = strrchr(a->display, ':');
	size_t n = colon ? (size_t)(colon - a->display) + 1 : 0;

	return n && vprof_function_is_method(a) && vprof_function_is_method(b) && !strncmp(a->display, b->display, n) &&
	       !strchr(b->display + n, ':');
}

/* How a method that waits is ended where no name is its opposite: by the method of its class that wakes. */
static const struct vprof_facts_function *waking_method(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	size_t i;

	for (i = 0; vprof_function_is_method(f) && i < d->facts->n_functions; i++)
		if (d->distance[VPROF_ROLE_SIGNAL][i] == 0 && d->distance[VPROF_ROLE_WAIT][i] &&
		    same_class(f, &d->facts->functions[i]))
			return &d->facts->functions[i];
	return NULL;
}

/* Two methods of a class lock the object itself, unless both take a parameter of one type. */
static int locks_itself(struct vprof_discovery *d, const struct vprof_facts_function *f,
			const struct vprof_facts_function *release)
{
	size_t n, n_release, i, j;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, f, &n),
				     *at_release = vprof_discovery_parameters(d, release, &n_release);

	if (!same_class(f, release))
		return 0;
	for (i = 0; i < n; i++)
		for (j = 0; j < n_release; j++)
			if (list[i].is_pointer && !strcmp(list[i].type, at_release[j].type))
				return 0;
	return 1;
}

static void add_lock(struct vprof_discovery *d, const struct vprof_facts_function *f,
		     const struct vprof_facts_call *call, int custom)
{
	const struct vprof_facts_function *release = vprof_lock_release_of(d, f);
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
	*p = (struct vprof_sync_proposal){ .acquire = vprof_discovery_name(d, f),
					   .acquire_object = object,
					   .custom = custom,
					   .release = release ? vprof_discovery_name(d, release) : NULL,
					   .release_object = release_object,
					   .where = vprof_discovery_where(d, f) };
	if (!call)
		p->why =
			"named like a lock, with a release of the same type, but calls no pthread function; move it to \"sync\" if threads wait in it";
	else if (custom)
		p->why = vprof_arena_printf(d->arena, "a custom lock: its loop calls %s (line %d)", call->callee,
					    call->line);
	else
		p->why = vprof_arena_printf(d->arena, "wraps %s(%s), which vprof intercepts: nothing to do",
					    call->callee, object);
}

static int unlocks(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	return f && d->distance[VPROF_ROLE_UNLOCK][f - d->facts->functions] <= 1;
}

/* The call in a loop of `f` that blocks, or NULL. */
static const struct vprof_facts_call *blocking_call(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	uint32_t i;

	for (i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, f, i);

		if (call->in_loop && call->callee_function &&
		    d->distance[VPROF_ROLE_WAIT][call->callee_function - 1] <= 1)
			return call;
	}
	return NULL;
}

static int calls(struct vprof_discovery *d, const struct vprof_facts_function *f,
		 const struct vprof_facts_function *callee)
{
	uint32_t i;

	for (i = 0; f && i < f->n_calls; i++)
		if (vprof_facts_call_of(d->facts, f, i)->callee_function == callee - d->facts->functions + 1)
			return 1;
	return 0;
}

static void add_relative(struct vprof_discovery *d, const struct vprof_facts_function *f,
			 const struct vprof_facts_call *blocks, const char *lock)
{
	const char *object = object_of(d, f, NULL), *name = vprof_discovery_name(d, f);
	struct vprof_sync_proposal *p;

	if (vprof_draft_has_sync(d->draft, name))
		return;
	p = object ? vprof_arena_push(d->arena, &d->draft->sync, &d->draft->n_sync, sizeof *p) : NULL;
	if (!p)
		return;
	*p = (struct vprof_sync_proposal){ .custom = 1, .where = vprof_discovery_where(d, f) };
	if (blocks) {
		p->acquire = name;
		p->acquire_object = object;
		p->why = vprof_arena_printf(d->arena,
					    "waits for the same kind of lock as %s: its loop calls %s (line %d)", lock,
					    blocks->callee, blocks->line);
	} else {
		p->release = name;
		p->release_object = object;
		p->why = vprof_arena_printf(d->arena, "wakes threads that wait for the same kind of lock as %s", lock);
	}
}

/* A lock often has more ways in and out than one pair: "wait until it is free", "tell the waiters". They take the same
 * object as the pair, and block in a loop or signal. */
static void find_relatives(struct vprof_discovery *d, const struct vprof_facts_function *acquire)
{
	const struct vprof_facts_function *release = vprof_lock_release_of(d, acquire);
	size_t n, n_first, i;
	const struct vprof_parameter *own = vprof_discovery_parameters(d, acquire, &n), *first;

	if (!n || !own[0].is_pointer || vprof_function_is_method(acquire) || !release || !blocking_call(d, acquire))
		return;
	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &d->facts->functions[i];
		const struct vprof_facts_call *blocks;

		if (f == acquire || f == release || f->is_tiny || !f->instrumentable)
			continue;
		first = vprof_discovery_parameters(d, f, &n_first);
		if (!n_first || strcmp(first[0].type, own[0].type) || vprof_lock_release_of(d, f))
			continue;
		blocks = blocking_call(d, f);
		if (blocks || (d->distance[VPROF_ROLE_SIGNAL][i] <= 1 && d->distance[VPROF_ROLE_WAIT][i] > 1 &&
			       !calls(d, release, f)))
			add_relative(d, f, blocks, acquire->name);
	}
}

void vprof_discover_locks(struct vprof_discovery *d)
{
	size_t i;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &d->facts->functions[i];
		int named = has_lock_word(f->name), plain = d->distance[VPROF_ROLE_LOCK][i] == 0;
		const struct vprof_facts_call *call;

		if (d->is_entry[i])
			continue;
		call = named && !plain && f->instrumentable ? spinning_call(d, f) : NULL;
		if (call) {
			add_lock(d, f, call, 1);
			find_relatives(d, f);
			continue;
		}
		call = d->distance[VPROF_ROLE_UNLOCK][i] ? locking_call(d, f) : NULL;
		if (call && (named || unlocks(d, vprof_lock_release_of(d, f))))
			add_lock(d, f, call, 0);
		else if (named && d->distance[VPROF_ROLE_LOCK][i] == VPROF_FAR && f->n_calls <= WRAPPER_CALLS_MAX &&
			 !f->is_tiny && vprof_lock_release_of(d, f))
			add_lock(d, f, NULL, 0);
	}
}
