/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions handle one request. Wants entries and queues found before. */
#ifndef VPROF_DISCOVER_INTERVALS_H
#define VPROF_DISCOVER_INTERVALS_H

#include "annotate/code/discovery.h"
#include "annotate/discover/watched.h"

struct vprof_interval_proposal;

void vprof_discover_intervals(struct vprof_discovery *d, const struct vprof_watched *watched);

/* An interval that would end where function `f` returns ends where the one begins with which that ends for good, if the
 * id is known there. */
void vprof_propose_final(struct vprof_discovery *d, uint32_t f, struct vprof_interval_proposal *p);

#endif
