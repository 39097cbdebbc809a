/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs and libraries that a project's build links, as far as their files tell why a result may be empty. */
#ifndef VPROF_PROGRAMS_H
#define VPROF_PROGRAMS_H

#include <stddef.h>

#include "cli/project.h"

struct vprof_program {
	char *path;
	int gains_rights; /* set-user-ID, set-group-ID or file capabilities: the loader then ignores LD_PRELOAD */
	int is_stripped;  /* it has no symbols, nor has a debug file of it */
	int is_static;	  /* an executable without a loader */
};

struct vprof_programs {
	struct vprof_program *items;
	size_t n;
};

/* Of .vprof/link_commands.json; none when there is no such file, or no output of it is an ELF file. Zeroed on failure.
 */
void vprof_programs_read(const struct vprof_project *p, struct vprof_programs *programs);
void vprof_programs_release(struct vprof_programs *programs);

#endif
