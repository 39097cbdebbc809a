/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/transactions/call_paths.h"

#include <stdio.h>
#include <string.h>

#include "analysis/timeline/edges/thread_roles.h"
#include "analysis/timeline/symbols.h"
#include "common/files.h"
#include "common/text.h"

#define FRAMES_MAX 256u /* of a path, inlined functions included */

struct naming {
	struct vprof_call_paths *p;
	const struct vprof_timeline *timeline;
	struct vprof_symbols *symbols;
	const char *frames[FRAMES_MAX]; /* outermost first */
	uint32_t n;
	const char *program;
};

uint32_t vprof_stages_append(uint32_t *stages, uint32_t n, uint32_t stage)
{
	for (uint32_t i = 0; i < n; i++)
		if (stages[i] == stage)
			return i + 1;
	if (n < VPROF_STAGES_MAX)
		stages[n++] = stage;
	return n;
}

static int add_frame(struct naming *g, const char *name, const char *module)
{
	name = vprof_strings_keep(&g->p->names, name);
	if (!g->n && !g->program)
		g->program = vprof_strings_keep(&g->p->names, vprof_path_name(module));
	if (!name || !g->program)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < g->n; i++)
		if (g->frames[i] == name) {
			g->n = i + 1;
			return VPROF_OK;
		}
	if (g->n < FRAMES_MAX)
		g->frames[g->n++] = name;
	return VPROF_OK;
}

/* Of code without symbols: its place in its file. */
static int add_unnamed(struct naming *g, uint32_t process_seq, uint64_t address)
{
	char name[96];

	for (size_t i = 0; i < g->timeline->modules.n; i++) {
		const struct vprof_module *m = &g->timeline->modules.v[i];

		if (m->process_seq != process_seq || address < m->low || address >= m->high)
			continue;
		if (vprof_symbols_is_runtime(m->path) || !vprof_module_tells(m->path))
			return VPROF_OK;
		snprintf(name, sizeof name, "%.60s+0x%llx", vprof_path_name(m->path),
			 (unsigned long long)(address - m->bias));
		return add_frame(g, name, m->path);
	}
	snprintf(name, sizeof name, "0x%llx", (unsigned long long)address);
	return add_frame(g, name, "");
}

static int resolve(struct naming *g, const struct vprof_call_path *path, uint32_t process_seq)
{
	int ret = VPROF_OK;

	g->n = 0;
	g->program = NULL;
	for (uint32_t i = path->n; i-- > 0 && !ret;) {
		uint64_t address = i % 2 ? path->addresses[i / 2].w : path->addresses[i / 2].t;
		const struct vprof_symbol *const *found;
		size_t n = vprof_symbols_find(g->symbols, process_seq, address, &found);

		if (!n)
			ret = add_unnamed(g, process_seq, address);
		while (n-- > 0 && !ret)
			if (vprof_symbol_tells(found[n]))
				ret = add_frame(g, found[n]->name, found[n]->module);
	}
	return ret;
}

