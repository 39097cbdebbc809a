/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose data a thread took up that resumes whatever interval it was sent for (VP_ID_RECEIVED). */
#ifndef VPROF_RECEIVED_H
#define VPROF_RECEIVED_H

#include "analysis/timeline/timeline.h"

/* Fills `received` of the threads; after vprof_wakes_match(), which makes messages queue events, and before the
 * intervals are built. OK or NOMEM. */
int vprof_received_find(struct vprof_timeline *timeline, struct vprof_error *err);

#endif
