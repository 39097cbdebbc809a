/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was compiled by a replay that was interrupted or failed before anything was put in place: the next one takes it.
 *
 * .vprof/tmp/KEY/NAME.o, with NAME.o.deps and .kept beside it. KEY identifies the command, the unit's edits, the
 * compiler and what its environment adds; .kept holds the object's hash and the stamp of all files that it was made
 * from. A unit is compiled in a folder of another name, which becomes KEY by one rename when the object is whole and
 * .kept is written.
 *
 * Invariant: an object is reused only when compiling it now would read the same: same KEY, and no file that the
 * compiler read was written, replaced or removed since it started. If that is not certain, the unit is compiled.
 */
#ifndef VPROF_REPLAY_KEPT_H
#define VPROF_REPLAY_KEPT_H

#include <stdint.h>

#include "instrumenter/replay/replayer.h"

/* Gives the units (all of them to be compiled) their keys, and those that an earlier replay compiled their `made`;
 * removes all that none of them can use. */
int vprof_kept_take(struct vprof_replayer *r, struct vprof_unit *const *units, size_t n, size_t *n_taken,
		    struct vprof_error *err);
/* Keeps the object that the unit's compiler, started at `began_ns` (vprof_kept_now), has made, if it can be kept.
 * Changes `made`. Safe for several units at once. */
void vprof_kept_keep(const struct vprof_replayer *r, struct vprof_unit *unit, int64_t began_ns);
int64_t vprof_kept_now(void);
/* Removes everything else from the folder: what is not kept, or is not for one of the units (sorted by key; NULL:
 * any). */
int vprof_kept_clear(const char *tmp_dir, struct vprof_unit *const *wanted, size_t n, struct vprof_error *err);

#endif
