/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/flows/flow_own_locks.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/discover/discover_locks.h"

struct finding {
	struct vprof_flow_own_locks *l;
	struct vprof_discovery *d;
	uint32_t *found; /* [functions] that a name stands for */
};

/* All functions that `name` or `name@file` stands for, into g->found. */
static size_t find_all(struct finding *g, const char *name)
{
	const char *at = strrchr(name, '@');
	const char *bare = at && at != name ? vprof_arena_copy(g->d->arena, name, (size_t)(at - name)) : name;

	return bare ? vprof_facts_find(g->d->facts, bare, bare == name ? NULL : at + 1, g->found,
				       g->d->facts->n_functions) :
		      0;
}

static const struct vprof_facts_function *first_of(struct finding *g, const char *name)
{
	return find_all(g, name) ? &g->d->facts->functions[g->found[0]] : NULL;
}

static int is_known(const struct vprof_flow_own_locks *l, const struct vprof_hook *hook)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].kind == hook->kind && !strcmp(l->list[i].function, hook->function))
			return 1;
	return 0;
}

static void add(struct finding *g, const struct vprof_hook *hook)
{
	size_t n = find_all(g, hook->function);
	const struct vprof_facts_function *f = n ? &g->d->facts->functions[g->found[0]] : NULL;
	struct vprof_hook *slot;

	if (!f || !f->instrumentable || f->body_begin < 1 || is_known(g->l, hook))
		return;
	slot = vprof_arena_push(g->d->arena, &g->l->list, &g->l->n, sizeof *slot);
	if (slot)
		*slot = *hook;
	for (size_t i = 0; i < n; i++)
		g->l->roles[g->found[i]] |= hook->kind == VPROF_HOOK_ACQUIRE ? VPROF_FLOW_ACQUIRES :
									       VPROF_FLOW_RELEASES;
}

/* An annotated pair: both ends of it, if their names are opposites. */
static void add_annotated(struct finding *g, const struct vprof_annotations *a)
{
	for (size_t i = 0; i < a->n_hooks; i++) {
		const struct vprof_facts_function *acquire, *release;

		if (a->hooks[i].kind != VPROF_HOOK_ACQUIRE)
			continue;
		acquire = first_of(g, a->hooks[i].function);
		release = acquire ? vprof_lock_release_of(g->d, acquire) : NULL;
		for (size_t k = 0; release && k < a->n_hooks; k++)
			if (a->hooks[k].kind == VPROF_HOOK_RELEASE && first_of(g, a->hooks[k].function) == release) {
				add(g, &a->hooks[i]);
				add(g, &a->hooks[k]);
			}
	}
}

/* A semaphore or an event is waited for by one thread and posted by another. */
static int is_event(const char *name)
{
	static const char *const words[] = { "wait", "sem", "down", "event" };

	return vprof_name_has_part(name, words, VPROF_LENGTH(words));
}

static void add_suggested(struct finding *g)
{
	for (size_t i = 0; i < g->l->draft.n_sync; i++) {
		const struct vprof_sync_proposal *p = &g->l->draft.sync[i];
		char normal[256];

		if (!p->custom || !p->acquire || !p->release || !p->acquire_object || !p->release_object)
			continue;
		vprof_name_normalise(normal, sizeof normal, p->acquire);
		if (is_event(normal))
			continue;
		add(g, &(struct vprof_hook){ .kind = VPROF_HOOK_ACQUIRE,
					     .function = p->acquire,
					     .value.text = p->acquire_object,
					     .name = "" });
		add(g, &(struct vprof_hook){ .kind = VPROF_HOOK_RELEASE,
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
	struct finding g = { .l = l, .d = &d };

	*l = (struct vprof_flow_own_locks){ 0 };
	if (vprof_discovery_init(&d, facts, graph, &l->draft, &l->draft.arena))
		return vprof_error_no_memory(err);
	l->roles = vprof_arena_alloc(d.arena, facts->n_functions + 1);
	g.found = vprof_arena_alloc(d.arena, (facts->n_functions + 1) * sizeof *g.found);
	if (!l->roles || !g.found)
		return vprof_error_no_memory(err);
	memset(l->roles, VPROF_FLOW_NO_LOCK, facts->n_functions + 1);
	vprof_discover_locks(&d);
	add_annotated(&g, annotations);
	add_suggested(&g);
	l->hooks = (struct vprof_annotations){ .path = annotations->path, .hooks = l->list, .n_hooks = l->n };
	return l->draft.arena.failed ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_flow_own_locks_release(struct vprof_flow_own_locks *l)
{
	vprof_arena_release(&l->draft.arena);
	*l = (struct vprof_flow_own_locks){ 0 };
}
