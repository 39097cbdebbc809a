/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both builds' run commands in turn. Each pair begins with the side that ended the pair before, so that neither always
 * runs on what the other left behind. The runs are kept, as those of vprof run and vprof analyze. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/compare/comparison.h"
#include "cli/drilldown/steps.h"
#include "common/process.h"

#define LOOKS_AT_LEAST 3 /* to 24 runs of each side, however long they are */
#define LONGEST_S 300.0	 /* no more runs than will have been made by then */

static int run_and_analyse(struct vprof_workspace *w, const char *command, struct vprof_run_name *run,
			   struct vprof_error *err)
{
	const struct vprof_step_run_options how = { .command = command, .budget = VPROF_BUDGET };
	struct vprof_results *results = NULL;
	struct vprof_run_outcome outcome;
	struct vprof_session session;
	int rc;

	vprof_session_init(&session);
	rc = vprof_session_open(&session, &w->project, err);
	if (!rc || rc == VPROF_ERR_MISSING)
		rc = vprof_step_new_run(&w->project, NULL, run, err);
	if (!rc)
		rc = vprof_step_run(w, run->s, &how, &outcome, err);
	if (!rc)
		rc = vprof_step_analyse(&w->project, run->s, &session, NULL, &results, NULL, err);
	vprof_results_free(results);
	vprof_session_release(&session);
	return rc;
}

static int run_side(struct vprof_compared_side *side, const struct vprof_compared_build *build, struct vprof_error *err)
{
	struct vprof_run_name run = { "" };
	struct vprof_workspace w = { 0 };
	int rc = VPROF_OK;

	if (chdir(build->directory))
		return vprof_error_set(err, VPROF_ERR_INPUT, "cannot work in %s: %s", build->directory,
				       strerror(errno));
	rc = vprof_workspace_open(&w, "compare", err);
	if (!rc)
		rc = run_and_analyse(&w, build->command, &run, err);
	vprof_workspace_release(&w);
	return rc ? rc : vprof_compared_side_add(side, run.s, err);
}

static int run_pair(struct vprof_comparison *c, const struct vprof_compared_build builds[2], struct vprof_error *err)
{
	size_t number = c->sides[0].n;
	int rc = VPROF_OK;

	for (size_t k = 0; k < 2 && !rc; k++) {
		size_t i = (number + k) % 2;

		vprof_say("%s %zu", i ? "new" : "base", number + 1);
		rc = run_side(&c->sides[i], &builds[i], err);
	}
	return rc;
}

/* Could a further look tell more? Of conditions it may; else if one of the figures would be known by then. */
static int is_worth_more(const struct vprof_comparison *c)
{
	int is_worth = c->n_conditions > 0;

	for (size_t i = 0; i < VPROF_COMPARE_JUDGED && !is_worth; i++) {
		size_t needed = vprof_comparison_runs_to_know(c, vprof_compare_judged[i]);

		is_worth = needed && needed <= vprof_compare_looks[VPROF_COMPARE_LOOKS - 1];
	}
	return is_worth;
}

static int make_pairs(struct vprof_comparison *c, const struct vprof_compared_build builds[2], size_t until,
		      struct vprof_error *err)
{
	int rc = VPROF_OK;

	while (c->sides[1].n < until && !rc)
		rc = run_pair(c, builds, err);
	return rc;
}

int vprof_comparison_run(struct vprof_comparison *c, const struct vprof_compared_build builds[2], size_t repeat,
			 struct vprof_error *err)
{
	double begun_s = vprof_clock_s();
	int rc, is_last = 0;

	c->is_in_turn = c->has_made_runs = 1;
	c->error = VPROF_COMPARE_ERROR;
	if (repeat) {
		rc = make_pairs(c, builds, repeat, err);
		return rc ? rc : vprof_comparison_make(c, err);
	}
	for (size_t look = 0; !is_last; look++) {
		rc = make_pairs(c, builds, vprof_compare_looks[look], err);
		/* The time decides before the runs are looked at: so it may give this look the rest of the error. */
		is_last = look + 1 == VPROF_COMPARE_LOOKS ||
			  (look >= LOOKS_AT_LEAST - 1 && 2 * (vprof_clock_s() - begun_s) > LONGEST_S);
		c->error = vprof_compare_look_error(look, is_last);
		if (!rc)
			rc = vprof_comparison_make(c, err);
		if (rc || vprof_comparison_is_settled(c))
			break;
		if (look >= LOOKS_AT_LEAST - 1 && !is_worth_more(c))
			break;
	}
	return rc;
}
