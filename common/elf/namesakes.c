/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies and cold parts that the compiler made have a mark in the linker's name; their source file tells of which
 * function they are. */
#include <stdlib.h>
#include <string.h>

#include "common/elf/elf_private.h"
#include "common/elf/function_search.h"
#include "common/files.h"

#define SOURCES_MOST 64 /* of one name */

struct namesake {
	const char *name; /* as it is told */
	uint64_t low;
	int is_marked;
};

struct vprof_namesakes {
	struct vprof_elf *elf;
	VPROF_ARRAY(struct namesake) v; /* by name, then low; those of which there are several */
};

static struct namesake namesake_of(struct vprof_elf *elf, const struct vprof_elf_entry *e)
{
	const struct vprof_symbol *told = vprof_elf_linked(elf, e->low);

	return (struct namesake){ told && told->name ? told->name : e->elf_name, e->low,
				  strchr(e->elf_name, '.') != NULL };
}

static int compare_names(const struct namesake *x, const struct namesake *y)
{
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	const struct namesake *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : (x->low > y->low) - (x->low < y->low);
}

/* Does any name without a mark begin at two places? */
static int are_several(const struct namesake *v, size_t n)
{
	uint64_t low = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i].is_marked)
			continue;
		if (low && v[i].low != low)
			return 1;
		low = v[i].low;
	}
	return 0;
}

static size_t count_alike(const struct vprof_namesakes *s, size_t first)
{
	size_t n = 1;

	while (first + n < s->v.n && !compare_names(&s->v.v[first], &s->v.v[first + n]))
		n++;
	return n;
}

struct vprof_namesakes *vprof_namesakes_new(struct vprof_elf *elf)
{
	struct vprof_namesakes *s = calloc(1, sizeof *s);
	size_t kept = 0;

	vprof_elf_read(elf);
	for (size_t i = 0; s && elf->dwarf && i < elf->entries.n; i++) {
		struct namesake *to = VPROF_PUSH(&s->v);

		if (!to)
			break;
		*to = namesake_of(elf, &elf->entries.v[i]);
	}
	if (s && s->v.n)
		qsort(s->v.v, s->v.n, sizeof *s->v.v, by_name);
	for (size_t i = 0, n; s && i < s->v.n; i += n) {
		n = count_alike(s, i);
		if (!are_several(&s->v.v[i], n))
			continue;
		memmove(&s->v.v[kept], &s->v.v[i], n * sizeof *s->v.v);
		kept += n;
	}
	if (s && kept) {
		s->elf = elf;
		s->v.n = kept;
		return s;
	}
	vprof_namesakes_free(s);
	return NULL;
}

void vprof_namesakes_free(struct vprof_namesakes *s)
{
	if (s)
		VPROF_ARRAY_RELEASE(&s->v);
	free(s);
}

static const char *source_at(struct vprof_namesakes *s, uint64_t low)
{
	struct vprof_place places[VPROF_ELF_FRAMES_MAX];
	size_t n = vprof_elf_places(s->elf, low, places, VPROF_ELF_FRAMES_MAX);
	const char *path = n ? places[n - 1].file : NULL;

	return path ? vprof_path_name(path) : NULL;
}

/* Are the sources of those without a mark all known, and different? Of one at `low` without a mark, or of another
 * source than all of them, nothing follows. */
static int are_apart(struct vprof_namesakes *s, size_t first, size_t n, const char *own)
{
	const char *known[SOURCES_MOST];
	size_t n_known = 0;
	int is_own = 0;

	for (size_t i = first; i < first + n; i++) {
		const char *source;

		if (s->v.v[i].is_marked || (i > first && s->v.v[i].low == s->v.v[i - 1].low))
			continue;
		source = source_at(s, s->v.v[i].low);
		if (!source || n_known == SOURCES_MOST)
			return 0;
		for (size_t k = 0; k < n_known; k++)
			if (!strcmp(known[k], source))
				return 0;
		known[n_known++] = source;
		is_own |= !strcmp(source, own);
	}
	return is_own;
}

const char *vprof_namesakes_source(struct vprof_namesakes *s, uint64_t address)
{
	const struct vprof_symbol *told = s ? vprof_elf_linked(s->elf, address) : NULL;
	struct namesake x = { told ? told->name : NULL, address, 0 };
	size_t low = 0, high = s ? s->v.n : 0;
	const char *own;

	if (!told)
		return NULL;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_names(&s->v.v[middle], &x) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->v.n || compare_names(&s->v.v[low], &x))
		return NULL;
	own = source_at(s, address);
	return own && are_apart(s, low, count_alike(s, low), own) ? own : NULL;
}
