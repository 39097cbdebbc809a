/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proposals for vprof.json, from the facts, and from a recorded load where there is one: what could be an interval,
 * which functions are the program's own locks and queues, where threads and processes start.
 */
#ifndef VPROF_DISCOVER_H
#define VPROF_DISCOVER_H

#include "annotate/discover/draft.h"
#include "annotate/discover/watched.h"
#include "common/facts/callgraph.h"
#include "common/facts/facts.h"

/* The draft's strings refer to the facts, and to what was watched (NULL: nothing): free it (vprof_draft_free) before
 * them.
 */
int vprof_discover(const struct vprof_facts *facts, const struct vprof_callgraph *graph,
		   const struct vprof_watched *watched, struct vprof_draft **out, struct vprof_error *err);

#endif
