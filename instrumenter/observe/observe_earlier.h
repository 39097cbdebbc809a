/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds that were observed earlier: what they compiled is reused when the same command is observed again. */
#ifndef VPROF_OBSERVE_EARLIER_H
#define VPROF_OBSERVE_EARLIER_H

#include <time.h>

#include "common/text.h"
#include "instrumenter/observe/observe_database.h"

#define VPROF_FAILED_DIR "failed"

/* Adds what the same command compiled and linked when it was observed before, as far as its sources and outputs still
 * exist. Call it before the new events are read, which replace it. Returns the number of units. */
int vprof_database_recall(struct vprof_database *db, const char *vprof_dir, const char *command);

/* Writes the database, or what a failed build completed, for the next one. */
int vprof_database_keep(const struct vprof_database *db, const char *vprof_dir, const char *command, int has_failed,
			struct vprof_error *err);

/* Another database takes the place of the one that a command made. */
void vprof_forget_command(const char *vprof_dir);

/* Adds a line when the program was linked from objects, archives or libraries in the project that are older than the
 * build and that no known command made: the tree was not clean. recalled: units of earlier builds are in the database.
 */
void vprof_note_unseen(const struct vprof_database *db, const struct timespec *started, int recalled,
		       struct vprof_text *notes);

#endif
