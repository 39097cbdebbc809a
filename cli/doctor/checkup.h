/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checks of `vprof doctor`: each tries the real thing and says what to do when it does not work. */
#ifndef VPROF_CHECKUP_H
#define VPROF_CHECKUP_H

#include <stddef.h>

#include "cli/project.h"

enum vprof_health { VPROF_HEALTH_OK, VPROF_HEALTH_WARNING, VPROF_HEALTH_BROKEN };

struct vprof_checkup {
	const char *name;
	enum vprof_health health;
	char detail[256];
	char advice[320];		/* "" when there is nothing to do */
	enum vprof_error_reason reason; /* of what is broken, where a command may fail for the same one */
};

/* Fills at most `max` rows; returns how many. */
size_t vprof_checkup_all(const struct vprof_project *p, struct vprof_checkup *rows, size_t max);

/* For a command that failed and has told why: what is broken on stderr, but for what is broken for the same reason;
 * nothing when all is well. */
void vprof_checkup_tell_broken(const struct vprof_project *p, enum vprof_error_reason reason);

#endif
