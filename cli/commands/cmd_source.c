/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof source: a source file as it is compiled with the probes of the last build. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/drilldown/steps.h"
#include "common/files.h"
#include "common/process.h"
#include "common/unfinished.h"
#include "instrumenter/instrument.h"

static const struct vprof_usage usage = {
	.synopsis = "source FILE [--diff]",
	.purpose = "Prints FILE as it is compiled with the drill-down's probes and annotations, or how that differs.",
	.max_operands = 1,
	.example = "  vprof source server.c --diff",
};

/* The plan of the last build as long as its ids are of these facts; else the session's decisions. */
static int current_plan(struct vprof_workspace *w, struct vprof_plan **plan, struct vprof_error *err)
{
	struct vprof_decisions decisions;
	struct vprof_session session;
	int rc;

	if (!w->rescanned && !access(w->project.plan, R_OK))
		return vprof_plan_read(plan, w->project.plan, err);
	rc = vprof_session_load(&session, w->project.session, err);
	if (rc && rc != VPROF_ERR_MISSING)
		return rc;
	decisions = vprof_session_decisions(&session);
	rc = vprof_step_plan(w, &decisions, plan, err);
	vprof_session_release(&session);
	return rc;
}

static int print_diff(const struct vprof_project *p, const char *path, const struct vprof_text *text,
		      struct vprof_error *err)
{
	struct vprof_text copy = VPROF_TEXT_INIT;
	struct vprof_text out = VPROF_TEXT_INIT;
	struct vprof_process_result result;
	const char *shown = vprof_project_shown(path);
	const char *argv[] = { "diff", "-u", "--label", shown, "--label", "with probes", "--", path, NULL, NULL };
	struct vprof_process diff = { .argv = argv, .captured = &out };
	int slot, rc;

	vprof_text_addf(&copy, "%s/source-%d", p->vprof_dir, (int)getpid());
	if (copy.failed)
		return vprof_error_no_memory(err);
	argv[8] = copy.s;
	slot = vprof_unfinished_enter(copy.s);
	rc = vprof_file_write(copy.s, text->s, text->len, err);
	if (!rc)
		rc = vprof_process_run(&diff, &result, err);
	if (!rc && result.status != 0 && result.status != 1)
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "diff failed: %s", out.s);
	if (!rc)
		fwrite(out.s, 1, out.len, stdout);
	unlink(copy.s);
	vprof_unfinished_leave(slot);
	vprof_text_release(&out);
	vprof_text_release(&copy);
	return rc;
}

int vprof_cmd_source(int argc, char **argv)
{
	int diff = 0;
	const struct vprof_option options[] = {
		{ "diff", VPROF_OPTION_FLAG, &diff, NULL, "print a unified diff against the original" },
		{ NULL },
	};
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_plan *plan = NULL;
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_workspace w;
	char *cwd, *path = NULL;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (!operands.n_words)
		return vprof_options_misused(&usage, "name a source file");
	rc = vprof_workspace_open(&w, NULL, &err);
	if (!rc)
		rc = vprof_workspace_load_facts(&w, &err);
	if (!rc)
		rc = current_plan(&w, &plan, &err);
	cwd = getcwd(NULL, 0);
	path = cwd ? vprof_path_absolute(cwd, operands.words[0]) : NULL;
	if (!rc && !path)
		rc = vprof_error_set(&err, VPROF_ERR_FAILED, "cannot resolve the path of %s", operands.words[0]);
	if (!rc)
		rc = vprof_splice_text(w.facts, plan, w.annotations, path, &text, &err);
	if (!rc && diff)
		rc = print_diff(&w.project, path, &text, &err);
	else if (!rc)
		fwrite(text.s, 1, text.len, stdout);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_text_release(&text);
	vprof_plan_free(plan);
	free(path);
	free(cwd);
	vprof_workspace_release(&w);
	return status;
}
