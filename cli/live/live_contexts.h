/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which context bit each probe of a live session sets while it is active, for as long as the same processes run.
 *
 * A plan has one bit for all functions that are not broken down, and others for those that are (common/plan.h). A call
 * keeps the bit with which it began. So if a function is opened, called, and broken down while the call goes on, what
 * it calls does not record until it returns, and of a connection's loop that is never. Here a probe has a bit of its
 * own from when it is first opened, which it keeps; the masks of the plan are translated. There are 62, so not
 * all can have one: of the functions that a plan opens and that could be broken down, those highest in the call graph,
 * whose calls last longest, have it first. A probe whose bit does change when it is broken down is marked
 * (is_changed).
 */
#ifndef VPROF_LIVE_CONTEXTS_H
#define VPROF_LIVE_CONTEXTS_H

#include "common/array.h"
#include "common/plan.h"

/* Of those that are not broken down no more have bits of their own: the rest is for those that will be. */
#define VPROF_LIVE_CONTEXTS_WHOLE 40

struct vprof_live_context {
	uint32_t code;
	int context, is_changed;
};

struct vprof_live_contexts {			  /* zeroed: of no process */
	VPROF_ARRAY(struct vprof_live_context) v; /* by code */
	uint32_t n_users[64];
};

/* Sets contexts, masks and is_changed of a plan that was made anew. OK or NOMEM. O(probes * 64). */
int vprof_live_contexts_assign(struct vprof_live_contexts *c, struct vprof_plan *plan);

/* The next processes are others, and in no call. */
void vprof_live_contexts_forget(struct vprof_live_contexts *c);
void vprof_live_contexts_release(struct vprof_live_contexts *c);

#endif
