/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/discover/discover_entries.h"

#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/discover/draft.h"

static void add_entry(struct vprof_discovery *d, enum vprof_entry_kind kind, const struct vprof_facts_function *f,
		      const char *why)
{
	struct vprof_entry_proposal *e;
	const char *name = vprof_discovery_name(d, f), *where = vprof_discovery_where(d, f);
	size_t i;

	for (i = 0; i < d->draft->n_entries; i++)
		if (d->draft->entries[i].kind == kind && !strcmp(d->draft->entries[i].where, where) &&
		    !strcmp(d->draft->entries[i].function, name))
			return;
	e = vprof_arena_push(d->arena, &d->draft->entries, &d->draft->n_entries, sizeof *e);
	if (e)
		*e = (struct vprof_entry_proposal){ kind, name, where, why };
	if (kind != VPROF_ENTRY_PROCESS)
		d->is_entry[f - d->facts->functions] = 1;
}

/* Index of the argument that is the thread's function, or -1; C++ constructors of std::thread and std::async
 * too. */
static int thread_argument(const char *callee)
{
	static const char *const first[] = { "thread",	     "std::thread", "std::thread::thread",
					     "std::jthread", "jthread",	    "std::async",
					     "async" };

	if (!strcmp(callee, "pthread_create"))
		return 2;
	if (!strcmp(callee, "thrd_create"))
		return 1;
	return vprof_name_in(callee, first, VPROF_LENGTH(first)) ? 0 : -1;
}

static void add_thread_arguments(struct vprof_discovery *d, const char *callee, int arg)
{
	size_t i;

	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (a->function && a->use == VPROF_ADDRESS_ARGUMENT && !strcmp(a->target, callee) &&
		    (arg == a->arg || arg < 0))
			add_entry(d, VPROF_ENTRY_THREAD, &d->facts->functions[a->function - 1],
				  vprof_arena_printf(d->arena, "its address is passed to %s", callee));
	}
}

/* A function that passes one of its own parameters to pthread_create creates threads, too. */
static void add_wrapped_threads(struct vprof_discovery *d, const struct vprof_facts_call *call, int arg)
{
	const struct vprof_facts_function *maker = vprof_facts_function(d->facts, call->caller);
	const struct vprof_parameter *list;
	const char *given = vprof_discovery_argument(d, call, (size_t)arg);
	size_t n, i;

	if (!maker || !given)
		return;
	list = vprof_discovery_parameters(d, maker, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, given))
			add_thread_arguments(d, maker->name, (int)i);
}

void vprof_discover_entries(struct vprof_discovery *d)
{
	size_t i;
	int arg;

	for (i = 0; i < d->facts->n_functions; i++)
		if (!strcmp(d->facts->functions[i].display, "main"))
			add_entry(d, VPROF_ENTRY_MAIN, &d->facts->functions[i], "the program starts here");
	for (i = 0; i < d->facts->n_addresses; i++)
		if (d->facts->addresses[i].use == VPROF_ADDRESS_ARGUMENT &&
		    thread_argument(d->facts->addresses[i].target) >= 0)
			add_thread_arguments(d, d->facts->addresses[i].target,
					     thread_argument(d->facts->addresses[i].target));
	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		arg = call->callee_function ? -1 : thread_argument(call->callee);
		if (arg >= 0)
			add_wrapped_threads(d, call, arg);
		if (!call->callee_function && (!strcmp(call->callee, "fork") || !strcmp(call->callee, "vfork")) &&
		    vprof_facts_caller(d->facts, call) != UINT32_MAX)
			add_entry(d, VPROF_ENTRY_PROCESS, &d->facts->functions[vprof_facts_caller(d->facts, call)],
				  vprof_arena_printf(d->arena, "it calls %s at line %d", call->callee, call->line));
	}
}
