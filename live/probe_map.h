/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the resident probes of a build lie in its programs and libraries: addresses as in the file, to which a process
 * adds where it loaded it. */
#ifndef VPROF_PROBE_MAP_H
#define VPROF_PROBE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct vprof_probe_module {
	const char *path;     /* absolute */
	const char *build_id; /* hexadecimal; "": it has none, and the path decides */
};

/* one copy of a probe: its sites (struct vp_live_site) and the entries that must lead to the instrumented functions
 * while it is measured */
struct vprof_probe_copy {
	uint32_t code, module;
	const uint64_t *sites, *entries;
	size_t n_sites, n_entries;
};

struct vprof_probe_map { /* borrowed: who made it frees it */
	const struct vprof_probe_module *modules;
	size_t n_modules;
	const struct vprof_probe_copy *copies;
	size_t n_copies;
};

#endif
