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

int vprof_comparison_run(struct vprof_comparison *c, const struct vprof_compared_build builds[2], size_t repeat,
			 struct vprof_error *err)
{
	size_t n_looks = repeat ? 1 : VPROF_COMPARE_LOOKS;
	int rc = VPROF_OK;

	c->is_in_turn = 1;
	c->n_runs_max = repeat ? repeat : vprof_compare_looks[VPROF_COMPARE_LOOKS - 1];
	for (size_t look = 0; look < n_looks && !rc; look++) {
		size_t until = repeat ? repeat : vprof_compare_looks[look];

		c->error = vprof_compare_look_errors[repeat ? VPROF_COMPARE_LOOKS : look];
		while (c->sides[1].n < until && !rc)
			rc = run_pair(c, builds, err);
		if (!rc)
			rc = vprof_comparison_make(c, err);
		if (!rc && vprof_comparison_is_settled(c))
			break;
	}
	return rc;
}
