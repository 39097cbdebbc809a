/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running the user's build command. */
#ifndef VPROF_REPLAY_BUILD_H
#define VPROF_REPLAY_BUILD_H

#include "common/process.h"
#include "instrumenter/replay/replayer.h"

/* BUILD, with an excerpt of its output, when the command fails. */
int vprof_build_run(struct vprof_replayer *r, struct vprof_error *err);
/* The error of a build or link command that failed. Returns BUILD. */
int vprof_build_failed(const struct vprof_replayer *r, const char *command, const struct vprof_text *output,
		       const struct vprof_process_result *result, struct vprof_error *err);

#endif
