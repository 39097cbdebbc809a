/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The relink: everything that was linked from changed objects is linked again. */
#ifndef VPROF_REPLAY_RELINK_H
#define VPROF_REPLAY_RELINK_H

#include "instrumenter/replay/replayer.h"

int vprof_relink(struct vprof_replayer *r, struct vprof_error *err);

#endif
