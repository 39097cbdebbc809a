/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* memrchr, qsort_r */
#include "annotate/code/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/code/identifiers.h"
#include "common/json_places.h"

int vprof_function_is_method(const struct vprof_facts_function *f)
{
	const char *name = strstr(f->usr, "@F@"), *class = strstr(f->usr, "@S");
	size_t n = strlen(f->usr);

	if (f->lang == VPROF_LANG_C || !name || !class || class > name)
		return 0;
	return n < 2 || strcmp(f->usr + n - 2, "#S"); /* a static method has no object */
}

static int is_integer_type(const char *type)
{
	static const char *const words[] = { "int",	"long",	    "short",   "unsigned", "size_t",	"ssize_t",
					     "int32_t", "uint32_t", "int64_t", "uint64_t", "uintptr_t", "intptr_t" };
	size_t i;

	for (i = 0; i < VPROF_LENGTH(words); i++)
		if (vprof_expression_mentions(type, words[i]))
			return 1;
	return 0;
}

static void read_parameters(struct vprof_discovery *d, const struct vprof_facts_function *f,
			    struct vprof_parameters *out)
{
	struct vprof_parameter *list = NULL, *p;
	struct vprof_json *array, *one;
	size_t length;

	out->known = 1;
	if (vprof_json_parse(&array, d->arena, "facts", f->params, strlen(f->params), NULL))
		return;
	for (one = array->first; one; one = one->next) {
		p = vprof_arena_push(d->arena, &list, &out->n, sizeof *p);
		if (!p)
			return;
		p->name = vprof_json_string(one, "name");
		p->type = vprof_json_string(one, "type");
		length = strlen(p->type);
		p->is_pointer = length && (p->type[length - 1] == '*' || strstr(p->type, "*const")) && *p->name;
		p->is_integer = !p->is_pointer && is_integer_type(p->type) && *p->name;
		out->list = list;
	}
}

const struct vprof_parameter *vprof_discovery_parameters(struct vprof_discovery *d,
							 const struct vprof_facts_function *f, size_t *n)
{
	struct vprof_parameters *p = &d->parameters[f - d->facts->functions];

	if (!p->known)
		read_parameters(d, f, p);
	*n = p->list ? p->n : 0;
	return p->list;
}

const char *vprof_discovery_argument(struct vprof_discovery *d, const struct vprof_facts_call *call, size_t index)
{
	struct vprof_json *array, *one;

	if (vprof_json_parse(&array, d->arena, "facts", call->args, strlen(call->args), NULL))
		return NULL;
	for (one = array->first; one && one->index < index; one = one->next)
		;
	return one && one->type == VPROF_JSON_STRING ? one->string : NULL;
}

static int compare_normal(const void *pa, const void *pb, void *data)
{
	const uint32_t *a = pa, *b = pb;
	const char **normal = data;
	int order = strcmp(normal[*a], normal[*b]);

	return order ? order : *a < *b ? -1 : *a > *b;
}

static void index_names(struct vprof_discovery *d)
{
	char name[128];
	uint32_t i;

	for (i = 0; i < d->facts->n_functions; i++) {
		vprof_name_normalise(name, sizeof name, d->facts->functions[i].name);
		d->normal[i] = vprof_arena_copy(d->arena, name, strlen(name));
		d->by_normal[i] = i;
	}
	qsort_r(d->by_normal, d->facts->n_functions, sizeof *d->by_normal, compare_normal, d->normal);
}

const char *vprof_discovery_where(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, f->file);
	const char *path = file ? file->path : "?";
	size_t n = strlen(d->facts->root);

	if (n && !strncmp(path, d->facts->root, n) && path[n] == '/')
		path += n + 1;
	return vprof_arena_printf(d->arena, "%s:%d", path, f->line);
}

static int is_unique(struct vprof_discovery *d, const struct vprof_facts_function *f, const char *name,
		     const char *suffix)
{
	uint32_t found[16];
	size_t n = vprof_facts_find(d->facts, name, suffix, found, VPROF_LENGTH(found)), i;

	for (i = 0; i < n && i < VPROF_LENGTH(found); i++)
		if (d->facts->functions[found[i]].file != f->file)
			return 0;
	return n <= VPROF_LENGTH(found);
}

const char *vprof_discovery_name(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, f->file);
	const char *name = f->lang != VPROF_LANG_C ? f->display : f->name, *slash, *from;

	if (!file || is_unique(d, f, name, NULL))
		return name;
	for (from = file->path + strlen(file->path); (slash = memrchr(file->path, '/', (size_t)(from - file->path)));
	     from = slash)
		if (is_unique(d, f, name, slash + 1))
			return vprof_arena_printf(d->arena, "%s@%s", name, slash + 1);
	return vprof_arena_printf(d->arena, "%s@%s", name, file->path);
}

int vprof_discovery_init(struct vprof_discovery *d, const struct vprof_facts *facts,
			 const struct vprof_callgraph *graph, struct vprof_draft *draft, struct vprof_arena *arena)
{
	size_t n = facts->n_functions + 1;
	int t;

	*d = (struct vprof_discovery){ .facts = facts, .graph = graph, .draft = draft, .arena = arena };
	for (t = 0; t < VPROF_ROLE_N; t++) {
		d->distance[t] = vprof_arena_alloc(d->arena, n);
		if (!d->distance[t])
			return -1;
		memset(d->distance[t], VPROF_FAR, n);
	}
	d->is_entry = vprof_arena_alloc(d->arena, n);
	d->dispatch_call = vprof_arena_alloc(d->arena, n * sizeof *d->dispatch_call);
	d->dispatch_table = vprof_arena_alloc(d->arena, n * sizeof *d->dispatch_table);
	d->normal = vprof_arena_alloc(d->arena, n * sizeof *d->normal);
	d->by_normal = vprof_arena_alloc(d->arena, n * sizeof *d->by_normal);
	d->parameters = vprof_arena_alloc(d->arena, n * sizeof *d->parameters);
	if (d->arena->failed)
		return -1;
	index_names(d);
	return d->arena->failed ? -1 : 0;
}
