/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/elf/function_search.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/elf_private.h"
#include "common/elf/symbol_name.h"

#define STEPS_MAX 20000000u /* of reading debug information: damaged ones cost no more than large ones */

struct searching {
	struct vprof_elf *elf;
	const char *part; /* of the name: the last one */
	char *plain;	  /* ... without template arguments */
	struct vprof_function_search *found;
	uint64_t n_steps;
};

/* "handle" of "ns::Server::handle"; template arguments stay with what they belong to. */
static const char *last_part(const char *name)
{
	const char *part = name;
	int depth = 0;

	for (const char *at = name; *at; at++) {
		depth += (*at == '<') - (*at == '>');
		if (depth <= 0 && at[0] == ':' && at[1] == ':')
			part = at + 2;
	}
	return part;
}

/* The name that the linker has for what begins there; NULL: none. */
static const char *linked_name(const struct vprof_elf *elf, uint64_t low)
{
	for (size_t i = 0; i < elf->entries.n; i++)
		if (elf->entries.v[i].low == low)
			return elf->entries.v[i].elf_name;
	return NULL;
}

/* Are two names at different places those of one function? Of a copy that the compiler made only the mark differs. */
static int is_copy(const char *a, const char *b)
{
	size_t n = strcspn(a, ".@");

	return strcmp(a, b) && n == strcspn(b, ".@") && !strncmp(a, b, n);
}

size_t vprof_function_tell_apart(struct vprof_elf *elf, uint64_t *lows, size_t n)
{
	size_t kept = 0;

	vprof_elf_read(elf);
	for (size_t i = 0; i < n; i++) {
		const char *name = linked_name(elf, lows[i]);
		int is_known = 0;

		for (size_t k = 0; k < kept && !is_known; k++) {
			const char *other = linked_name(elf, lows[k]);

			is_known = lows[k] == lows[i] || !name || !other || is_copy(name, other);
		}
		if (!is_known)
			lows[kept++] = lows[i];
	}
	return kept;
}

/* One place at which it was inlined. */
static int on_instance(Dwarf_Die *instance, void *searching)
{
	struct searching *s = searching;
	struct vprof_function_search *found = s->found;
	Dwarf_Die *scopes = NULL;
	const char *into = NULL;
	int n = dwarf_getscopes_die(instance, &scopes);

	for (int i = 1; i < n && !into; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			into = dwarf_diename(&scopes[i]);
	free(scopes);
	found->n_inlined++;
	into = into ? vprof_strings_keep(&s->elf->strings, into) : NULL;
	for (size_t i = 0; into && i < found->n_into; i++)
		if (found->into[i] == into)
			into = NULL;
	if (into && found->n_into < VPROF_SEARCH_INTO)
		found->into[found->n_into++] = into;
	return ++s->n_steps > STEPS_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int on_function(Dwarf_Die *function, void *searching)
{
	struct searching *s = searching;
	const char *name = dwarf_diename(function);

	if (name && !strcmp(name, s->part) && dwarf_func_inline(function))
		dwarf_func_inline_instances(function, on_instance, s);
	return ++s->n_steps > STEPS_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static void search_inlined(struct searching *s)
{
	Dwarf *dwarf = vprof_dwarf_of(s->elf->dwarf);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (s->n_steps <= STEPS_MAX && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		if (dwarf_tag(&die) == DW_TAG_compile_unit)
			dwarf_getfuncs(&die, on_function, s, 0);
}

void vprof_function_search(struct vprof_elf *elf, const char *name, struct vprof_function_search *found)
{
	struct searching s = { .elf = elf, .part = last_part(name), .found = found };

	*found = (struct vprof_function_search){ .is_linked = 0 };
	s.plain = strndup(s.part, strcspn(s.part, "<"));
	vprof_elf_read(elf);
	for (size_t i = 0; s.plain && i < elf->entries.n && !found->is_linked; i++) {
		const char *linked = elf->entries.v[i].elf_name;
		char *told = strstr(linked, s.plain) ? vprof_symbol_name(linked) : NULL;

		found->is_linked = told && !strcmp(told, name);
		free(told);
	}
	if (elf->dwarf)
		search_inlined(&s);
	free(s.plain);
}
