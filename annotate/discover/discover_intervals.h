/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions handle one request. Wants entries and queues found before. */
#ifndef VPROF_DISCOVER_INTERVALS_H
#define VPROF_DISCOVER_INTERVALS_H

#include "annotate/code/discovery.h"
#include "annotate/discover/watched.h"

void vprof_discover_intervals(struct vprof_discovery *d, const struct vprof_watched *watched);

#endif
