/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VPROF_REPLAY_RESIDENT_H
#define VPROF_REPLAY_RESIDENT_H

#include "instrumenter/replay/replayer.h"

/* After the link of a resident build: the entries of all that was linked, and resident.json. Of any other build: no
 * resident.json. */
int vprof_resident_refresh(struct vprof_replayer *r, struct vprof_error *err);

#endif