/* Number of the path in `g`; VPROF_NONE without memory. */
static uint32_t number_of(struct naming *g)
{
	struct vprof_call_paths *p = g->p;
	uint64_t hash = vprof_mix((uintptr_t)g->program);
	struct vprof_named_path *path;
	size_t at;

	if (!g->n)
		return 0;
	for (uint32_t i = 0; i < g->n; i++)
		hash = vprof_mix(hash ^ (uintptr_t)g->frames[i]);
	if (vprof_hash_index_room(&p->by_frames, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&p->by_frames, hash, at, i)
	if (p->paths.v[i].n == g->n && p->paths.v[i].program == g->program &&
	    !memcmp(p->frames.v + p->paths.v[i].first, g->frames, g->n * sizeof *g->frames))
		return i;
	if (p->paths.n >= VPROF_CALL_PATHS_MAX)
		return 0;
	path = VPROF_PUSH(&p->paths);
	if (!path || VPROF_ROOM(&p->frames, p->frames.n + g->n))
		return VPROF_NONE;
	*path = (struct vprof_named_path){ .first = (uint32_t)p->frames.n, .n = g->n, .program = g->program };
	memcpy(p->frames.v + p->frames.n, g->frames, g->n * sizeof *g->frames);
	p->frames.n += g->n;
	vprof_hash_index_put(&p->by_frames, at, hash, (uint32_t)p->paths.n - 1);
	return (uint32_t)p->paths.n - 1;
}

static int name_source(struct vprof_call_paths *p, const struct vprof_source *source, size_t first_thread)
{
	struct naming g = { .p = p, .timeline = source->timeline, .symbols = vprof_symbols_new(source->timeline) };
	int ret = g.symbols ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 0; i < source->timeline->n_threads && !ret; i++) {
		const struct vprof_thread_timeline *thr = &source->timeline->threads[i];

		for (size_t k = 0; k < thr->paths.n && !ret; k++) {
			uint32_t *number = &p->numbers[p->first_path[first_thread + i] + k];

			ret = resolve(&g, &thr->paths.v[k], thr->process_seq);
			*number = ret ? 0 : number_of(&g);
			ret = *number == VPROF_NONE ? VPROF_ERR_NOMEM : ret;
		}
	}
	vprof_symbols_free(g.symbols);
	return ret;
}

/* Have both the same last n functions? */
static int has_same_end(const struct vprof_call_paths *p, const struct vprof_named_path *a,
			const struct vprof_named_path *b, uint32_t n)
{
	return a->n >= n && b->n >= n &&
	       !memcmp(p->frames.v + a->first + a->n - n, p->frames.v + b->first + b->n - n, n * sizeof *p->frames.v);
}

/* "main > serve", of the last n functions. */
static const char *joined(struct vprof_call_paths *p, const struct vprof_named_path *path, uint32_t n, int has_program)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	const char *kept = NULL;

	if (has_program && *path->program)
		vprof_text_addf(&t, "%s: ", path->program);
	for (uint32_t i = path->n - n; i < path->n; i++)
		vprof_text_addf(&t, "%s%s", i > path->n - n ? " > " : "", p->frames.v[path->first + i]);
	if (!t.failed)
		kept = vprof_strings_keep(&p->names, t.s);
	vprof_text_release(&t);
	return kept;
}

/* On how many stages' paths a function is. */
struct shared_function {
	const char *name;
	uint32_t n;
};

struct shared_functions {
	VPROF_ARRAY(struct shared_function) v;
	struct vprof_hash_index by_name;
};

static struct shared_function *shared_of(struct shared_functions *shared, const char *name, size_t *at)
{
	VPROF_HASH_EACH(&shared->by_name, vprof_mix((uintptr_t)name), *at, i)
	if (shared->v.v[i].name == name)
		return &shared->v.v[i];
	return NULL;
}

/* No function is twice on a path. */
static int count_path(const struct vprof_call_paths *p, const struct vprof_named_path *path,
		      struct shared_functions *shared)
{
	for (uint32_t i = 0; i < path->n; i++) {
		const char *name = p->frames.v[path->first + i];
		struct shared_function *f;
		size_t at;

		if (vprof_hash_index_room(&shared->by_name, 1))
			return VPROF_ERR_NOMEM;
		f = shared_of(shared, name, &at);
		if (!f) {
			f = VPROF_PUSH(&shared->v);
			if (!f)
				return VPROF_ERR_NOMEM;
			*f = (struct shared_function){ name, 0 };
			vprof_hash_index_put(&shared->by_name, at, vprof_mix((uintptr_t)name),
					     (uint32_t)shared->v.n - 1);
		}
		f->n++;
	}
	return VPROF_OK;
}

/* The innermost function that no other stage's path has; NULL: there is none. */
static const char *own_function(const struct vprof_call_paths *p, const struct vprof_named_path *path,
				struct shared_functions *shared)
{
	for (uint32_t i = path->n; i-- > 0;) {
		const char *name = p->frames.v[path->first + i];
		size_t at;

		if (shared_of(shared, name, &at)->n == 1)
			return name;
	}
	return NULL;
}

