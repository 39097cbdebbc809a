/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .vprof/live/resident.json: what of a resident build can be measured, and where it is switched (docs/design/live.md).
 * All addresses are those of the module's file; in a process its load bias is added. */
#ifndef VPROF_RESIDENT_MAP_H
#define VPROF_RESIDENT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/facts/facts.h"
#include "common/plan.h"

struct vprof_resident_module {
	const char *path, *build_id /* hex, or "" */, *hash /* of the file, 16 hex digits */;
};

struct vprof_resident_copy {   /* a probe in one module */
	uint32_t module;       /* index */
	const uint64_t *sites; /* [n_sites] of struct vp_live_site */
	const uint64_t
		*entries; /* [n_entries] bytes that are A9, and E9 while it is open; none: it is always reached */
	size_t n_sites, n_entries;
};

struct vprof_resident_probe {
	uint32_t code; /* as in plans made from the same facts */
	const char *name, *display, *file, *caller;
	int line;
	const struct vprof_resident_copy *copies;
	size_t n_copies;
};

struct vprof_resident_left { /* cannot be measured */
	const char *name, *file, *reason;
	int line;
};

struct vprof_resident {
	struct vprof_resident_module *modules;
	struct vprof_resident_probe *probes; /* by code */
	struct vprof_resident_left *left_out;
	size_t n_modules, n_probes, n_left_out;
	struct vprof_resident_private *private;
};

/* MISSING: there is no resident build. CORRUPT, NOMEM. */
int vprof_resident_read(struct vprof_resident **out, const char *path, struct vprof_error *err);
void vprof_resident_free(struct vprof_resident *r);

/* Where it lies in .vprof: heap string, or NULL without memory. */
char *vprof_resident_path(const char *vprof_dir);

struct vprof_resident_result {
	size_t n_modules, n_entries, n_probes, n_left_out;
};

/* Rewrites the entries of these programs and libraries (absolute paths; those without sites are passed over) and writes
 * resident.json. What was rewritten before is found as it is. */
int vprof_resident_make(const char *const *paths, size_t n, const struct vprof_facts *facts,
			const struct vprof_plan *plan, const char *vprof_dir, struct vprof_resident_result *result,
			struct vprof_error *err);

#endif
