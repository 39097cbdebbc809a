/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is it worth running a round once more? The rule that bounds how long a drill-down repeats (docs/design/statistics.md,
 * "Runs differ: shares"). Pure functions of the results: no files, no clocks.
 */
#ifndef VPROF_REPEAT_H
#define VPROF_REPEAT_H

#include "analysis/results/results.h"

#define VPROF_REPEATS_MIN 4	/* runs of a round, from which on they tell how runs differ */
#define VPROF_REPEATS_MAX 8	/* of a round */
#define VPROF_REPEATS_STEP 2	/* between two looks: 4, 6 and 8 */
#define VPROF_REPEATS_IN_ALL 16 /* runs of all repeated rounds of a drill-down */
#define VPROF_REPEATED_WIDTH 0.2

enum vprof_repeat {
	VPROF_REPEAT_MORE,   /* more runs may tell what these do not */
	VPROF_REPEAT_KNOWN,  /* of each selected factor: the share to within VPROF_REPEATED_WIDTH, or its cause is
				settled */
	VPROF_REPEAT_FUTILE, /* n_max runs are not expected to tell more */
	VPROF_REPEAT_SPENT,  /* n_max runs do not tell */
};

/* What the results of r->n_runs runs say of running the round up to n_max times. */
enum vprof_repeat vprof_repeat_judge(const struct vprof_results *r, size_t n_max);

/* How many runs the next look is at. */
size_t vprof_repeat_next(size_t n_runs, size_t n_max);

/* The selected factor that is not known and has the widest bounds; the widest of all where each is known; NULL: none is
 * selected. */
const struct vprof_factor *vprof_repeat_widest(const struct vprof_results *r);

/* Whether the share of each selected factor is known to within VPROF_REPEATED_WIDTH. */
int vprof_repeat_is_narrow(const struct vprof_results *r);

#endif
