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
	int line, is_merged;
	uint64_t origin; /* of merged ones */
	uint32_t number; /* in the order in which they were found: of instances, or of copies with their holder */
	uint32_t holder; /* VPROF_NONE: it is an instance itself */
	uint64_t low;
};

struct lambda { /* gcc gives no place to its function, but to the class */
	uint64_t function;
	const char *file;
	int line;
};

struct walk {
	struct vprof_resident_debug *d;
	const struct vprof_resident_file *f;
	VPROF_ARRAY(struct found) found;
	VPROF_ARRAY(struct lambda) lambdas; /* by function, unit after unit */
	uint32_t n_instances;
	int failed, is_merged;
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
	dwarf_decl_line(w->is_merged ? die : &origin, &found->line);
	found->is_merged = w->is_merged;
	if (w->is_merged) {
		found->origin = dwarf_dieoffset(&origin);
		found->file = dwarf_decl_file(die);
	}
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

static void add_lambda(struct walk *w, Dwarf_Die *type, Dwarf_Die *function)
{
	struct lambda *l;
	int line = 0;

	if (!w->is_merged || (dwarf_tag(type) != DW_TAG_structure_type && dwarf_tag(type) != DW_TAG_class_type) ||
	    (!dwarf_decl_line(function, &line) && line) || dwarf_decl_line(type, &line))
		return;
	l = VPROF_PUSH(&w->lambdas);
	if (!l) {
		w->failed = 1;
		return;
	}
	*l = (struct lambda){ dwarf_dieoffset(function), dwarf_decl_file(type), line };
}

static void place_lambdas(struct walk *w)
{
	for (size_t i = 0; i < w->found.n; i++) {
		struct found *f = &w->found.v[i];
		size_t k = VPROF_BISECT(w->lambdas.n, k, w->lambdas.v[k].function < f->origin);

		if (f->is_merged && !f->line && k < w->lambdas.n && w->lambdas.v[k].function == f->origin) {
			f->line = w->lambdas.v[k].line;
			f->file = w->lambdas.v[k].file;
		}
	}
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
			add_lambda(w, die, &child);
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
	if (strcmp(x->name, y->name))
		return strcmp(x->name, y->name);
	return x->origin < y->origin ? -1 : x->origin > y->origin;
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

/* A C++ function: the names of clones have a dot. */
static enum vprof_instance_kind merged_kind(const struct vprof_resident_file *f, uint64_t low)
{
	size_t i = VPROF_BISECT(f->symbols.n, i, f->symbols.v[i].address < low);

	for (; i < f->symbols.n && f->symbols.v[i].address == low; i++)
		if (!strchr(f->symbols.v[i].name, '.'))
			return VPROF_INSTANCE_EXACT;
	return VPROF_INSTANCE_CLONE;
}

/* The function that a virtual call's thunk leads to: its name follows the offsets in the thunk's. NULL: it is none. */
static const char *behind_offsets(const char *name)
{
	int n;

	if (strncmp(name, "_ZT", 3) || !name[3] || !strchr("hvc", name[3]))
		return NULL;
	n = name[3] == 'c' ? 2 : 1;
	for (name += name[3] == 'c' ? 4 : 3; n--;) {
		int numbers = *name == 'v' ? 2 : *name == 'h' ? 1 : 0;

		if (!numbers)
			return NULL;
		for (name++; numbers--; name++) {
			name += *name == 'n';
			name += strspn(name, "0123456789");
			if (*name != '_')
				return NULL;
		}
	}
	return name;
}

static int by_thunk(const void *a, const void *b)
{
	const struct vprof_thunk *x = a, *y = b;

	return x->function != y->function ? (x->function < y->function ? -1 : 1) :
	       x->entry < y->entry	  ? -1 :
					    x->entry > y->entry;
}

static int by_symbol_name(const void *a, const void *b)
{
	return strcmp(((const struct vprof_resident_symbol *)a)->name, ((const struct vprof_resident_symbol *)b)->name);
}

/* Of a symbol and of what follows the _Z of another. */
static int order_mangled(const char *name, const char *target)
{
	int order = strncmp(name, "_Z", 2);

	return order ? order : strcmp(name + 2, target);
}

/* Thunks are not in the debug information, and may hold the code of what they lead to. */
static int find_thunks(struct vprof_resident_debug *d, const struct vprof_resident_file *f)
{
	struct vprof_resident_symbol *names = malloc((f->symbols.n + 1) * sizeof *names);
	int rc = names ? VPROF_OK : VPROF_ERR_NOMEM;

	if (names && f->symbols.n)
		memcpy(names, f->symbols.v, f->symbols.n * sizeof *names);
	if (names && f->pairs.n && f->symbols.n)
		qsort(names, f->symbols.n, sizeof *names, by_symbol_name);
	for (size_t i = 0; !rc && f->pairs.n && i < f->symbols.n; i++) {
		const struct vprof_resident_symbol *s = &f->symbols.v[i];
		const char *target = behind_offsets(s->name);
		uint64_t twin = target ? vprof_resident_pair_of(f, s->address) : 0;
		uint64_t entry = twin ? vprof_resident_entry(f, s->address, twin) : 0;
		size_t k = entry ? VPROF_BISECT(f->symbols.n, k, order_mangled(names[k].name, target) < 0) : 0;
		struct vprof_thunk *t;

		if (!entry || k == f->symbols.n || order_mangled(names[k].name, target))
			continue;
		t = VPROF_PUSH(&d->thunks);
		if (t)
			*t = (struct vprof_thunk){ names[k].address, entry, twin };
		else
			rc = VPROF_ERR_NOMEM;
	}
	free(names);
	return rc || vprof_array_sort(d->thunks.v, d->thunks.n, sizeof *d->thunks.v, by_thunk) ? VPROF_ERR_NOMEM :
												 VPROF_OK;
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
							     .is_merged = x->is_merged,
							     .origin = x->origin,
							     .instance = (uint32_t)d->instances.n,
							     .inlined = (uint32_t)d->inlined.n };
		}
		if (x->holder == VPROF_NONE) {
			struct vprof_instance *instance = VPROF_PUSH(&d->instances);

			if (!instance)
				goto no_memory;
			*instance = (struct vprof_instance){ .kind = x->is_merged ? merged_kind(w->f, x->low) :
										    kind_of(w->f, x->low, x->name),
							     .function = (uint32_t)d->functions.n - 1,
							     .low = x->low };
			if (x->is_merged && instance->kind == VPROF_INSTANCE_EXACT)
				instance->twin = vprof_resident_pair_of(w->f, x->low);
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

		if (twin->is_merged || n <= k || strcmp(twin->name + n - k, SUFFIX))
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
		uint64_t twin = instance->twin ? instance->twin : d->functions.v[instance->function].twin;

		if (instance->kind == VPROF_INSTANCE_EXACT && twin)
			instance->entry = vprof_resident_entry(w->f, instance->low, twin);
	}
}

