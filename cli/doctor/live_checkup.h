/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of vprof iterate --live and vprof live this machine lets this user do. */
#ifndef VPROF_LIVE_CHECKUP_H
#define VPROF_LIVE_CHECKUP_H

#include "common/error.h"

/* Writes to a process that it starts, a child or, as a stranger, one that does not descend from vprof; the process then
 * ends. FAILED with the reason where that may not be, or does not arrive. */
int vprof_try_live(int is_stranger, struct vprof_error *err);

#endif
