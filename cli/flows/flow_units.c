/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_units.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/code/call_roles.h"
#include "annotate/code/identifiers.h"

#define WRAPPER_LEVELS 3
#define CALLERS_MAX 16	    /* what more functions call is memory, a log or the like: they take nothing over from it */
#define WRAPPER_CALLS_MAX 4 /* what calls more than this does not only lock */

static int has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n >= k && !strcmp(path + n - k, suffix) && (n == k || *suffix == '/' || path[n - k - 1] == '/');
}

static void add(struct vprof_flow_units *u, const char *path)
{
	for (size_t i = 0; i < u->n; i++)
		if (!strcmp(u->sources[i], path))
			return;
	u->sources[u->n++] = path;
}

static int choose_named(struct vprof_flow_units *u, const struct vprof_facts *facts,
			const struct vprof_option_words *chosen, struct vprof_error *err)
{
	for (size_t i = 0; i < chosen->n; i++) {
		size_t before = u->n, known = 0;

		for (size_t k = 0; k < facts->n_tus; k++)
			if (has_suffix(facts->tus[k].path, chosen->v[i])) {
				add(u, facts->tus[k].path);
				known = 1;
			}
		if (u->n == before && !known)
			return vprof_error_set(err, VPROF_ERR_MISSING,
					       "--units %s: no source file that the build compiles ends so",
					       chosen->v[i]);
	}
	return VPROF_OK;
}

/* The unit of a source file, not of a header. */
static void add_defining(struct vprof_flow_units *u, const struct vprof_facts *facts, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, id);

	for (size_t i = 0; file && i < facts->n_tus; i++)
		if (!strcmp(facts->tus[i].path, file->path))
			add(u, facts->tus[i].path);
}

/* Where a program has its events registered: with the kernel, or a library that does. */
static const char *const registers[] = { "epoll_ctl",	 "poll",      "ppoll",	     "event_add",    "event_new",
					 "event_assign", "event_set", "ev_io_start", "uv_poll_start" };

static int calls_one_of(const struct vprof_facts *facts, const struct vprof_facts_function *f, const char *const *names,
			size_t n)
{
	for (uint32_t i = 0; i < f->n_calls; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(vprof_facts_call_of(facts, f, i)->callee, names[k]))
				return 1;
	return 0;
}

static int locks(const struct vprof_facts *facts, const struct vprof_facts_function *f)
{
	static const char *const more[] = { "pthread_spin_lock", "mtx_lock", "pthread_cond_wait", "epoll_wait",
					    "epoll_pwait" };

	if (calls_one_of(facts, f, registers, sizeof registers / sizeof *registers))
		return 1;
	for (uint32_t i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(facts, f, i);

		if (vprof_call_has_role(call, VPROF_ROLE_LOCK) || vprof_call_has_role(call, VPROF_ROLE_WAIT))
			return 1;
		for (size_t k = 0; k < sizeof more / sizeof *more; k++)
			if (!strcmp(call->callee, more[k]))
				return 1;
	}
	return 0;
}

enum { LOCKS = 1, NEAR = 2, WRAPS = 4, TRANSFERS = 8 };

/* By its name, whatever else it does, as APR's with locks that it makes of a condition variable. */
static int is_named_lock(const struct vprof_facts_function *f)
{
	return vprof_name_has_word(f->name, "lock") || vprof_name_has_word(f->name, "acquire");
}

/* Does it lock and not unlock? Then its callers hold the lock. */
static int keeps_lock(const struct vprof_facts *facts, const struct vprof_facts_function *f)
{
	int n = 0;

	for (uint32_t i = 0; i < f->n_calls && is_named_lock(f); i++)
		if (vprof_call_has_role(vprof_facts_call_of(facts, f, i), VPROF_ROLE_LOCK))
			return 1;

	for (uint32_t i = 0; i < f->n_calls; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(facts, f, i);

		if (vprof_call_has_role(call, VPROF_ROLE_UNLOCK))
			return 0;
		n += vprof_call_has_role(call, VPROF_ROLE_LOCK);
	}
	return n > 0 && f->n_calls <= WRAPPER_CALLS_MAX;
}

/* Callers of what keeps its lock lock as well, and those that call little else, as a guard's constructor, keep it, too.
 */
static void mark_wrappers(const struct vprof_facts *facts, const struct vprof_callgraph *g, unsigned char *marks)
{
	size_t n = facts->n_functions;

	for (size_t i = 0; i < n; i++)
		marks[i] |= keeps_lock(facts, &facts->functions[i]) ? WRAPS : 0;
	for (int level = 0; level < WRAPPER_LEVELS; level++)
		for (size_t i = 0; i < n; i++)
			for (uint32_t k = g->rfirst[i]; marks[i] & WRAPS && k < g->rfirst[i + 1]; k++) {
				uint32_t caller = g->redges[k];

				if (caller >= n)
					continue;
				marks[caller] |= LOCKS;
				if (facts->functions[caller].n_calls == 1)
					marks[caller] |= WRAPS;
			}
}

