/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the compiler inlined, from DWARF. One that has a symbol of its own, too, is that symbol; of others,
 * those of one name are one. */
#include <dwarf.h>

#include "common/elf/dwarf_units.h"
#include "common/elf/elf_private.h"
#include "common/elf/symbol_name.h"
#include "common/text.h"

#define ORIGIN_MAX 16 /* from an instance to what declares it */

/* what a DIE is known as */
struct known {
	const void *die;
	const struct vprof_symbol *symbol; /* NULL: it has no name */
	const char *file;		   /* where it is declared */
};

struct vprof_dwarf {
	struct vprof_elf *elf;
	struct vprof_dwarf_units units;
	Dwarf_Addr bias;
	struct known *known; /* open addressing, size a power of two */
	size_t n_known, n_slots;
	VPROF_ARRAY(struct vprof_symbol *) symbols; /* only inlined */
};

struct vprof_dwarf *vprof_dwarf_new(struct vprof_elf *elf)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(elf->module, &bias);
	struct vprof_dwarf *d = dwarf ? calloc(1, sizeof *d) : NULL;

	if (!d)
		return NULL;
	d->elf = elf;
	d->units.dwarf = dwarf;
	d->bias = bias;
	return d;
}

void vprof_dwarf_free(struct vprof_dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->symbols.n; i++)
		free(d->symbols.v[i]);
	VPROF_ARRAY_RELEASE(&d->symbols);
	vprof_dwarf_units_release(&d->units);
	free(d->known);
	free(d);
}

Dwarf *vprof_dwarf_of(const struct vprof_dwarf *d)
{
	return d->units.dwarf;
}

static struct known *slot_of(struct known *slots, size_t n_slots, const void *die)
{
	size_t i = (size_t)vprof_mix((uint64_t)(uintptr_t)die) & (n_slots - 1);

	while (slots[i].die && slots[i].die != die)
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

/* The DIE's slot, empty when it is new; NULL without memory. */
static struct known *known_slot(struct vprof_dwarf *d, const void *die)
{
	if (2 * d->n_known >= d->n_slots) {
		size_t n_slots = d->n_slots ? 2 * d->n_slots : 64;
		struct known *slots = calloc(n_slots, sizeof *slots);

		if (!slots)
			return NULL;
		for (size_t i = 0; i < d->n_slots; i++)
			if (d->known[i].die)
				*slot_of(slots, n_slots, d->known[i].die) = d->known[i];
		free(d->known);
		d->known = slots;
		d->n_slots = n_slots;
	}
	return slot_of(d->known, d->n_slots, die);
}

/* From an instance of a function to the DIE that it is an instance of. */
static Dwarf_Die *follow(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
	Dwarf_Attribute value;

	*to = *die;
	for (int n = 0; n < ORIGIN_MAX && dwarf_attr(to, attribute, &value); n++) {
		Dwarf_Die next;

		if (!dwarf_formref_die(&value, &next))
			break;
		*to = next;
	}
	return to;
}

static int has_scopes(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

static const char *scope_name(Dwarf_Die *scope)
{
	const char *name = dwarf_diename(scope);

	switch (dwarf_tag(scope)) {
	case DW_TAG_namespace:
		return name ? name : "(anonymous namespace)";
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return name ? name : "{unnamed}";
	case DW_TAG_subprogram:
		return name;
	default:
		return NULL;
	}
}

/* "space::Class::function", where the compiler gives no linker's name: of what has internal linkage. */
static const char *qualified_name(struct vprof_dwarf *d, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *kept;
	struct vprof_text text = VPROF_TEXT_INIT;
	Dwarf_Die declaration, *scopes = NULL;
	int n;

	if (!name || !*name)
		return NULL;
	if (!has_scopes(die))
		return vprof_strings_keep(&d->elf->strings, name);
	follow(die, DW_AT_abstract_origin, &declaration);
	follow(&declaration, DW_AT_specification, &declaration);
	n = dwarf_getscopes_die(&declaration, &scopes);
	for (int i = n - 1; i > 0; i--) {
		const char *scope = scope_name(&scopes[i]);

		if (scope)
			vprof_text_addf(&text, "%s::", scope);
	}
	vprof_text_add(&text, name);
	kept = text.failed ? NULL : vprof_strings_keep(&d->elf->strings, text.s);
	vprof_text_release(&text);
	free(scopes);
	return kept;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute value;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &value) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &value))
		return dwarf_formstring(&value);
	return NULL;
}

/* The symbol of this name among those that are only inlined, made at first use. */
static const struct vprof_symbol *symbol_of_name(struct vprof_dwarf *d, const char *name)
{
	struct vprof_symbol **room, *symbol;

	for (size_t i = 0; i < d->symbols.n; i++)
		if (d->symbols.v[i]->name == name) /* one copy of each text */
			return d->symbols.v[i];
	symbol = calloc(1, sizeof *symbol);
	room = symbol ? VPROF_PUSH(&d->symbols) : NULL;
	if (!room) {
		free(symbol);
		return NULL;
	}
	*room = symbol;
	symbol->name = name;
	symbol->module = d->elf->path;
	return symbol;
}

