/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units: from the facts, and which of them must be compiled again or put back. */
#ifndef VPROF_REPLAY_UNIT_H
#define VPROF_REPLAY_UNIT_H

#include "instrumenter/replay/replayer.h"

/* One unit for each recorded compiler command. Release them also after an error. */
int vprof_units_make(struct vprof_replayer *r, struct vprof_error *err);
void vprof_units_release(struct vprof_replayer *r);
/* Sets every unit's fingerprint and action from the shadow sources, state.json and what lies in its place now. */
int vprof_units_decide(struct vprof_replayer *r, struct vprof_error *err);

#endif
