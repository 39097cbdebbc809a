/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inferred instances of a function as intervals: a history in which each is a thread of its own
 * (analysis/latency/call_sums.h), whose begin and end are known between bounds. Of instances within one another the
 * outermost count. */
#ifndef VPROF_INFERRED_CALLS_H
#define VPROF_INFERRED_CALLS_H

#include "analysis/latency/annotated_tree.h"

struct vprof_inferred_calls {
	struct vprof_latency_history history; /* texts are borrowed from that of the tree */
	uint64_t n_calls;		      /* instances, with those that are left out: */
	uint64_t n_unsure; /* system calls were left out meanwhile, so they may be several calls each */
};

/* name, file: a function of the history as it is displayed; file NULL: of any. INPUT when no call of it was seen;
 * NOMEM; to be released in any case. O(events * depth). */
int vprof_inferred_calls_gather(struct vprof_inferred_calls *out, const struct vprof_annotated_tree *t,
				const char *name, const char *file, struct vprof_error *err);
void vprof_inferred_calls_release(struct vprof_inferred_calls *calls);

#endif
