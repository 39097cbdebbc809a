/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decisions of a round: asked of a person, or taken by rule (--auto). */
#ifndef VPROF_ASK_H
#define VPROF_ASK_H

#include "analysis/results.h"
#include "cli/session.h"
#include "cli/workspace.h"
#include "common/plan.h"

struct vprof_ask {
	struct vprof_workspace *workspace;
	struct vprof_session *session;
	const struct vprof_results *results;
	const struct vprof_plan *plan;
	const uint32_t *chosen;
	size_t n_chosen;
	int automatic;
};

struct vprof_answers {
	size_t n_broken_down; /* functions and sites that the session now breaks down anew, roots included */
	size_t n_set_aside;   /* inherent or ignored: others may take their places */
	int stopped;	      /* the input ended: nothing more was asked */
};

/* Decides every chosen factor that has no verdict yet, and writes the decisions into the session (not to disk).
 * OK or NOMEM. */
int vprof_ask_all(const struct vprof_ask *ask, struct vprof_answers *answers, struct vprof_error *err);

#endif
