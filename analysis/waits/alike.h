/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that do the same work, found by the stacks of their waits (wPerf, section 4.2, "Merging similar threads"). */
#ifndef VPROF_WAITS_ALIKE_H
#define VPROF_WAITS_ALIKE_H

#include "analysis/waits/cascade.h"

/* Fills representative[n entities]: the first thread that this one is alike to, itself if there is none. Two threads
 * are alike when their distributions of waits over stacks, counted, overlap by min_overlap or more (the sum of the
 * smaller shares; 0..1). Where no stacks were recorded, threads of one process whose names differ in trailing digits at
 * most are alike when their distributions over what ended their waits do (threads count as one, each device by itself);
 * a process's first thread is then alike to nobody. Nor are threads of which no wait is known, and those that are not
 * kept (is_kept[n entities], of vprof_waits_keep_relevant()). O(threads x groups x stacks of a thread). OK or NOMEM. */
int vprof_waits_find_alike(uint32_t *representative, const struct vprof_waits_history *history,
			   const struct vprof_waits_reasons *reasons, const unsigned char *is_kept, double min_overlap);

#endif
