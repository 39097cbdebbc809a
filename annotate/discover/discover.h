/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proposals for vprof.json, from the facts alone: what could be an interval, which functions are the
 * program's own locks and queues, where threads and processes start.
 */
#ifndef VPROF_DISCOVER_H
#define VPROF_DISCOVER_H

#include "annotate/discover/draft.h"
#include "common/facts/callgraph.h"
#include "common/facts/facts.h"

/* The draft's strings refer to the facts: free it (vprof_draft_free) before them. */
int vprof_discover(const struct vprof_facts *facts, const struct vprof_callgraph *graph, struct vprof_draft **out,
		   struct vprof_error *err);

#endif
