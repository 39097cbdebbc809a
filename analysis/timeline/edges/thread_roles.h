/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads are called by what they do. */
#ifndef VPROF_THREAD_ROLES_H
#define VPROF_THREAD_ROLES_H

#include "analysis/timeline/symbols.h"
#include "analysis/timeline/timeline.h"

/* The outermost function of the program on the call stacks that were sampled on the thread ("compactor_main"), or NULL:
 * none tells. Belongs to `symbols`, which are of the timeline. */
const char *vprof_thread_role(const struct vprof_timeline *timeline, uint32_t thread, struct vprof_symbols *symbols);

/* Does a function on a stack, or a file's code, tell what a thread does? What starts threads and programs, and the C
 * library, does not. */
int vprof_symbol_tells(const struct vprof_symbol *symbol);
int vprof_module_tells(const char *path);

#endif