/* Where events are registered, the functions that receive or send are a handler's, and so are those that call them: on
 * their stacks the way from the loop can be followed in compiled units only. */
static void mark_transfers(const struct vprof_facts *facts, const struct vprof_callgraph *g, unsigned char *marks)
{
	static const char *const transfers[] = { "read",   "readv", "recv",   "recvfrom", "recvmsg", "write",
						 "writev", "send",  "sendto", "sendmsg",  "sendfile" };
	size_t n = facts->n_functions;
	int has_events = 0;

	for (size_t i = 0; i < n && !has_events; i++)
		has_events = calls_one_of(facts, &facts->functions[i], registers, sizeof registers / sizeof *registers);
	for (size_t i = 0; i < n && has_events; i++)
		if (calls_one_of(facts, &facts->functions[i], transfers, sizeof transfers / sizeof *transfers))
			marks[i] |= TRANSFERS;
	for (int level = 0; has_events && level < WRAPPER_LEVELS; level++)
		for (size_t i = 0; i < n; i++)
			for (uint32_t k = g->rfirst[i]; marks[i] & TRANSFERS && k < g->rfirst[i + 1] &&
							g->rfirst[i + 1] - g->rfirst[i] <= CALLERS_MAX;
			     k++)
				if (g->redges[k] < n)
					marks[g->redges[k]] |= TRANSFERS;
}

/* Callers of what acquires a lock of the program's own hold it. */
static int own_marks(const struct vprof_flow_own_locks *own, size_t function)
{
	int role = own->n ? own->roles[function] : VPROF_FLOW_NO_LOCK;

	return role & VPROF_FLOW_ACQUIRES ? LOCKS | WRAPS : role ? LOCKS : 0;
}

/* Functions that lock, or register or wait for events, their callers and what they call. */
static void mark(const struct vprof_facts *facts, const struct vprof_callgraph *g,
		 const struct vprof_flow_own_locks *own, unsigned char *marks)
{
	size_t n = facts->n_functions;

	for (size_t i = 0; i < n; i++)
		marks[i] = (unsigned char)((locks(facts, &facts->functions[i]) ? LOCKS : 0) | own_marks(own, i));
	mark_wrappers(facts, g, marks);
	mark_transfers(facts, g, marks);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = g->first[i]; marks[i] & LOCKS && k < g->first[i + 1]; k++)
			if (g->edges[k] < n)
				marks[g->edges[k]] |= NEAR;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = g->rfirst[i];
		     marks[i] & LOCKS && g->rfirst[i + 1] - g->rfirst[i] <= CALLERS_MAX && k < g->rfirst[i + 1]; k++)
			if (g->redges[k] < n)
				marks[g->redges[k]] |= NEAR;
}

static int choose_locking(struct vprof_flow_units *u, const struct vprof_facts *facts,
			  const struct vprof_callgraph *graph, const struct vprof_flow_own_locks *own,
			  struct vprof_error *err)
{
	unsigned char *marks = calloc(facts->n_functions + 1, 1), *files = calloc(facts->n_files + 1, 1);

	if (!marks || !files) {
		free(marks);
		free(files);
		return vprof_error_no_memory(err);
	}
	mark(facts, graph, own, marks);
	for (size_t i = 0; i < facts->n_files; i++)
		for (size_t k = 0; k < facts->n_functions && !files[i]; k++)
			files[i] = marks[k] && facts->functions[k].file == facts->files[i].id;
	for (size_t i = 0; i < facts->n_tus; i++)
		for (size_t k = 0; k < facts->n_files; k++)
			if (files[k] && vprof_facts_tu_reads(&facts->tus[i], facts->files[k].id)) {
				add(u, facts->tus[i].path);
				break;
			}
	free(marks);
	free(files);
	return u->n ? VPROF_OK :
		      vprof_error_set(
			      err, VPROF_ERR_MISSING,
			      "no function of the project locks or waits, so nothing is handed over under a lock or by an event. If locks are behind a library's functions or atomics, name the files: vprof flows --units FILE...");
}

int vprof_flow_units_choose(struct vprof_flow_units *u, const struct vprof_facts *facts,
			    const struct vprof_callgraph *graph, const struct vprof_option_words *chosen,
			    const struct vprof_flow_own_locks *own, struct vprof_error *err)
{
	int rc;

	u->n = 0;
	u->sources = calloc(facts->n_tus + 1, sizeof *u->sources);
	if (!u->sources)
		return vprof_error_no_memory(err);
	if (!chosen->n)
		return choose_locking(u, facts, graph, own, err);
	rc = choose_named(u, facts, chosen, err);
	for (size_t i = 0; !rc && i < facts->n_functions && own->n; i++)
		if (own->roles[i])
			add_defining(u, facts, facts->functions[i].file);
	return rc;
}

void vprof_flow_units_release(struct vprof_flow_units *u)
{
	free(u->sources);
	u->sources = NULL;
	u->n = 0;
}
