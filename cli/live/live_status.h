/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .vprof/live/state.json: what a live session does now, for `vprof top` and scripts. Written about once a second,
 * removed at the end. */
#ifndef VPROF_LIVE_STATUS_H
#define VPROF_LIVE_STATUS_H

#include <sys/types.h>

#include "common/error.h"
#include "common/plan.h"
#include "live/live_session.h"

struct vprof_live_names {
	char **items; /* display names */
	size_t n;
};

struct vprof_live_status {
	pid_t pid; /* of the vprof that records */
	size_t round;
	char run[32]; /* whose results.json is the round's last look */
	double recorded_s, elapsed_s;
	int is_pinned; /* a person keeps rounds from ending */
	struct vprof_live_state state;
	struct vprof_live_names open;	     /* functions and calls that are measured now; owned when read */
	struct vprof_live_names broken_down; /* of these, those whose callees are, too */
	struct vprof_live_names closed;	     /* not measured although their callers are broken down */
};

/* With the plan's open functions; `plan` may be NULL. */
int vprof_live_status_write(const char *vprof_dir, const struct vprof_live_status *status,
			    const struct vprof_plan *plan, struct vprof_error *err);
/* MISSING when no live session records here, or the one that did was killed. Release it after success. */
int vprof_live_status_read(struct vprof_live_status *status, const char *vprof_dir, struct vprof_error *err);
void vprof_live_status_release(struct vprof_live_status *status);
void vprof_live_status_remove(const char *vprof_dir);

#endif
