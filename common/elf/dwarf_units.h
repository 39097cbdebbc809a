/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which function of the debug information covers an address: an index of all units by address, and one of each unit's
 * functions, made when the first address in the unit is asked for.
 *
 * libdw's own (dwarf_getscopes) reads a whole unit for each address, and its index of units has none of clang's. What
 * it takes to make the indexes is limited, so that damaged debug information costs no more than large one. */
#ifndef VPROF_DWARF_UNITS_H
#define VPROF_DWARF_UNITS_H

#include <elfutils/libdw.h>

#include "common/array.h"

struct vprof_dwarf_range {
	uint64_t low, high;
	Dwarf_Off offset; /* of the DIE */
	uint32_t unit;	  /* index */
};

struct vprof_dwarf_ranges {
	struct vprof_dwarf_range *v; /* by low */
	size_t n, cap;
};

struct vprof_dwarf_unit {
	Dwarf_CU *cu;
	int is_read;
	struct vprof_dwarf_ranges functions;
};

struct vprof_dwarf_units {
	Dwarf *dwarf;
	int is_read;
	uint64_t n_steps; /* taken so far, of those allowed */
	VPROF_ARRAY(struct vprof_dwarf_unit) units;
	struct vprof_dwarf_ranges ranges;
};

/* Zero-initialise all but `dwarf`. 1: *function covers the address and *unit is its unit's DIE; 0: none does. */
int vprof_dwarf_units_find(struct vprof_dwarf_units *units, uint64_t address, Dwarf_Die *unit, Dwarf_Die *function);
/* The unit's DIE alone: not every unit with line numbers has functions. */
int vprof_dwarf_units_find_unit(struct vprof_dwarf_units *units, uint64_t address, Dwarf_Die *unit);
/* One step of reading; 0 once there were too many. */
int vprof_dwarf_units_step(struct vprof_dwarf_units *units);
void vprof_dwarf_units_release(struct vprof_dwarf_units *units);

#endif
