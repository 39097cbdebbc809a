/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose calls last as long as the turns of a live session, or longer: loops of threads and processes, mostly.
 *
 * A call is recorded if it began while its probe was open. Of a function that is entered once and left when its thread
 * ends, that depends on how old the thread is: an old one has what the function calls, a new one the function and
 * beneath it what it calls. What the compiler put into such a function's own code (vprof_probe.hosts) an old one lacks
 * altogether. Both in one tree, the same work would be two nodes, whose variances say less than the one of both. So in
 * the variance tree a long call of such a function counts to its caller, and so do calls within it that are in its code
 * (vprof_tree_part_host).
 */
#ifndef VPROF_OUTLASTING_H
#define VPROF_OUTLASTING_H

#include "analysis/timeline/plan_list.h"
#include "analysis/timeline/timeline.h"

/* Fills timeline->outlasting and outlasting_ticks: the functions and sites of which most calls, of those that are open
 * when a turn begins, last at least half of what a turn does on average, and longer than intervals. 64 turns at most
 * are looked at. OK or NOMEM. */
int vprof_outlasting_find(struct vprof_timeline *timeline, const struct vprof_plan_list *plans);

#endif
