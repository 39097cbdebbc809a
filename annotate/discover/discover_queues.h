/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's own queues. */
#ifndef VPROF_DISCOVER_QUEUES_H
#define VPROF_DISCOVER_QUEUES_H

#include "annotate/code/discovery.h"

void vprof_discover_queues(struct vprof_discovery *d);

#endif
