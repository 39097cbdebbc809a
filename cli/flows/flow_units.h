/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which translation units a discovery run compiles: those in which critical sections lie, or events are registered or
 * waited for, and those that call these or are called there; where events are registered also those that receive and
 * send. */
#ifndef VPROF_FLOW_UNITS_H
#define VPROF_FLOW_UNITS_H

#include "cli/flows/flow_own_locks.h"
#include "cli/options.h"
#include "common/facts/callgraph.h"

struct vprof_flow_units {
	const char **sources; /* absolute paths, of the facts */
	size_t n;
};

/* `chosen`: suffixes of paths; none: from the calls of lock functions. Files in which the program's own locks are
 * acquired or released take part in any case. MISSING when a suffix fits no unit, or nothing
 * locks. O(calls). Release it also after an error. */
int vprof_flow_units_choose(struct vprof_flow_units *u, const struct vprof_facts *facts,
			    const struct vprof_callgraph *graph, const struct vprof_option_words *chosen,
			    const struct vprof_flow_own_locks *own, struct vprof_error *err);
void vprof_flow_units_release(struct vprof_flow_units *u);

#endif
