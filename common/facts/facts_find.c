/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lookups in loaded facts. Interned strings are unique, so USRs and signatures are compared by address; strings from
 * outside are first looked up in the set of interned ones. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "common/facts/facts_private.h"
#include "common/nearest.h"
#include "common/search.h"

static int compare_addresses_of(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y) - (x < y);
}

static int by_index(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_usr(const void *a, const void *b, void *facts)
{
	const struct vprof_facts_function *f = ((struct vprof_facts *)facts)->functions;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = compare_addresses_of(f[i].usr, f[j].usr);

	return order ? order : by_index(i, j);
}

static int compare_name(const void *a, const void *b, void *facts)
{
	const struct vprof_facts_function *f = ((struct vprof_facts *)facts)->functions;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = f[i].name == f[j].name ? 0 : strcmp(f[i].name, f[j].name);

	return order ? order : by_index(i, j);
}

static int compare_signature(const void *a, const void *b, void *facts)
{
	const struct vprof_facts_address *x = ((struct vprof_facts *)facts)->addresses;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = compare_addresses_of(x[i].signature, x[j].signature);

	return order ? order : by_index(i, j);
}

static int compare_override(const void *a, const void *b)
{
	const struct vprof_override *x = a, *y = b;
	int order = compare_addresses_of(x->base, y->base);

	return order ? order : compare_addresses_of(x->method, y->method);
}

static uint32_t *sorted(struct vprof_facts *f, size_t n, int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = malloc((n + 1) * sizeof *order);

	for (size_t i = 0; order && i < n; i++)
		order[i] = (uint32_t)i;
	if (order)
		qsort_r(order, n, sizeof *order, compare, f);
	return order;
}

/* First place in by_usr whose USR is not less than `usr`. */
static size_t first_with_usr(const struct vprof_facts *f, const char *usr)
{
	size_t low = 0, high = f->n_functions;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_addresses_of(f->functions[f->private->by_usr[mid]].usr, usr) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* Several programs of a project may define the same name: the definition in the same file, else the one
 * with the most similar path. Index + 1, or 0. */
static uint32_t resolve(const struct vprof_facts *f, const char *usr, uint32_t file)
{
	const struct vprof_facts_file *here = vprof_facts_file(f, file);
	size_t best_alike = 0;
	uint32_t best = 0;

	if (!usr[0])
		return 0;
	for (size_t i = first_with_usr(f, usr); i < f->n_functions; i++) {
		uint32_t index = f->private->by_usr[i];
		const struct vprof_facts_function *fn = &f->functions[index];
		size_t alike;

		if (fn->usr != usr)
			break;
		if (fn->file == file)
			return index + 1;
		alike = here ? common_prefix(here->path, vprof_facts_file(f, fn->file)->path) : 0;
		if (!best || alike > best_alike) {
			best = index + 1;
			best_alike = alike;
		}
	}
	return best;
}

/* Groups the calls by caller: a counting sort over the functions. */
static void group_calls(struct vprof_facts *f)
{
	uint32_t at = 0;

	for (size_t i = 0; i < f->n_calls; i++)
		f->functions[vprof_facts_caller(f, &f->calls[i])].n_calls++;
	for (size_t i = 0; i < f->n_functions; i++) {
		f->functions[i].first_call = at;
		at += f->functions[i].n_calls;
		f->functions[i].n_calls = 0;
	}
	for (size_t i = 0; i < f->n_calls; i++) {
		struct vprof_facts_function *fn = &f->functions[vprof_facts_caller(f, &f->calls[i])];

		f->private->by_caller[fn->first_call + fn->n_calls++] = (uint32_t)i;
	}
}

int vprof_facts_link(struct vprof_facts *f, struct vprof_error *err)
{
	struct vprof_facts_private *p = f->private;

	p->by_usr = sorted(f, f->n_functions, compare_usr);
	p->by_name = sorted(f, f->n_functions, compare_name);
	p->by_signature = sorted(f, f->n_addresses, compare_signature);
	p->by_caller = malloc((f->n_calls + 1) * sizeof *p->by_caller);
	if (!p->by_usr || !p->by_name || !p->by_signature || !p->by_caller)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading the facts");
	if (p->n_overrides)
		qsort(p->overrides, p->n_overrides, sizeof *p->overrides, compare_override);
	group_calls(f);
	f->calls_by_caller = p->by_caller;
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].kind != VPROF_CALL_POINTER)
			f->calls[i].callee_function = resolve(f, f->calls[i].callee_usr, f->calls[i].file);
	for (size_t i = 0; i < f->n_addresses; i++)
		f->addresses[i].function = resolve(f, f->addresses[i].function_usr, f->addresses[i].file);
	return VPROF_OK;
}

