/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariant: what is not certain is not opened. A copy in a function without a twin, a clone that nobody calls as far
 * as one can see, a call from code without debug information: each of them makes the function one that cannot be
 * measured.
 */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_closure.h"

#include <string.h>

#include "common/search.h"

static int by_target(const void *a, const void *b)
{
	const struct vprof_branch *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int is_clone(const uint64_t *clones, size_t n, uint64_t address)
{
	size_t i = VPROF_BISECT(n, i, clones[i] < address);

	return i < n && clones[i] == address;
}

/* The length of what could be a branch at `b` (E8, E9, 0F 8x with four bytes; EB, 7x with one), and how far it leads
 * from its end. 0: it is none. */
static size_t branch_at(const unsigned char *b, size_t n, int32_t *distance)
{
	size_t length = (b[0] & 0xfe) == 0xe8			       ? 5 :
			b[0] == 0x0f && n > 1 && (b[1] & 0xf0) == 0x80 ? 6 :
			b[0] == 0xeb || (b[0] & 0xf0) == 0x70	       ? 2 :
									 0;

	if (!length || length > n)
		return 0;
	if (length == 2)
		*distance = (signed char)b[1];
	else
		memcpy(distance, b + length - 4, 4);
	return length;
}

static int find_branches(struct vprof_resident_closure *c, const uint64_t *clones, size_t n_clones)
{
	for (size_t i = 0; i < c->file->code.n && n_clones; i++) {
		const struct vprof_resident_code *code = &c->file->code.v[i];

		for (size_t at = 0; at < code->n; at++) {
			int32_t distance;
			size_t length = branch_at(code->bytes + at, code->n - at, &distance);
			uint64_t to = code->address + at + length + (uint64_t)(int64_t)distance;
			struct vprof_branch *branch;

			if (!length || !is_clone(clones, n_clones, to))
				continue;
			branch = VPROF_PUSH(&c->branches);
			if (!branch)
				return VPROF_ERR_NOMEM;
			*branch = (struct vprof_branch){ code->address + at, to };
		}
	}
	return vprof_array_sort(c->branches.v, c->branches.n, sizeof *c->branches.v, by_target) ? VPROF_ERR_NOMEM :
												  VPROF_OK;
}

int vprof_resident_closure_init(struct vprof_resident_closure *c, const struct vprof_resident_file *file,
				const struct vprof_resident_debug *debug, struct vprof_error *err)
{
	uint64_t *clones = malloc((debug->instances.n + 1) * sizeof *clones);
	size_t n = 0;
	int rc;

	*c = (struct vprof_resident_closure){ .file = file, .debug = debug };
	c->stamps = calloc(debug->instances.n + 1, sizeof *c->stamps);
	for (size_t i = 0; clones && i < debug->instances.n; i++)
		if (debug->instances.v[i].kind == VPROF_INSTANCE_CLONE)
			clones[n++] = debug->instances.v[i].low;
	if (clones && n)
		qsort(clones, n, sizeof *clones, vprof_compare_u64);
	rc = clones && c->stamps ? find_branches(c, clones, n) : VPROF_ERR_NOMEM;
	free(clones);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_resident_closure_release(struct vprof_resident_closure *c)
{
	VPROF_ARRAY_RELEASE(&c->branches);
	VPROF_ARRAY_RELEASE(&c->entries);
	VPROF_ARRAY_RELEASE(&c->todo);
	free(c->stamps);
	c->stamps = NULL;
}

static const char *name_of(const struct vprof_resident_closure *c, uint32_t instance)
{
	return c->debug->functions.v[c->debug->instances.v[instance].function].name;
}

/* One more instance in whose code the function may run. */
static int visit(struct vprof_resident_closure *c, uint32_t instance)
{
	uint32_t *todo;

	if (c->stamps[instance] == c->stamp)
		return 1;
	c->stamps[instance] = c->stamp;
	todo = VPROF_PUSH(&c->todo);
	if (!todo)
		return VPROF_ERR_NOMEM;
	*todo = instance;
	return 1;
}

static int visit_callers(struct vprof_resident_closure *c, const struct vprof_instance *clone, struct vprof_text *why)
{
	size_t i = VPROF_BISECT(c->branches.n, i, c->branches.v[i].to < clone->low);
	const char *name = c->debug->functions.v[clone->function].name;
	int rc = 1, any = 0;

	for (; rc > 0 && i < c->branches.n && c->branches.v[i].to == clone->low; i++) {
		uint32_t caller = vprof_resident_instance_at(c->debug, c->branches.v[i].from);

		if (caller == VPROF_NONE) {
			vprof_text_addf(why, "a clone of it is called by code without debug information (%s)", name);
			return 0;
		}
		any = 1;
		rc = visit(c, caller);
	}
	if (rc > 0 && !any) {
		vprof_text_addf(why, "nobody calls its compiled form by name, as far as its program shows (%s)", name);
		return 0;
	}
	return rc;
}

static int cover_thunks(struct vprof_resident_closure *c, uint64_t function)
{
	const struct vprof_resident_debug *d = c->debug;
	size_t i = VPROF_BISECT(d->thunks.n, i, d->thunks.v[i].function < function);

	for (; i < d->thunks.n && d->thunks.v[i].function == function; i++) {
		uint64_t *entry = VPROF_PUSH(&c->entries);

		if (!entry)
			return VPROF_ERR_NOMEM;
		*entry = d->thunks.v[i].entry;
	}
	return 1;
}

static int cover(struct vprof_resident_closure *c, uint32_t function, uint32_t instance, struct vprof_text *why)
{
	const struct vprof_instance *i = &c->debug->instances.v[instance];
	uint64_t *entry;

	if (i->kind == VPROF_INSTANCE_TWIN) {
		vprof_text_addf(why, "a copy was inlined into the twin of another function (%s)", name_of(c, instance));
		return 0;
	}
	if (i->kind == VPROF_INSTANCE_CLONE)
		return visit_callers(c, i, why);
	if (c->debug->functions.v[i->function].is_always && i->entry) {
		c->n_always++;
		return 1;
	}
	if (!i->entry) {
		if (i->function == function)
			vprof_text_add(why, "its entry cannot be patched");
		else
			vprof_text_addf(why, "a copy was inlined into a function without a twin (%s)",
					name_of(c, instance));
		return 0;
	}
	entry = VPROF_PUSH(&c->entries);
	if (!entry)
		return VPROF_ERR_NOMEM;
	*entry = i->entry;
	return cover_thunks(c, i->low);
}

/* Where the function itself runs. (Of those that share a line, some have no probe, and no entry.) */
static int visit_function(struct vprof_resident_closure *c, uint32_t function, struct vprof_text *why)
{
	const struct vprof_resident_debug *d = c->debug;
	const struct vprof_source_function *f = &d->functions.v[function];
	int rc = 1;

	for (size_t i = f->instance; rc > 0 && i < d->instances.n && d->instances.v[i].function == function; i++)
		if (d->instances.v[i].entry || !vprof_resident_is_spared(c->file, d->instances.v[i].low))
			rc = visit(c, (uint32_t)i);
	for (size_t i = f->inlined; rc > 0 && i < d->inlined.n && d->inlined.v[i].function == function; i++) {
		if (d->inlined.v[i].holder == VPROF_NONE) {
			vprof_text_add(why, "a copy was inlined into a function without a name");
			return 0;
		}
		rc = visit(c, d->inlined.v[i].holder);
	}
	return rc;
}

int vprof_resident_closure_of(struct vprof_resident_closure *c, const uint32_t *functions, size_t n,
			      struct vprof_text *why)
{
	int rc = 1;

	c->stamp++;
	c->entries.n = c->todo.n = c->n_always = 0;
	for (size_t i = 0; rc > 0 && i < n; i++)
		rc = visit_function(c, functions[i], why);
	for (size_t i = 0; rc > 0 && i < c->todo.n; i++)
		rc = cover(c, functions[0], c->todo.v[i], why);
	if (rc > 0 && !c->entries.n && !c->n_always) {
		vprof_text_add(why, "the program does not contain it");
		return 0;
	}
	if (rc > 0 && vprof_array_sort(c->entries.v, c->entries.n, sizeof *c->entries.v, vprof_compare_u64))
		return VPROF_ERR_NOMEM;
	return why->failed ? VPROF_ERR_NOMEM : rc;
}
