/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One round of a drill-down, step by step: the session is saved after each, and a step that is done is not repeated. */
#ifndef VPROF_ROUND_H
#define VPROF_ROUND_H

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"
#include "cli/drilldown/steps.h"
#include "cli/workspace.h"
#include "common/plan.h"

/* Opens the next round with a plan made from the session's decisions. *changed is 0, and no round is added, when that
 * plan is the same as the last round's. */
int vprof_round_open(struct vprof_workspace *w, struct vprof_session *s, int *changed, struct vprof_error *err);

/* Carries the last round on until its workload has run as often as it wants and is analysed. INCONCLUSIVE, with the
 * results, when there is too little data, unless that is accepted; the round then stands before its first run, so that
 * carrying on runs the workload again. */
int vprof_round_complete(struct vprof_workspace *w, struct vprof_session *s,
			 const struct vprof_step_run_options *options, int accepts_inconclusive,
			 struct vprof_results **results, struct vprof_plan **plan, struct vprof_error *err);

#endif
