/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decisions of a round: asked of a person, or taken by rule (--auto). */
#ifndef VPROF_ASK_H
#define VPROF_ASK_H

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"
#include "cli/workspace.h"
#include "common/plan.h"

struct vprof_ask {
	struct vprof_workspace *workspace;
	struct vprof_session *session;
	const struct vprof_results *results;
	const struct vprof_plan *plan;
	int automatic;
	int is_brief; /* decisions by rule are not told */
};

/* Decides every chosen factor that has no verdict yet, and those that take the places of factors set aside meanwhile;
 * writes the decisions into the session (not to disk). *stopped: the input ended, nothing more was asked. OK or NOMEM.
 */
int vprof_ask_all(const struct vprof_ask *ask, int *stopped, struct vprof_error *err);

/* *first: the first factor that a rule would break down, of those that are chosen or else of the heaviest that are
 * open; results->n_factors when there is none. OK or NOMEM. */
int vprof_ask_way_down(const struct vprof_ask *ask, size_t *first);

/* Breaks down what has to be to see inside a factor, and the wakers of waits; in the session, not on disk. Returns how
 * many functions are new, or NOMEM. */
int vprof_ask_break_down(const struct vprof_ask *ask, const struct vprof_factor *f);

#endif
