/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live session in processes that run already, in the run command's place: cli/run_target.h for those that vprof did
 * not start and does not end. */
#ifndef VPROF_ATTACHED_RUN_H
#define VPROF_ATTACHED_RUN_H

#include "cli/run/run_target.h"
#include "live/attachment.h"
#include "live/probe_map.h"

/* The request's step and over are called as by vprof_run_target(); the rest of it that concerns a command is ignored.
 * Ends when `step` says so, when the processes have ended, or at a signal; then it leaves them. */
int vprof_attached_run(const struct vprof_run_request *request, struct vprof_attachment *attachment,
		       const struct vprof_probe_map *map, struct vprof_run_outcome *outcome, struct vprof_error *err);

#endif
