/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose calls outlast the turns of a live session: loops of threads and processes, mostly.
 *
 * A call is recorded if it began while its probe was open. Of a function that is entered once and left when its thread
 * ends, that depends on how old the thread is: an old one has what the function calls, a new one the function and
 * beneath it what it calls. Both in one tree, the same work would be two nodes, whose variances say less than the one
 * of both. So where others did work while an interval waited, such a call counts to its caller if it began before the
 * interval (vprof_timeline.outlasting).
 */
#ifndef VPROF_OUTLASTING_H
#define VPROF_OUTLASTING_H

#include "analysis/timeline/plan_list.h"
#include "analysis/timeline/timeline.h"

/* Fills timeline->outlasting: the functions and sites of which most calls that were open when a turn began or ended
 * last through the whole of that turn or the one before. 64 turns at most are looked at. OK or NOMEM. */
int vprof_outlasting_find(struct vprof_timeline *timeline, const struct vprof_plan_list *plans);

#endif
