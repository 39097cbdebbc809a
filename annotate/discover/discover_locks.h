/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's own locks. */
#ifndef VPROF_DISCOVER_LOCKS_H
#define VPROF_DISCOVER_LOCKS_H

#include "annotate/code/discovery.h"

void vprof_discover_locks(struct vprof_discovery *d);
/* The function that releases what `acquire` acquires, by its name and the type of their object; NULL: none. */
const struct vprof_facts_function *vprof_lock_release_of(struct vprof_discovery *d,
							 const struct vprof_facts_function *acquire);

#endif
