/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What threads that work for no interval are called. */
#ifndef VPROF_THREAD_ROLES_H
#define VPROF_THREAD_ROLES_H

#include "analysis/source/source.h"
#include "analysis/timeline/symbols.h"

/* The outermost function of the program on the call stacks that were sampled on the thread ("compactor_main"), or NULL:
 * none tells. Belongs to `symbols`, which are of the source's timeline. */
const char *vprof_thread_role(const struct vprof_source *source, uint32_t thread, struct vprof_symbols *symbols);

#endif
