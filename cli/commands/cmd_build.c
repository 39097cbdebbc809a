/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof build: the session's plan, or another, compiled into the user's objects. */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/drilldown/steps.h"

static const struct vprof_usage usage = {
	.synopsis = "build [--all | --annotations-only | --live [--link]]",
	.purpose =
		"Makes the plan for the current state of the drill-down, inserts its probes into copies of the sources,\n"
		"recompiles what changed and relinks with vprof.json's build command. The sources are not modified;\n"
		"vprof restore puts the original objects and binaries back. With --live, one build serves every plan: its\n"
		"probes are switched while the program runs; with --link, too, the program itself loads libvprof.so, and vprof\n"
		"live attaches to it however it was started.",
	.example = "  vprof build --annotations-only",
};

/* MISSING means that no drill-down has begun: the annotations alone. */
static int load_session(struct vprof_session *s, const char *path, struct vprof_error *err)
{
	int rc = vprof_session_load(s, path, err);

	return rc == VPROF_ERR_MISSING ? VPROF_OK : rc;
}

int vprof_cmd_build(int argc, char **argv)
{
	int all = 0, annotations_only = 0, live = 0, link = 0;
	const struct vprof_option options[] = {
		{ "all", VPROF_OPTION_FLAG, &all, NULL,
		  "every function, all gates open: a test that the program can be instrumented, not a way to measure it" },
		{ "annotations-only", VPROF_OPTION_FLAG, &annotations_only, NULL,
		  "only the annotations, no other probes" },
		{ "live", VPROF_OPTION_FLAG, &live, NULL,
		  "a resident build: every function that can be measured, all closed until a live session opens them" },
		{ "link", VPROF_OPTION_FLAG, &link, NULL,
		  "with --live: link libvprof.so to the programs, also in later live builds, so that vprof live can attach" },
		{ NULL },
	};
	struct vprof_decisions decisions = { 0 };
	struct vprof_plan *plan = NULL;
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_session session;
	struct vprof_workspace w;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (all + annotations_only + live > 1)
		return vprof_options_misused(&usage, "--all, --annotations-only and --live are mutually exclusive");
	if (link && !live)
		return vprof_options_misused(&usage, "--link needs --live");
	vprof_session_init(&session);
	rc = vprof_workspace_open(&w, "build", &err);
	if (!rc)
		rc = load_session(&session, w.project.session, &err);
	if (!rc)
		rc = vprof_workspace_load_facts(&w, &err);
	if (!rc)
		rc = vprof_workspace_check(&w, &err);
	if (!annotations_only)
		decisions = vprof_session_decisions(&session);
	decisions.all = all || live;
	decisions.live = live;
	if (!rc)
		rc = vprof_step_plan(&w, &decisions, &plan, &err);
	if (!rc)
		rc = vprof_step_build(&w, plan, link, w.project.build_log, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_plan_free(plan);
	vprof_session_release(&session);
	vprof_workspace_release(&w);
	return status;
}
