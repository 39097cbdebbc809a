/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which function of a command is called for each item of its input: the outermost that is called again and again, from
 * one call or from functions that call themselves, and has most of its threads' time. It is proven where each of its
 * calls opens as many files and reads, and none is opened between them; else it remains a guess, for what an item is no
 * event says. A function that calls itself is none: such a call has others within.
 */
#ifndef VPROF_ITEM_EVIDENCE_H
#define VPROF_ITEM_EVIDENCE_H

#include "analysis/latency/request_evidence.h"

/* Leaves *out alone if there is none. NOMEM. O(nodes * depth + events * depth). */
int vprof_item_evidence_find(struct vprof_request_evidence *out, const struct vprof_annotated_tree *t,
			     const unsigned char *is_project);

#endif
