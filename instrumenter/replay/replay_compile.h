/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiling units from shadow sources, several at a time. */
#ifndef VPROF_REPLAY_COMPILE_H
#define VPROF_REPLAY_COMPILE_H

#include "common/process.h"
#include "instrumenter/replay/replayer.h"

/* Compiles all units with action COMPILE that link (or do not); replaces their outputs when all succeeded. */
int vprof_units_compile(struct vprof_replayer *r, int that_link, struct vprof_error *err);
/* Compiles one unit into .vprof/tmp: `made` and `messages`. With action REVERT from its original sources. */
int vprof_unit_compile(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_process_result *result,
		       struct vprof_error *err);

#endif
