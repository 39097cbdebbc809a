/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariant: what is said of a function comes from the debug information of its own unit, or of the unit that its
 * abstract origin lies in (link-time optimisation), so that two static functions of one name are two functions. */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_debug.h"

#include <dwarf.h>
#include <string.h>

#include "common/search.h"

#define SUFFIX "__vp" /* VPROF_TWIN_SUFFIX */
#define DEPTH_MAX 256

struct found { /* a compiled function, or an inlined copy */
	uint64_t unit;
	const char *name, *file;
	int line;
	uint32_t number; /* in the order in which they were found: of instances, or of copies with their holder */
	uint32_t holder; /* VPROF_NONE: it is an instance itself */
	uint64_t low;
};

struct walk {
	struct vprof_resident_debug *d;
	const struct vprof_resident_file *f;
	VPROF_ARRAY(struct found) found;
	uint32_t n_instances;
	int failed;
};

/* The entry that gives a function its name, however often it was inlined or cloned. */
static int origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
	static const unsigned int links[] = { DW_AT_abstract_origin, DW_AT_specification };

	*origin = *die;
	for (int depth = 0; depth < 8; depth++) {
		Dwarf_Attribute attribute;
		Dwarf_Die next;
		size_t i = 0;

		while (i < 2 && !(dwarf_attr(origin, links[i], &attribute) && dwarf_formref_die(&attribute, &next)))
			i++;
		if (i == 2)
			return 0;
		*origin = next;
	}
	return -1;
}

static void add_found(struct walk *w, Dwarf_Die *die, uint32_t holder, uint64_t low)
{
	Dwarf_Die origin, unit;
	const char *name;
	struct found *found;

	if (origin_of(die, &origin) || !(name = dwarf_diename(&origin)) || !dwarf_diecu(&origin, &unit, NULL, NULL))
		return;
	found = VPROF_PUSH(&w->found);
	if (!found) {
		w->failed = 1;
		return;
	}
	*found = (struct found){ .unit = dwarf_dieoffset(&unit),
				 .name = name,
				 .file = dwarf_decl_file(&origin),
				 .number = w->n_instances,
				 .holder = holder,
				 .low = low };
	dwarf_decl_line(&origin, &found->line);
}

/* Is this where a function begins, and not what the compiler moved out of it? */
static int is_begin(const struct vprof_resident_file *f, uint64_t address)
{
	size_t i = VPROF_BISECT(f->symbols.n, i, f->symbols.v[i].address < address);

	for (; i < f->symbols.n && f->symbols.v[i].address == address; i++)
		if (!strstr(f->symbols.v[i].name, ".cold"))
			return 1;
	return 0;
}

/* Its addresses, and where it begins. Returns -1 when it has no code. */
static int add_extents(struct walk *w, Dwarf_Die *die, uint64_t *low)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int any = 0, is_known = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		struct vprof_extent *e;

		if (begin >= end || !vprof_resident_bytes(w->f, begin, 1))
			continue;
		e = VPROF_PUSH(&w->d->extents);
		if (!e) {
			w->failed = 1;
			return -1;
		}
		*e = (struct vprof_extent){ begin, end, w->n_instances };
		if (!any++ || (!is_known && is_begin(w->f, begin)))
			*low = begin;
		is_known |= is_begin(w->f, *low);
	}
	return any ? 0 : -1;
}

static void walk_children(struct walk *w, Dwarf_Die *die, uint32_t holder, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child))
		return;
	do {
		uint32_t inner = holder;
		uint64_t low = 0;

		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (add_extents(w, &child, &low)) {
				if (holder != VPROF_NONE)
					continue;
				inner = VPROF_NONE;
				break;
			}
			add_found(w, &child, VPROF_NONE, low);
			inner = w->n_instances++;
			break;
		case DW_TAG_inlined_subroutine:
			if (holder != VPROF_NONE)
				add_found(w, &child, holder, 0);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			break;
		default:
			continue;
		}
		walk_children(w, &child, inner, depth + 1);
	} while (!w->failed && !dwarf_siblingof(&child, &child));
}