#define BY_ID(array, n, wanted)                                                                                        \
	do {                                                                                                           \
		size_t low = 0, high = (n);                                                                            \
		while (low < high) {                                                                                   \
			size_t mid = (low + high) / 2;                                                                 \
			if ((array)[mid].id < (wanted))                                                                \
				low = mid + 1;                                                                         \
			else                                                                                           \
				high = mid;                                                                            \
		}                                                                                                      \
		return low < (n) && (array)[low].id == (wanted) ? &(array)[low] : NULL;                                \
	} while (0)

const struct vprof_facts_file *vprof_facts_file(const struct vprof_facts *f, uint32_t id)
{
	BY_ID(f->files, f->n_files, id);
}

const struct vprof_facts_function *vprof_facts_function(const struct vprof_facts *f, uint32_t id)
{
	BY_ID(f->functions, f->n_functions, id);
}

uint32_t vprof_facts_caller(const struct vprof_facts *f, const struct vprof_facts_call *call)
{
	const struct vprof_facts_function *caller = vprof_facts_function(f, call->caller);

	return caller ? (uint32_t)(caller - f->functions) : UINT32_MAX;
}

const struct vprof_facts_call *vprof_facts_call(const struct vprof_facts *f, uint32_t id)
{
	BY_ID(f->calls, f->n_calls, id);
}

/* "aof.c" matches "/r/src/aof.c", not "/r/src/loadaof.c". */
static int path_ends(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);

	if (m > n || strcmp(path + n - m, suffix))
		return 0;
	return m == n || suffix[0] == '/' || path[n - m - 1] == '/';
}

size_t vprof_facts_find(const struct vprof_facts *f, const char *name, const char *file_suffix, uint32_t *indices,
			size_t max)
{
	size_t n = 0;

	if (file_suffix && !file_suffix[0])
		file_suffix = NULL;
	for (size_t i = 0; i < f->n_functions; i++) {
		uint32_t index = f->private->by_name[i];
		const struct vprof_facts_function *fn = &f->functions[index];

		if (strcmp(fn->name, name) && (fn->display == fn->name || strcmp(fn->display, name)))
			continue;
		if (file_suffix && !path_ends(vprof_facts_file(f, fn->file)->path, file_suffix))
			continue;
		if (n < max)
			indices[n] = index;
		n++;
	}
	return n;
}

const char *vprof_facts_nearest(const struct vprof_facts *f, const char *name)
{
	struct vprof_nearest nearest;

	vprof_nearest_begin(&nearest, name, 0);
	for (size_t i = 0; i < f->n_functions; i++) {
		const struct vprof_facts_function *fn = &f->functions[f->private->by_name[i]];

		vprof_nearest_offer(&nearest, fn->name);
		if (fn->display != fn->name)
			vprof_nearest_offer(&nearest, fn->display);
	}
	return nearest.best;
}

/* indices without duplicates; `seen` has one byte for each function */
struct found {
	uint32_t *indices;
	size_t n, max;
	char *seen;
};

static void found_add(struct found *out, uint32_t index)
{
	if (out->seen) {
		if (out->seen[index])
			return;
		out->seen[index] = 1;
	}
	if (out->n < out->max)
		out->indices[out->n] = index;
	out->n++;
}