/* Does the unit have twins of its own? Its entry follows the head of the unit. */
static int is_merged(const struct vprof_resident_file *f, Dwarf_Die *unit)
{
	uint64_t at = dwarf_dieoffset(unit);
	size_t i = VPROF_BISECT(f->merged.n, i, f->merged.v[i] < at);

	return i && at - f->merged.v[i - 1] <= 24;
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
	while (d->dwarf && !w.failed && !dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &unit, NULL)) {
		w.is_merged = is_merged(f, &unit);
		walk_children(&w, &unit, VPROF_NONE, 0);
	}
	place_lambdas(&w);
	if (w.failed || vprof_array_sort(w.found.v, w.found.n, sizeof *w.found.v, by_function))
		rc = VPROF_ERR_NOMEM;
	if (!rc)
		rc = make_lists(&w);
	if (!rc && vprof_array_sort(d->extents.v, d->extents.n, sizeof *d->extents.v, by_low))
		rc = VPROF_ERR_NOMEM;
	if (!rc)
		pair(&w);
	if (!rc)
		rc = find_thunks(d, f);
	VPROF_ARRAY_RELEASE(&w.found);
	VPROF_ARRAY_RELEASE(&w.lambdas);
	return rc ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_resident_debug_release(struct vprof_resident_debug *d)
{
	VPROF_ARRAY_RELEASE(&d->functions);
	VPROF_ARRAY_RELEASE(&d->instances);
	VPROF_ARRAY_RELEASE(&d->inlined);
	VPROF_ARRAY_RELEASE(&d->extents);
	VPROF_ARRAY_RELEASE(&d->thunks);
	dwarf_end(d->dwarf);
	d->dwarf = NULL;
}

uint32_t vprof_resident_instance_at(const struct vprof_resident_debug *d, uint64_t address)
{
	size_t i = VPROF_BISECT(d->extents.n, i, d->extents.v[i].low <= address);

	return i && address < d->extents.v[i - 1].high ? d->extents.v[i - 1].instance : VPROF_NONE;
}
