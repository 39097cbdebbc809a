/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting compiled objects in place: only when all of them are compiled, and only over saved originals.
 *
 * Under make a replaced object gets a new time, so that everything made from it is rebuilt; under ninja it keeps the
 * original's time, because ninja compares that with its log of dependencies and would compile the original again (what
 * must be relinked is removed instead).
 */
#ifndef VPROF_REPLAY_INSTALL_H
#define VPROF_REPLAY_INSTALL_H

#include <time.h>

#include "instrumenter/replay/replayer.h"

/* Replaces the outputs of the units by what they `made`. SIGINT, SIGTERM and SIGHUP wait for the renames: all or
 * none. */
int vprof_units_install(struct vprof_replayer *r, struct vprof_unit *const *units, size_t n, struct vprof_error *err);
/* Gives a replaced object the time that its build system needs to see. `before`: when what was there was made, the
 * original or what the build made of it since; NULL: nothing was there. */
void vprof_object_set_time(const struct vprof_replayer *r, const char *path, const struct timespec *before);

#endif
