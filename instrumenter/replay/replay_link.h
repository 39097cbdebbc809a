/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded link commands, and what they must make again after objects changed. */
#ifndef VPROF_REPLAY_LINK_H
#define VPROF_REPLAY_LINK_H

#include <time.h>

#include "instrumenter/replay/replayer.h"

struct vprof_link { /* a recorded link command */
	char *directory, *output;
	struct vprof_command command;
	const struct vprof_unit *unit; /* the same command as a unit, when it compiles too; else NULL */
	int affected;
};

/* From link_commands.json. An imported database has none: then links_known stays 0. */
int vprof_links_read(struct vprof_replayer *r, struct vprof_error *err);
void vprof_links_release(struct vprof_replayer *r);
/* Adds the outputs to make again to `affected`, saves them if they are not saved yet, and marks their links. */
int vprof_links_affected(struct vprof_replayer *r, struct vprof_paths *affected, struct vprof_error *err);
/* Runs one recorded link command, with libvprof.a when it links statically, with libvprof.so when programs get that.
 * BUILD when it fails. */
int vprof_link_run(struct vprof_replayer *r, const struct vprof_link *link, struct vprof_error *err);

#endif
