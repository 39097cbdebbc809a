/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a blame tree to the results: who waited for whom, with bounds, at which locks, and what the holders ran. */
#ifndef VPROF_CROSSTALK_DESCRIBE_H
#define VPROF_CROSSTALK_DESCRIBE_H

#include "analysis/stats/run_blocks.h"
#include "analysis/transactions/blame_tree.h"
#include "analysis/transactions/crosstalk_input.h"
#include "analysis/transactions/working_for.h"
#include "common/hash/string_set.h"

/* names: of waits. OK or NOMEM. */
int vprof_crosstalk_describe(struct vprof_results *r, const struct vprof_crosstalk_input *input,
			     const struct vprof_working_for *working, const struct vprof_run_blocks *blocks,
			     const struct vprof_strings *names, const struct vprof_blame_tree *tree);

#endif
