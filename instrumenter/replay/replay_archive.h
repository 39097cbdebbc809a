/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Static archives: changed objects go into the archives that contain their earlier versions. */
#ifndef VPROF_REPLAY_ARCHIVE_H
#define VPROF_REPLAY_ARCHIVE_H

#include "instrumenter/replay/replayer.h"

int vprof_archives_refresh(struct vprof_replayer *r, struct vprof_error *err);

#endif
