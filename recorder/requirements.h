/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recording the kernel's events needs, looked for beforehand: the messages that the kernel and libbpf give when it
 * is missing mislead.
 */
#ifndef VPROF_RECORDER_REQUIREMENTS_H
#define VPROF_RECORDER_REQUIREMENTS_H

#include <stddef.h>

#include "common/error.h"

enum vprof_requirement_state {
	VPROF_REQUIREMENT_MET,
	VPROF_REQUIREMENT_PARTLY, /* something is not recorded then */
	VPROF_REQUIREMENT_UNMET,
};

struct vprof_requirement {
	const char *name;
	enum vprof_requirement_state state;
	char detail[200]; /* what was found, or is missing */
	char advice[240]; /* how to get it; "" when there is nothing to do */
};

#define VPROF_REQUIREMENTS_MAX 8

/* Fills `rows`, causes before what follows from them; returns how many. */
size_t vprof_recorder_requirements(struct vprof_requirement rows[VPROF_REQUIREMENTS_MAX]);

/* MISSING, with the first that is not met. */
int vprof_recorder_require(struct vprof_error *err);

/* Is there a tracepoint of this name in the running kernel's type information? 0 also when there is no such
 * information. */
int vprof_recorder_has_tracepoint(const char *name);

#endif