static size_t first_override(const struct vprof_facts_private *p, const char *base)
{
	size_t low = 0, high = p->n_overrides;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_addresses_of(p->overrides[mid].base, base) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t vprof_facts_overriders(const struct vprof_facts *f, const char *usr, uint32_t *indices, size_t max)
{
	struct vprof_facts_private *p = f->private;
	const char *kept = vprof_strings_look(&p->strings, usr);
	struct found out = { indices, 0, max, calloc(f->n_functions + 1, 1) };
	const char **queue = malloc((p->n_overrides + 1) * sizeof *queue);
	char *queued = calloc(p->n_overrides + 1, 1);
	size_t n_queue = 0;

	if (!kept || !queue || !queued || !out.seen)
		goto out;
	queue[n_queue++] = kept;
	for (size_t head = 0; head < n_queue; head++) {
		for (size_t i = first_with_usr(f, queue[head]); i < f->n_functions; i++) {
			if (f->functions[p->by_usr[i]].usr != queue[head])
				break;
			found_add(&out, p->by_usr[i]);
		}
		for (size_t i = first_override(p, queue[head]); i < p->n_overrides; i++) {
			if (p->overrides[i].base != queue[head])
				break;
			if (!queued[i])
				queue[n_queue++] = p->overrides[i].method;
			queued[i] = 1;
		}
	}
out:
	free(queue);
	free(queued);
	free(out.seen);
	return out.n;
}

/* Length of "RESULT (" in "RESULT (PARAMETERS)", the parameters' parentheses being the last. */
static size_t result_length(const char *signature)
{
	size_t n = strlen(signature), depth = 0;

	while (n--) {
		if (signature[n] == ')')
			depth++;
		else if (signature[n] == '(' && depth && !--depth)
			return n + 1;
	}
	return 0;
}

static void add_targets(const struct vprof_facts *f, const char *signature, struct found *out)
{
	const struct vprof_facts_private *p = f->private;
	const char *kept = vprof_strings_look(&p->strings, signature);
	size_t low = 0, high = kept ? f->n_addresses : 0;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_addresses_of(f->addresses[p->by_signature[mid]].signature, kept) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; kept && i < f->n_addresses; i++) {
		const struct vprof_facts_address *a = &f->addresses[p->by_signature[i]];

		if (a->signature != kept)
			break;
		if (a->function)
			found_add(out, a->function - 1);
	}
}

/* An unprototyped type, "int ()", matches every type with the same result, on either side. */
size_t vprof_facts_pointer_targets(const struct vprof_facts *f, const char *signature, uint32_t *indices, size_t max)
{
	struct found out = { indices, 0, max, calloc(f->n_functions + 1, 1) };
	size_t n = result_length(signature);
	char *open;

	if (!out.seen || !n)
		goto out;
	if (signature[n] == ')') {
		for (size_t i = 0; i < f->n_addresses; i++) {
			const struct vprof_facts_address *a = &f->addresses[i];

			if (a->function && result_length(a->signature) == n && !memcmp(a->signature, signature, n))
				found_add(&out, a->function - 1);
		}
		goto out;
	}
	add_targets(f, signature, &out);
	open = malloc(n + 2);
	if (open) {
		memcpy(open, signature, n);
		memcpy(open + n, ")", 2);
		add_targets(f, open, &out);
		free(open);
	}
out:
	free(out.seen);
	return out.n;
}

int vprof_facts_tu_reads(const struct vprof_facts_tu *tu, uint32_t file)
{
	return tu->n_files && bsearch(&file, tu->files, tu->n_files, sizeof file, vprof_compare_u32);
}

static size_t n_readers(const struct vprof_facts *f, uint32_t file)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_tus; i++)
		n += (size_t)vprof_facts_tu_reads(&f->tus[i], file);
	return n;
}

int vprof_facts_is_shared(const struct vprof_facts *f, uint32_t user, uint32_t header)
{
	return user != header && n_readers(f, header) > n_readers(f, user);
}

int vprof_facts_return_can_be_examined(const struct vprof_facts *f, const struct vprof_facts_function *function)
{
	if (function->return_kind == VPROF_RETURNS_VOID)
		return 0;
	if (function->lang == VPROF_LANG_C || function->return_kind == VPROF_RETURNS_SCALAR)
		return 1;
	if (!strcmp(function->returns, "__auto_type") || strpbrk(function->returns, "()"))
		return 0;
	for (size_t i = 0; function->return_kind == VPROF_RETURNS_RECORD && i < f->n_tus; i++) {
		const struct vprof_facts_tu *tu = &f->tus[i];

		if (vprof_facts_tu_reads(tu, function->file) &&
		    (strstr(tu->arguments, "++98\"") || strstr(tu->arguments, "++03\"")))
			return 0;
	}
	return 1;
}
