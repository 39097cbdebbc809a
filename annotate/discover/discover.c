/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which discovery proposes: later finders use what earlier ones have found. */
#include "annotate/discover/discover.h"

#include <stdlib.h>

#include "annotate/code/distances.h"
#include "annotate/discover/discover_entries.h"
#include "annotate/discover/discover_events.h"
#include "annotate/discover/discover_intervals.h"
#include "annotate/discover/discover_locks.h"
#include "annotate/discover/discover_queues.h"

int vprof_discover(const struct vprof_facts *facts, const struct vprof_callgraph *graph,
		   const struct vprof_watched *watched, const struct vprof_found_queues *found,
		   struct vprof_draft **out, struct vprof_error *err)
{
	struct vprof_draft *draft = calloc(1, sizeof *draft);
	struct vprof_discovery d;
	size_t i;

	*out = NULL;
	if (!draft || vprof_discovery_init(&d, facts, graph, draft, &draft->arena)) {
		vprof_draft_free(draft);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory while looking for intervals");
	}
	draft->found = found;
	draft->n_functions = facts->n_functions;
	for (i = 0; i < facts->n_files; i++)
		draft->n_files += facts->files[i].in_project != 0;
	vprof_distances_find(&d);
	vprof_discover_entries(&d);
	vprof_discover_locks(&d);
	vprof_discover_events(&d);
	vprof_discover_queues(&d);
	vprof_discover_intervals(&d, watched);
	if (watched)
		vprof_propose_first(&d, watched);
	if (draft->arena.failed) {
		vprof_draft_free(draft);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory while looking for intervals");
	}
	*out = draft;
	return 0;
}
