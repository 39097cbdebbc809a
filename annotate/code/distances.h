/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How near every function is to calls that wait, receive, signal, ..., and to tables of functions that it dispatches
 * through. */
#ifndef VPROF_DISTANCES_H
#define VPROF_DISTANCES_H

#include "annotate/code/discovery.h"

/* Fills d->distance, tables, dispatch_call and dispatch_table. O(VPROF_DISTANCE_MAX * roles * calls). */
void vprof_distances_find(struct vprof_discovery *d);

#endif
