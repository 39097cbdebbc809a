/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects that no probe concerns any more become originals again. */
#ifndef VPROF_REPLAY_REVERT_H
#define VPROF_REPLAY_REVERT_H

#include "instrumenter/replay/replayer.h"

/* Puts the originals of all units with action REVERT back, or compiles them where there is none. */
int vprof_units_revert(struct vprof_replayer *r, struct vprof_error *err);

#endif
