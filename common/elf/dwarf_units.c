/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/elf/dwarf_units.h"

#include <dwarf.h>

#include "common/search.h"

#define STEPS_MAX (UINT64_C(1) << 28) /* of entries and ranges: ten times those of a large browser's units in use */
#define NAMESPACES_MAX 64	      /* one in another */

struct reading {
	struct vprof_dwarf_units *units;
	struct vprof_dwarf_unit *unit;
	int failed;
};

int vprof_dwarf_units_step(struct vprof_dwarf_units *units)
{
	return units->n_steps < STEPS_MAX ? ++units->n_steps, 1 : 0;
}

static int range_order(const void *a, const void *b)
{
	const struct vprof_dwarf_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high > y->high ? -1 : x->high < y->high;
}

/* Adds the DIE's addresses; 0, or -1 without memory. */
static int add_ranges(struct vprof_dwarf_units *units, struct vprof_dwarf_ranges *ranges, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (vprof_dwarf_units_step(units) && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		struct vprof_dwarf_range *r;

		if (low >= high)
			continue;
		r = VPROF_PUSH(ranges);
		if (!r)
			return -1;
		*r = (struct vprof_dwarf_range){ low, high, dwarf_dieoffset(die), unit };
	}
	return 0;
}

static void sort_ranges(struct vprof_dwarf_ranges *ranges)
{
	if (ranges->n && vprof_array_sort(ranges->v, ranges->n, sizeof *ranges->v, range_order))
		ranges->n = 0;
}

static void read_units(struct vprof_dwarf_units *units)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	units->is_read = 1;
	while (vprof_dwarf_units_step(units) && !dwarf_get_units(units->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		struct vprof_dwarf_unit *unit = VPROF_PUSH(&units->units);

		if (!unit)
			return;
		unit->cu = cu;
		if (add_ranges(units, &units->ranges, &die, (uint32_t)(units->units.n - 1)))
			return;
	}
	sort_ranges(&units->ranges);
}

static void read_children(struct reading *g, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (!vprof_dwarf_units_step(g->units))
			return;
		if (tag == DW_TAG_subprogram && add_ranges(g->units, &g->unit->functions, &die, 0))
			g->failed = 1;
		else if ((tag == DW_TAG_namespace || tag == DW_TAG_module) && depth < NAMESPACES_MAX)
			read_children(g, &die, depth + 1);
	} while (!g->failed && !dwarf_siblingof(&die, &die));
}

/* The DIE of the unit; of one whose content was split off, in a .dwo file, that of the content. */
static int unit_die(const struct vprof_dwarf_unit *unit, Dwarf_Die *die)
{
	Dwarf_Die split;
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, die, &split, NULL, NULL, NULL))
		return 0;
	if (type == DW_UT_skeleton && split.addr)
		*die = split;
	return 1;
}

static void read_functions(struct vprof_dwarf_units *units, struct vprof_dwarf_unit *unit, Dwarf_Die *die)
{
	struct reading g = { .units = units, .unit = unit };

	unit->is_read = 1;
	read_children(&g, die, 0);
	sort_ranges(&unit->functions);
}

/* The last of the ranges that begin before the address and hold it, or NULL. They rarely overlap. */
static const struct vprof_dwarf_range *find(const struct vprof_dwarf_ranges *ranges, uint64_t address)
{
	size_t i = vprof_time_search(ranges->v, sizeof *ranges->v, ranges->n, address, ranges->n / 2);

	for (int k = 0; i-- > 0 && k < 8; k++)
		if (address < ranges->v[i].high)
			return &ranges->v[i];
	return NULL;
}

static struct vprof_dwarf_unit *find_unit(struct vprof_dwarf_units *units, uint64_t address)
{
	const struct vprof_dwarf_range *range;

	if (!units->is_read)
		read_units(units);
	range = find(&units->ranges, address);
	return range ? &units->units.v[range->unit] : NULL;
}

int vprof_dwarf_units_find_unit(struct vprof_dwarf_units *units, uint64_t address, Dwarf_Die *die)
{
	struct vprof_dwarf_unit *unit = find_unit(units, address);

	/* (line numbers stay with the skeleton) */
	return unit && !dwarf_cu_info(unit->cu, NULL, NULL, die, NULL, NULL, NULL, NULL);
}

int vprof_dwarf_units_find(struct vprof_dwarf_units *units, uint64_t address, Dwarf_Die *die, Dwarf_Die *function)
{
	struct vprof_dwarf_unit *unit = find_unit(units, address);
	const struct vprof_dwarf_range *range;

	if (!unit || !unit_die(unit, die))
		return 0;
	if (!unit->is_read)
		read_functions(units, unit, die);
	range = find(&unit->functions, address);
	return range && dwarf_offdie(dwarf_cu_getdwarf(die->cu), range->offset, function);
}

void vprof_dwarf_units_release(struct vprof_dwarf_units *units)
{
	for (size_t i = 0; i < units->units.n; i++)
		VPROF_ARRAY_RELEASE(&units->units.v[i].functions);
	VPROF_ARRAY_RELEASE(&units->units);
	VPROF_ARRAY_RELEASE(&units->ranges);
}
