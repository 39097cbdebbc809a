/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiler's own list of the files that it read, which it writes beside what it makes. */
#ifndef VPROF_REPLAY_DEPS_H
#define VPROF_REPLAY_DEPS_H

#include "instrumenter/replay/replayer.h"

/* The list's path (heap string), for the object `made`. */
char *vprof_deps_path(const char *made);
/* Calls `see` with each path as the compiler wrote it; -1 when there is no whole list. */
int vprof_deps_each(const char *made, void (*see)(void *arg, const char *path), void *arg);
/* Counts and logs edited files of which the unit read the original. */
void vprof_deps_check(struct vprof_replayer *r, const struct vprof_unit *unit);

#endif
