/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the code of each function lies, by debug information (DWARF): its compiled instances (itself, the compiler's
 * clones, its twin) and the copies that were inlined into others. */
#ifndef VPROF_RESIDENT_DEBUG_H
#define VPROF_RESIDENT_DEBUG_H

#include <elfutils/libdw.h>

#include "instrumenter/resident/resident_file.h"

enum vprof_instance_kind {
	VPROF_INSTANCE_EXACT, /* called as the source says */
	VPROF_INSTANCE_CLONE, /* ".isra", ".constprop", ".part": called in a way of the compiler's own */
	VPROF_INSTANCE_TWIN,
};

struct vprof_instance {
	enum vprof_instance_kind kind;
	uint32_t function;
	uint64_t low;	/* where it begins */
	uint64_t twin;	/* of a C++ function; or 0 */
	uint64_t entry; /* exact ones whose function has a twin: where it can be opened, or 0 */
};

struct vprof_extent { /* addresses of one instance */
	uint64_t low, high;
	uint32_t instance; /* or VPROF_NONE: one without a name */
};

struct vprof_inlined {
	uint32_t function, holder; /* function; instance, or VPROF_NONE: one without a name */
};

struct vprof_source_function {
	uint64_t unit; /* offset of the unit that defines it: static functions of two units may have one name */
	const char *name, *file; /* file of its definition, or NULL */
	int line;
	int is_merged;	   /* of a C++ unit with twins (resident_merge.h): its instances have twins of their own */
	int is_always;	   /* of such a one: entered through its twin whatever is open, since it may never return */
	uint64_t origin;   /* of such a one: the entry that declares it, since names do not tell C++ functions apart */
	uint64_t twin;	   /* address, or 0 */
	uint32_t code;	   /* of its twin's probe */
	uint32_t instance; /* the first in instances, which are sorted by function */
	uint32_t inlined;  /* the first in inlined, likewise */
};

struct vprof_thunk {			/* C++: adjusts `this` for a virtual call */
	uint64_t function, entry, twin; /* what it leads to; its own */
};

struct vprof_resident_debug {
	Dwarf *dwarf;
	VPROF_ARRAY(struct vprof_source_function) functions; /* by unit and name */
	VPROF_ARRAY(struct vprof_instance) instances;	     /* by function */
	VPROF_ARRAY(struct vprof_inlined) inlined;	     /* by function */
	VPROF_ARRAY(struct vprof_extent) extents;	     /* by low */
	VPROF_ARRAY(struct vprof_thunk) thunks;		     /* by function */
};

/* OK, also without debug information (all is empty then); CORRUPT, NOMEM. Release it also after an error. */
int vprof_resident_debug_read(struct vprof_resident_debug *d, const struct vprof_resident_file *f,
			      struct vprof_error *err);
void vprof_resident_debug_release(struct vprof_resident_debug *d);

/* The instance that holds the address, or VPROF_NONE. */
uint32_t vprof_resident_instance_at(const struct vprof_resident_debug *d, uint64_t address);

#endif
