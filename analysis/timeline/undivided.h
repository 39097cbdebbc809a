/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Undivided time: a long time in a gap of a hot function (analysis/timeline/timeline_gaps.h), of which nobody knows
 * whether a call that was not timed took it, or the code of the caller between its calls. It becomes a node of its own
 * beside the two, VPROF_NODE_UNDIVIDED, and is told apart by a run that records every call of the function.
 *
 * Of a gap of n calls, T is the time that callers of the function spent in their own code and in calls that were not
 * timed: waits, calls that were recorded and preempted time are not in it. With u, what is usual for each call, s, the
 * standard deviation of a timed call and D, beyond which a call is rare, T is long when
 *
 *     T > USUAL_FACTOR n u + ERRORS s sqrt(n) + D,
 *
 * and T - n u is undivided. u is the weighted median of T / n over the function's gaps in the interval at hand, where
 * there are GAPS_MIN of them, else over the whole trace. So what is not found of a rare call is what it takes below
 * that limit: in gaps of a few calls about D, in gaps of n half of their usual time more. It stays with the caller's
 * body.
 *
 * What other functions' calls that were not timed usually take within the gap, beyond 2 n u, is not counted in T.
 *
 * A long time in gaps of several functions at once is undivided between all of them: it counts once.
 */
#ifndef VPROF_UNDIVIDED_H
#define VPROF_UNDIVIDED_H

#include "analysis/timeline/thread_timeline.h"
#include "common/plan.h"

struct vprof_undivided; /* of one interval after the other */

struct vprof_undivided *vprof_undivided_new(const struct vprof_timeline *timeline, const struct vprof_plan *plan);
void vprof_undivided_free(struct vprof_undivided *u);

/* What follows is the thread's time from then on. OK or NOMEM. */
int vprof_undivided_begin(struct vprof_undivided *u, uint32_t thread, uint64_t from);

/* The thread ran its own code from t to until, in which no call begins or ends, in a node (whatever the caller numbers)
 * in which probes with a bit of `context` in their mask are open. OK or NOMEM. */
int vprof_undivided_spend(struct vprof_undivided *u, uint32_t node, uint64_t context, uint64_t t, uint64_t until);

/* A call ended that was recorded, and not as one chosen of many. */
void vprof_undivided_ended(struct vprof_undivided *u, uint32_t code);

/* So much is kept of the interval that it should be settled before it is complete. */
int vprof_undivided_is_full(const struct vprof_undivided *u);

/* The interval is complete: calls move() for what is undivided in a node's time. OK, or what move() failed with. */
int vprof_undivided_settle(struct vprof_undivided *u, int (*move)(void *arg, uint32_t node, int64_t ticks), void *arg);

#endif
