/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof top: what a live session finds, while it runs. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/live/top_view.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/project.h"
#include "cli/top/top_screen.h"

#define WIDTH_ONCE 100
#define ROWS_ONCE 20

static const struct vprof_usage usage = {
	.synopsis = "top [--once [--json]]",
	.purpose =
		"Shows what a live session (vprof iterate --live, vprof live) finds while it runs: causes with bounds and\n"
		"trend, the interval's latency, the measured effect of the probes, which functions are open now; and steers\n"
		"it. Keys: j, k and arrows select, Tab changes between causes and functions; b breaks down, c closes or\n"
		"opens again, m marks, s shows the source; h holds the round, w saves it as a run; f freezes the view,\n"
		"q leaves.",
	.example = "  vprof top --once      # in another terminal, while vprof iterate --live or vprof live is at work",
};

static int print_once(const struct vprof_top *top, int json, struct vprof_error *err)
{
	const struct vprof_top_layout layout = { .width = WIDTH_ONCE, .rows = ROWS_ONCE, .chosen = -1 };
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	if (json)
		return vprof_print_json(vprof_top_json(top), err);
	vprof_top_text(top, &layout, &text);
	rc = vprof_print_text(&text, err);
	return rc;
}

int vprof_cmd_top(int argc, char **argv)
{
	int once = 0, json = 0;
	const struct vprof_option options[] = {
		{ "once", VPROF_OPTION_FLAG, &once, NULL, "print the view once and leave" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "with --once: as JSON" },
		{ NULL },
	};
	struct vprof_operands operands;
	struct vprof_project project = { 0 };
	struct vprof_error err = { "" };
	struct vprof_top top = { .results = NULL };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (json && !once)
		return vprof_options_misused(&usage, "--json needs --once");
	rc = vprof_project_open(&project, NULL, &err);
	if (!rc)
		rc = vprof_top_read(&top, project.vprof_dir, NULL, &err);
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		once = 1;
	if (!rc && once)
		rc = print_once(&top, json, &err);
	else if (!rc)
		rc = vprof_top_watch(&project, &top, &err);
	if (rc == VPROF_ERR_MISSING && !once && top.status.pid) {
		vprof_say("the live session is over; vprof report shows what it found");
		rc = VPROF_OK;
	}
	vprof_top_release(&top);
	vprof_project_release(&project);
	return rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
}
