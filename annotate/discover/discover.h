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

/* The draft's strings refer to the facts, to what was watched (NULL: nothing), and to what a discovery run found (NULL:
 * there was none): free it (vprof_draft_free) before them. What was found comes before queues that the code alone
 * suggests, which are unconfirmed then.
 */
int vprof_discover(const struct vprof_facts *facts, const struct vprof_callgraph *graph,
		   const struct vprof_watched *watched, const struct vprof_found_queues *found,
		   struct vprof_draft **out, struct vprof_error *err);

#endif
