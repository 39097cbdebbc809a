/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof review without a factor: the ranked factors one after the other, a verdict asked for each. */
#ifndef VPROF_REVIEW_WALK_H
#define VPROF_REVIEW_WALK_H

#include "analysis/results/results.h"
#include "cli/project.h"
#include "cli/drilldown/session.h"

/* Judges one factor: writes verdicts.json and fills the results anew. VPROF_VERDICT_NONE takes the verdict back; `note`
 * NULL leaves it as it is. */
int vprof_review_judge(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r, size_t index,
		       enum vprof_verdict verdict, const char *note, struct vprof_error *err);

/* The two lines of a factor on stdout. */
int vprof_review_print(const struct vprof_results *r, size_t index, struct vprof_error *err);

/* Asks about the first `top` factors; questions on stderr, answers from stdin, one in each line. Ends with the input.
 * Every answer is saved at once. */
int vprof_review_walk(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r, size_t top,
		      struct vprof_error *err);

#endif
