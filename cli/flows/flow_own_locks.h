/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's own locks: functions that acquire one and functions of the opposite name that release it, as
 * vprof.json's "sync" names them or as the code suggests them. A discovery build gives these functions probes, since no
 * library's function is called that could be wrapped.
 *
 * What only waits or wakes, and has no opposite, is no lock: nobody holds it. */
#ifndef VPROF_FLOW_OWN_LOCKS_H
#define VPROF_FLOW_OWN_LOCKS_H

#include "annotate/check/annotations.h"
#include "annotate/discover/draft.h"
#include "common/facts/callgraph.h"

enum vprof_flow_lock_role { VPROF_FLOW_NO_LOCK, VPROF_FLOW_ACQUIRES = 1, VPROF_FLOW_RELEASES = 2 };

struct vprof_flow_own_locks {
	struct vprof_annotations hooks; /* of kind ACQUIRE and RELEASE only */
	struct vprof_hook *list;
	size_t n;
	unsigned char *roles; /* [functions of the facts] enum vprof_flow_lock_role */
	struct vprof_draft draft;
};

/* NOMEM. `annotations` must outlive it. O(functions * log functions + calls). Release it also after an error. */
int vprof_flow_own_locks_find(struct vprof_flow_own_locks *l, const struct vprof_facts *facts,
			      const struct vprof_callgraph *graph, const struct vprof_annotations *annotations,
			      struct vprof_error *err);
void vprof_flow_own_locks_release(struct vprof_flow_own_locks *l);

#endif