static const struct vprof_symbol *make_symbol(struct vprof_dwarf *d, Dwarf_Die *die)
{
	const char *linkage = linkage_name(die), *name;
	const struct vprof_symbol *linked = NULL;
	char *plain;

	if (linkage && *linkage) {
		linked = vprof_elf_named(d->elf, linkage);
		plain = linked ? NULL : vprof_symbol_name(linkage);
		name = plain ? vprof_strings_keep(&d->elf->strings, plain) : NULL;
		free(plain);
	} else {
		name = qualified_name(d, die);
		linked = name && !has_scopes(die) ? vprof_elf_named(d->elf, name) : NULL;
	}
	return linked ? linked : name ? symbol_of_name(d, name) : NULL;
}

/* The name of a unit's file number `index`, or NULL. dwarf_decl_file() would end the program where a unit has no table
 * of files, as the parts of split DWARF may lack it. */
static const char *file_of(Dwarf_CU *cu, Dwarf_Word index)
{
	Dwarf_Files *files;
	Dwarf_Die unit;

	return dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) && !dwarf_getsrcfiles(&unit, &files, NULL) ?
		       dwarf_filesrc(files, index, NULL, NULL) :
		       NULL;
}

static const char *declared_in(Dwarf_Die *die)
{
	Dwarf_Attribute value;
	Dwarf_Word index;

	return dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &value), &index) || !index ?
		       NULL :
		       file_of(value.cu, index);
}

/* What an instance of a function is known as; NULL without memory. Valid until the next call. */
static const struct known *known_of(struct vprof_dwarf *d, Dwarf_Die *instance)
{
	Dwarf_Die die;
	struct known *known;

	follow(instance, DW_AT_abstract_origin, &die);
	known = known_slot(d, die.addr);
	if (known && !known->die) {
		known->die = die.addr;
		known->symbol = make_symbol(d, &die);
		known->file = declared_in(&die);
		d->n_known++;
	}
	return known;
}

static int is_scope(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* The child of `scope` that covers the address, of those that hold code. */
static int covering_child(struct vprof_dwarf *d, Dwarf_Die *scope, uint64_t address, Dwarf_Die *child)
{
	if (dwarf_child(scope, child))
		return 0;
	do {
		if (!vprof_dwarf_units_step(&d->units))
			return 0;
		if (is_scope(dwarf_tag(child)) && dwarf_haspc(child, address) > 0)
			return 1;
	} while (!dwarf_siblingof(child, child));
	return 0;
}

/* The function's DIE around an address and those inlined into it there, outermost first; their number, 0: none. */
static size_t dies_at(struct vprof_dwarf *d, uint64_t address, Dwarf_Die dies[1 + VPROF_ELF_FRAMES_MAX])
{
	Dwarf_Die unit, scope, child;
	size_t n = 0;

	if (!vprof_dwarf_units_find(&d->units, address, &unit, &dies[0]))
		return 0;
	scope = dies[n++];
	while (n <= VPROF_ELF_FRAMES_MAX && covering_child(d, &scope, address, &child)) {
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			dies[n++] = child;
		scope = child;
	}
	return n;
}

size_t vprof_dwarf_frames(struct vprof_dwarf *d, uint64_t address, struct vprof_frame *frames, size_t max, int outer)
{
	Dwarf_Die dies[1 + VPROF_ELF_FRAMES_MAX];
	size_t n = dies_at(d, address - d->bias, dies), n_frames = 0;

	while (n-- > (outer ? 0 : 1) && n_frames < max) {
		const struct known *known = known_of(d, &dies[n]);

		if (known && known->symbol)
			frames[n_frames++] = (struct vprof_frame){ known->symbol, n ? known->file : NULL };
	}
	return n_frames;
}

static struct vprof_place call_site(Dwarf_Die *inlined)
{
	struct vprof_place place = { NULL, 0 };
	Dwarf_Word index, line;
	Dwarf_Attribute value;

	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &value), &index))
		place.file = file_of(inlined->cu, index);
	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &value), &line) && line <= INT32_MAX)
		place.line = (int)line;
	return place;
}

/* What has no name is part of what is around it. */
size_t vprof_dwarf_places(struct vprof_dwarf *d, uint64_t address, struct vprof_place *places, size_t max)
{
	Dwarf_Die dies[1 + VPROF_ELF_FRAMES_MAX], unit;
	size_t n = dies_at(d, address - d->bias, dies), n_places = 0;
	struct vprof_place place = { NULL, 0 };
	Dwarf_Line *line = NULL;

	if (vprof_dwarf_units_find_unit(&d->units, address - d->bias, &unit))
		line = dwarf_getsrc_die(&unit, address - d->bias);
	if (line) {
		place.file = dwarf_linesrc(line, NULL, NULL);
		if (dwarf_lineno(line, &place.line))
			place.line = 0;
	}
	while (n > 1 && n_places < max) {
		const struct known *known = known_of(d, &dies[--n]);

		if (known && known->symbol)
			places[n_places++] = place;
		place = call_site(&dies[n]);
	}
	if (n_places < max && (n || line))
		places[n_places++] = place;
	return n_places;
}
