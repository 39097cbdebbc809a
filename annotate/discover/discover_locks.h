/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's own locks. */
#ifndef VPROF_DISCOVER_LOCKS_H
#define VPROF_DISCOVER_LOCKS_H

#include "annotate/code/discovery.h"

void vprof_discover_locks(struct vprof_discovery *d);

#endif
