/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_own_locks.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/discover/discover_locks.h"

/* The first function that `name` or `name@file` stands for. */
static const struct vprof_facts_function *function_of(struct vprof_discovery *d, const char *name)
{
	const char *at = strrchr(name, '@');
	const char *bare = at && at != name ? vprof_arena_printf(d->arena, "%.*s", (int)(at - name), name) : name;
	uint32_t found;

	if (!bare || !vprof_facts_find(d->facts, bare, bare == name ? NULL : at + 1, &found, 1))
		return NULL;
	return &d->facts->functions[found];
}

static int is_known(const struct vprof_flow_own_locks *l, const struct vprof_hook *hook)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].kind == hook->kind && !strcmp(l->list[i].function, hook->function))
			return 1;
	return 0;
}

static void add(struct vprof_flow_own_locks *l, struct vprof_discovery *d, const struct vprof_hook *hook)
{
	const struct vprof_facts_function *f = function_of(d, hook->function);
	struct vprof_hook *slot;

	if (!f || !f->instrumentable || f->body_begin < 1 || is_known(l, hook))
		return;
	slot = vprof_arena_push(d->arena, &l->list, &l->n, sizeof *slot);
	if (slot)
		*slot = *hook;
}

/* An annotated pair: both ends of it, if their names are opposites. */
static void add_annotated(struct vprof_flow_own_locks *l, struct vprof_discovery *d, const struct vprof_annotations *a)
{
	for (size_t i = 0; i < a->n_hooks; i++) {
		const struct vprof_facts_function *acquire, *release;

		if (a->hooks[i].kind != VPROF_HOOK_ACQUIRE)
			continue;
		acquire = function_of(d, a->hooks[i].function);
		release = acquire ? vprof_lock_release_of(d, acquire) : NULL;
		for (size_t k = 0; release && k < a->n_hooks; k++)
			if (a->hooks[k].kind == VPROF_HOOK_RELEASE && function_of(d, a->hooks[k].function) == release) {
				add(l, d, &a->hooks[i]);
				add(l, d, &a->hooks[k]);
			}
	}
}

/* A semaphore or an event is waited for by one thread and posted by another. */
static int is_event(const char *name)
{
	static const char *const words[] = { "wait", "sem", "down", "event" };

	return vprof_name_has_part(name, words, VPROF_LENGTH(words));
}

static void add_suggested(struct vprof_flow_own_locks *l, struct vprof_discovery *d)
{
	for (size_t i = 0; i < l->draft.n_sync; i++) {
		const struct vprof_sync_proposal *p = &l->draft.sync[i];
		char normal[256];

		if (!p->custom || !p->acquire || !p->release || !p->acquire_object || !p->release_object)
			continue;
		vprof_name_normalise(normal, sizeof normal, p->acquire);
		if (is_event(normal))
			continue;
		add(l, d,
		    &(struct vprof_hook){ .kind = VPROF_HOOK_ACQUIRE,
					  .function = p->acquire,
					  .value.text = p->acquire_object,
					  .name = "" });
		add(l, d,
		    &(struct vprof_hook){ .kind = VPROF_HOOK_RELEASE,
					  .function = p->release,
					  .value.text = p->release_object,
					  .name = "" });
	}
}

int vprof_flow_own_locks_find(struct vprof_flow_own_locks *l, const struct vprof_facts *facts,
			      const struct vprof_callgraph *graph, const struct vprof_annotations *annotations,
			      struct vprof_error *err)
{
	struct vprof_discovery d;

	*l = (struct vprof_flow_own_locks){ 0 };
	if (vprof_discovery_init(&d, facts, graph, &l->draft, &l->draft.arena))
		return vprof_error_no_memory(err);
	vprof_discover_locks(&d);
	add_annotated(l, &d, annotations);
	add_suggested(l, &d);
	l->hooks = (struct vprof_annotations){ .path = annotations->path, .hooks = l->list, .n_hooks = l->n };
	return l->draft.arena.failed ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_flow_own_locks_release(struct vprof_flow_own_locks *l)
{
	vprof_arena_release(&l->draft.arena);
	*l = (struct vprof_flow_own_locks){ 0 };
}

int vprof_flow_own_locks_has(const struct vprof_flow_own_locks *l, const struct vprof_facts *facts,
			     const struct vprof_facts_function *f, int only_acquire)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *name = l->list[i].function, *at = strrchr(name, '@');
		const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);
		size_t n = at && at != name ? (size_t)(at - name) : strlen(name);

		if ((only_acquire && l->list[i].kind != VPROF_HOOK_ACQUIRE) ||
		    ((strlen(f->name) != n || strncmp(f->name, name, n)) &&
		     (strlen(f->display) != n || strncmp(f->display, name, n))))
			continue;
		if (n == strlen(name) || (file && strlen(file->path) >= strlen(at + 1) &&
					  !strcmp(file->path + strlen(file->path) - strlen(at + 1), at + 1)))
			return 1;
	}
	return 0;
}
