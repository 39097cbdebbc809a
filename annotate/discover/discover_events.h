/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of the program's own that the runtime cannot see: latches, conditions. */
#ifndef VPROF_DISCOVER_EVENTS_H
#define VPROF_DISCOVER_EVENTS_H

#include "annotate/code/discovery.h"

void vprof_discover_events(struct vprof_discovery *d);

#endif
