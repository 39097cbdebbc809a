/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of a drill-down in one running program (docs/live.md): a resident build, the run command started once, and for
 * each round windows under its plan, until what is to be decided is settled or more windows would not change it.
 */
#ifndef VPROF_LIVE_ROUNDS_H
#define VPROF_LIVE_ROUNDS_H

#include "cli/drilldown/session.h"
#include "cli/drilldown/steps.h"
#include "cli/workspace.h"

struct vprof_attachment;
struct vprof_live_rounds;

struct vprof_live_rounds_options {
	uint64_t seed;
	double first_s, longest_s; /* of recording in windows: when a round is first looked at, and when it ends */
	double grace_s;		   /* from SIGTERM to SIGKILL of the run command at the end */
	struct vprof_attachment *attachment; /* processes that run already; NULL: the run command is started */
	double for_s;			     /* from the first process seen; 0: without a limit */
	int is_one_plan;		     /* a round is not looked at, and lasts for_s */
	int is_brief;			     /* what is closed is counted, not named */
	int is_automatic;		     /* a rule decides what is broken down, and not a person by each report */
	long rounds_max;		     /* after the first */
};
#define VPROF_LIVE_FIRST_S 2.0
#define VPROF_LIVE_LONGEST_S 60.0
#define VPROF_LIVE_GRACE_S 10.0
#define VPROF_LIVE_EFFECT 0.02 /* of the probes, from which on what cannot matter is closed */

/* Makes the resident build, unless it is there. What is attached to has been built: INPUT when the sources are not
 * those of that build. */
int vprof_live_rounds_new(struct vprof_live_rounds **out, struct vprof_workspace *w,
			  const struct vprof_live_rounds_options *o, struct vprof_error *err);

/* Records runs/RUN under its plan.json, which gets its number. Starts the run command when it does not run. A round in
 * which the command ends is over then. Where its last look was at all that it recorded, that is its analysis: *results
 * and *plan as vprof_step_analyse() gives them; NULL: it is not analysed. */
int vprof_live_rounds_record(struct vprof_live_rounds *rounds, struct vprof_workspace *w, struct vprof_session *s,
			     const char *run, const struct vprof_step_run_options *how, struct vprof_results **results,
			     struct vprof_plan **plan, struct vprof_error *err);

int vprof_live_rounds_is_time_over(const struct vprof_live_rounds *rounds);

/* Ends the program, or leaves it. What the whole took: on stderr. */
int vprof_live_rounds_free(struct vprof_live_rounds *rounds, struct vprof_error *err);

#endif
