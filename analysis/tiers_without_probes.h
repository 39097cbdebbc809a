/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where an instrumented thread waits for a reply, and the tier that replies has no probes: the recorder's transfers
 * tell who served it, from when to when. Each visit to such a tier becomes a wait of a thread that stands for it,
 * called "tier NAME" (results.h), and the thread that waited for its reply is woken by it. So critical paths go on
 * there, and the tier's time lies beneath the wait in the variance tree. */
#ifndef VPROF_TIERS_WITHOUT_PROBES_H
#define VPROF_TIERS_WITHOUT_PROBES_H

#include "analysis/source/source.h"

/* Adds threads, their waits, and wakers to the timeline of a source whose wakes are matched. Waits whose waker is known
 * keep it; calls that are ambiguous are left out. A trace without transfers, or with some that contradict themselves,
 * gives none. OK or NOMEM. */
int vprof_tiers_without_probes_add(struct vprof_source *source, struct vprof_error *err);

#endif
