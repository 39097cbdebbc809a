/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of a build's programs and libraries a process has loaded, and where. */
#ifndef VPROF_LOADED_MODULES_H
#define VPROF_LOADED_MODULES_H

#include "common/array.h"
#include "live/probe_map.h"
#include "live/process_memory.h"

struct vprof_loaded_module {
	uint32_t module; /* index in the map */
	uint64_t bias;	 /* added to the file's addresses */
	uint64_t base;	 /* where it is mapped */
};

struct vprof_loaded_modules {
	VPROF_ARRAY(struct vprof_loaded_module) v;
	uint32_t n_foreign; /* modules at a path of the map's, but of another build */
};

/* From /proc/PID/maps and the ELF headers in memory. OK, NOMEM, or as reading its memory. A module counts only when its
 * build id in memory is that of the map. Release it in either case. */
int vprof_loaded_modules_read(struct vprof_loaded_modules *l, const struct vprof_process_memory *m,
			      const struct vprof_probe_map *map, struct vprof_error *err);
/* Does it still lie there? A program may unload it at any time, and map something else in its place. */
int vprof_loaded_module_is_there(const struct vprof_loaded_module *l, const struct vprof_process_memory *m,
				 const struct vprof_probe_map *map);
void vprof_loaded_modules_release(struct vprof_loaded_modules *l);

#endif
