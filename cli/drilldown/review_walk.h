/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof review without an operand: the causes one after the other, a verdict asked for each. */
#ifndef VPROF_REVIEW_WALK_H
#define VPROF_REVIEW_WALK_H

#include "analysis/results/results.h"
#include "cli/project.h"
#include "cli/drilldown/session.h"

/* What is judged: a cause, or a factor. */
struct vprof_judged {
	int is_factor;
	size_t index; /* into causes or factors */
};

const char *vprof_judged_key(const struct vprof_results *r, struct vprof_judged j);
const char *vprof_judged_name(const struct vprof_results *r, struct vprof_judged j);

/* The verdict that a key means: c, i, g, f, t; NONE for any other. */
enum vprof_verdict vprof_review_letter(int letter);

/* Judges one: writes verdicts.json and fills the results anew. VPROF_VERDICT_NONE takes the verdict back; `note` NULL
 * leaves it as it is. */
int vprof_review_judge(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r,
		       struct vprof_judged j, enum vprof_verdict verdict, const char *note, struct vprof_error *err);

/* Its lines of the report on stdout. */
int vprof_review_print(const struct vprof_results *r, struct vprof_judged j, struct vprof_error *err);

/* Asks about the first `top` causes, or factors; questions on stderr, answers from stdin, one in each line. Ends with
 * the input. Every answer is saved at once. */
int vprof_review_walk(const struct vprof_project *p, struct vprof_session *s, struct vprof_results *r, int factors,
		      size_t top, struct vprof_error *err);

#endif