static int name_path(struct vprof_call_paths *p, struct vprof_named_path *path, const uint8_t *is_stage,
		     struct shared_functions *shared)
{
	int is_shared = 0;
	uint32_t n = 1;

	path->text = joined(p, path, path->n, 0);
	path->label = own_function(p, path, shared);
	for (size_t i = 1; i < p->paths.n && !path->label; i++) {
		const struct vprof_named_path *other = &p->paths.v[i];

		if (other == path || !is_stage[i])
			continue;
		while (n < path->n && has_same_end(p, path, other, n))
			n++;
		is_shared |= n == path->n && has_same_end(p, path, other, n);
	}
	path->label = path->label ? path->label : joined(p, path, n, is_shared);
	return path->label && path->text ? VPROF_OK : VPROF_ERR_NOMEM;
}

int vprof_call_paths_name(struct vprof_call_paths *p, const uint8_t *is_stage)
{
	struct shared_functions shared = { .v = { NULL, 0, 0 } };
	int ret = VPROF_OK;

	for (size_t i = 1; i < p->paths.n && !ret; i++)
		if (is_stage[i])
			ret = count_path(p, &p->paths.v[i], &shared);
	for (size_t i = 1; i < p->paths.n && !ret; i++)
		if (is_stage[i])
			ret = name_path(p, &p->paths.v[i], is_stage, &shared);
	VPROF_ARRAY_RELEASE(&shared.v);
	vprof_hash_index_release(&shared.by_name);
	return ret;
}

int vprof_call_paths_find(struct vprof_call_paths *p, const struct vprof_source *sources, size_t n_sources)
{
	struct vprof_named_path *unknown;
	size_t n_threads = 0, n_paths = 0, at = 0;
	int ret = VPROF_OK;

	*p = (struct vprof_call_paths){ .sources = sources };
	for (size_t s = 0; s < n_sources; s++)
		n_threads += sources[s].timeline->n_threads;
	p->first_thread = calloc(n_sources + 1, sizeof *p->first_thread);
	p->first_path = calloc(n_threads + 1, sizeof *p->first_path);
	if (!p->first_thread || !p->first_path)
		return VPROF_ERR_NOMEM;
	for (size_t s = 0; s < n_sources; s++) {
		p->first_thread[s] = at;
		for (size_t i = 0; i < sources[s].timeline->n_threads; i++) {
			p->first_path[at++] = n_paths;
			n_paths += sources[s].timeline->threads[i].paths.n;
		}
	}
	p->first_path[at] = n_paths;
	p->numbers = calloc(n_paths + 1, sizeof *p->numbers);
	unknown = VPROF_PUSH(&p->paths);
	if (!p->numbers || !unknown)
		return VPROF_ERR_NOMEM;
	*unknown = (struct vprof_named_path){ .program = "", .label = "?", .text = "" };
	for (size_t s = 0; s < n_sources && !ret; s++)
		ret = name_source(p, &sources[s], p->first_thread[s]);
	return ret;
}

void vprof_call_paths_release(struct vprof_call_paths *p)
{
	VPROF_ARRAY_RELEASE(&p->paths);
	VPROF_ARRAY_RELEASE(&p->frames);
	vprof_hash_index_release(&p->by_frames);
	vprof_strings_release(&p->names);
	free(p->first_thread);
	free(p->first_path);
	free(p->numbers);
	*p = (struct vprof_call_paths){ 0 };
}

uint32_t vprof_call_path_number(const struct vprof_call_paths *p, size_t source, uint32_t thread, uint32_t id)
{
	const struct vprof_thread_timeline *thr = &p->sources[source].timeline->threads[thread];
	size_t i;

	if (!id || !p->numbers)
		return 0;
	i = VPROF_BISECT(thr->paths.n, k, thr->paths.v[k].id < id);
	if (i >= thr->paths.n || thr->paths.v[i].id != id)
		return 0;
	return p->numbers[p->first_path[p->first_thread[source] + thread] + i];
}
