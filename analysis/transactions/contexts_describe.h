/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a blame tree to the results: the contexts of intervals, and the calling context tree of each. */
#ifndef VPROF_CONTEXTS_DESCRIBE_H
#define VPROF_CONTEXTS_DESCRIBE_H

#include "analysis/stats/run_blocks.h"
#include "analysis/transactions/blame_tree.h"
#include "analysis/transactions/call_paths.h"
#include "analysis/transactions/crosstalk_input.h"

#define VPROF_STAGE_SEPARATOR " -> "

/* "on_request -> on_reply"; interned in the results, NULL without memory. */
const char *vprof_context_name(struct vprof_results *r, const struct vprof_call_paths *call_paths,
			       const uint32_t *stages, uint32_t n);

/* names: of waits. Gives the call paths their labels, unless they have them. OK or NOMEM. */
int vprof_contexts_describe(struct vprof_results *r, const struct vprof_crosstalk_input *input,
			    const struct vprof_run_blocks *blocks, const struct vprof_strings *names,
			    const struct vprof_blame_tree *tree);

#endif