static int by_function(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_low(const void *a, const void *b)
{
	const struct vprof_extent *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static uint32_t find(const struct vprof_resident_debug *d, uint64_t unit, const char *name, size_t n)
{
	size_t i = VPROF_BISECT(d->functions.n, i,
				d->functions.v[i].unit < unit || (d->functions.v[i].unit == unit &&
								  strncmp(d->functions.v[i].name, name, n) < 0));

	/* (a longer name that begins with this one comes later) */
	return i < d->functions.n && d->functions.v[i].unit == unit && !strncmp(d->functions.v[i].name, name, n) &&
			       !d->functions.v[i].name[n] ?
		       (uint32_t)i :
		       VPROF_NONE;
}

/* What the linker calls the code: the function's own name, or what the compiler made of it. Without a symbol it is not
 * known how it is called. */
static enum vprof_instance_kind kind_of(const struct vprof_resident_file *f, uint64_t low, const char *name)
{
	size_t i = VPROF_BISECT(f->symbols.n, i, f->symbols.v[i].address < low), n = strlen(name);

	for (; i < f->symbols.n && f->symbols.v[i].address == low; i++) {
		const char *linked = f->symbols.v[i].name;

		if (!strncmp(linked, name, n) && (!linked[n] || !strncmp(linked + n, ".lto_priv", 9)))
			return VPROF_INSTANCE_EXACT;
	}
	return VPROF_INSTANCE_CLONE;
}

/* found, sorted by function, becomes functions, instances and inlined copies. */
static int make_lists(struct walk *w)
{
	struct vprof_resident_debug *d = w->d;
	uint32_t *numbers = malloc((w->n_instances + 1) * sizeof *numbers); /* of instances, as first found */

	if (!numbers)
		return VPROF_ERR_NOMEM;
	memset(numbers, 0xff, (w->n_instances + 1) * sizeof *numbers); /* VPROF_NONE */
	for (size_t i = 0; i < w->found.n; i++) {
		const struct found *x = &w->found.v[i];

		if (!i || by_function(x - 1, x)) {
			struct vprof_source_function *f = VPROF_PUSH(&d->functions);

			if (!f)
				goto no_memory;
			*f = (struct vprof_source_function){ .unit = x->unit,
							     .name = x->name,
							     .file = x->file,
							     .line = x->line,
							     .instance = (uint32_t)d->instances.n,
							     .inlined = (uint32_t)d->inlined.n };
		}
		if (x->holder == VPROF_NONE) {
			struct vprof_instance *instance = VPROF_PUSH(&d->instances);

			if (!instance)
				goto no_memory;
			*instance = (struct vprof_instance){ kind_of(w->f, x->low, x->name),
							     (uint32_t)d->functions.n - 1, x->low, 0 };
			numbers[x->number] = (uint32_t)d->instances.n - 1;
		} else {
			struct vprof_inlined *inlined = VPROF_PUSH(&d->inlined);

			if (!inlined)
				goto no_memory;
			*inlined = (struct vprof_inlined){ (uint32_t)d->functions.n - 1, x->holder };
		}
	}
	for (size_t i = 0; i < d->inlined.n; i++)
		d->inlined.v[i].holder = numbers[d->inlined.v[i].holder];
	for (size_t i = 0; i < d->extents.n; i++)
		d->extents.v[i].instance = numbers[d->extents.v[i].instance];
	free(numbers);
	return VPROF_OK;
no_memory:
	free(numbers);
	return VPROF_ERR_NOMEM;
}

/* Twins and their functions. */
static void pair(struct walk *w)
{
	struct vprof_resident_debug *d = w->d;

	for (size_t i = 0; i < d->instances.n; i++) {
		struct vprof_instance *instance = &d->instances.v[i];
		const struct vprof_source_function *twin = &d->functions.v[instance->function];
		size_t n = strlen(twin->name), k = strlen(SUFFIX);
		const struct vprof_resident_site *site;
		uint32_t function;

		if (n <= k || strcmp(twin->name + n - k, SUFFIX))
			continue;
		instance->kind = VPROF_INSTANCE_TWIN;
		site = vprof_resident_site_of(w->f, instance->low);
		function = site ? find(d, twin->unit, twin->name, n - k) : VPROF_NONE;
		if (function != VPROF_NONE) {
			d->functions.v[function].twin = instance->low;
			d->functions.v[function].code = site->code;
		}
	}
	for (size_t i = 0; i < d->instances.n; i++) {
		struct vprof_instance *instance = &d->instances.v[i];
		uint64_t twin = d->functions.v[instance->function].twin;

		if (instance->kind == VPROF_INSTANCE_EXACT && twin)
			instance->entry = vprof_resident_entry(w->f, instance->low, twin);
	}
}

int vprof_resident_debug_read(struct vprof_resident_debug *d, const struct vprof_resident_file *f,
			      struct vprof_error *err)
{
	struct walk w = { .d = d, .f = f };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int rc = VPROF_OK;

	memset(d, 0, sizeof *d);
	d->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	while (d->dwarf && !w.failed && !dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &unit, NULL))
		walk_children(&w, &unit, VPROF_NONE, 0);
	if (w.failed || vprof_array_sort(w.found.v, w.found.n, sizeof *w.found.v, by_function))
		rc = VPROF_ERR_NOMEM;
	if (!rc)
		rc = make_lists(&w);
	if (!rc && vprof_array_sort(d->extents.v, d->extents.n, sizeof *d->extents.v, by_low))
		rc = VPROF_ERR_NOMEM;
	if (!rc)
		pair(&w);
	VPROF_ARRAY_RELEASE(&w.found);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_resident_debug_release(struct vprof_resident_debug *d)
{
	VPROF_ARRAY_RELEASE(&d->functions);
	VPROF_ARRAY_RELEASE(&d->instances);
	VPROF_ARRAY_RELEASE(&d->inlined);
	VPROF_ARRAY_RELEASE(&d->extents);
	dwarf_end(d->dwarf);
	d->dwarf = NULL;
}

uint32_t vprof_resident_instance_at(const struct vprof_resident_debug *d, uint64_t address)
{
	size_t i = VPROF_BISECT(d->extents.n, i, d->extents.v[i].low <= address);

	return i && address < d->extents.v[i - 1].high ? d->extents.v[i - 1].instance : VPROF_NONE;
}
