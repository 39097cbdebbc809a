/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions of a live session's plan lie in the code of others, where the compiler inlined or specialised them:
 * such a call is recorded only within a call of the other that began with its probe open. The analysis has to know
 * where that one is a loop that threads never leave (analysis/source/outlasting.h).
 */
#ifndef VPROF_LIVE_HOSTS_H
#define VPROF_LIVE_HOSTS_H

#include "common/plan.h"
#include "live/probe_map.h"

/* Fills `hosts` of the plan's probes: functions that are opened by the same entry, those highest in the call graph
 * first. OK or NOMEM. O(n log n) of the entries. */
int vprof_live_hosts_mark(struct vprof_plan *plan, const struct vprof_probe_map *map);

#endif
