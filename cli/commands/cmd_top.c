/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof top: what a live session finds, while it runs. */
#include <cjson/cJSON.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/live/top_view.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/project.h"

#define WIDTH_ONCE 100
#define ROWS_ONCE 20
#define FRAME_ROWS 8 /* of the view, beside the causes */
#define REFRESH_MS 500

static const struct vprof_usage usage = {
	.synopsis = "top [--once [--json]]",
	.purpose =
		"Shows what a live session (vprof iterate --live) finds while it runs: causes with bounds and trend, the\n"
		"interval's latency, the measured effect of the probes, which functions are open now.\n"
		"Keys: f freezes the view, q leaves. Reads only.",
	.example = "  vprof top --once      # in another terminal, while vprof iterate --live or vprof live is at work",
};

static int print_once(const struct vprof_top *top, int json, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc;

	if (json)
		return vprof_print_json(vprof_top_json(top), err);
	vprof_top_text(top, WIDTH_ONCE, ROWS_ONCE, &text);
	rc = vprof_print_text(&text, err);
	return rc;
}

static void draw(const struct vprof_top *top, int is_frozen)
{
	size_t rows = LINES > FRAME_ROWS ? (size_t)(LINES - FRAME_ROWS) : 1;
	struct vprof_text text = VPROF_TEXT_INIT;
	char *rest = NULL;
	int row = 0;

	vprof_top_text(top, (size_t)COLS - 1, rows, &text);
	erase();
	for (char *at = text.s; at && *at && row < LINES - 1; at = rest) {
		rest = strchr(at, '\n');
		if (rest)
			*rest++ = 0;
		mvaddstr(row++, 0, at);
	}
	attron(A_REVERSE);
	mvaddstr(LINES - 1, 0, is_frozen ? "frozen   f go on   q leave" : "f freeze   q leave");
	attroff(A_REVERSE);
	refresh();
	vprof_text_release(&text);
}

/* Until the user leaves, or the session ends. */
static int watch(const char *vprof_dir, struct vprof_top *top, struct vprof_error *err)
{
	int key = ERR, is_frozen = 0, rc = VPROF_OK;

	initscr();
	cbreak();
	noecho();
	curs_set(0);
	timeout(REFRESH_MS);
	while (!rc && key != 'q') {
		struct vprof_top next;

		is_frozen ^= key == 'f';
		draw(top, is_frozen);
		key = getch();
		if (is_frozen)
			continue;
		rc = vprof_top_read(&next, vprof_dir, top, err);
		if (!rc) {
			vprof_top_release(top);
			*top = next;
		}
	}
	endwin();
	if (rc != VPROF_ERR_MISSING)
		return rc;
	vprof_say("the live session is over; vprof report shows what it found");
	return VPROF_OK;
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
	if (!rc && !once && !isatty(STDOUT_FILENO))
		once = 1;
	if (!rc)
		rc = once ? print_once(&top, json, &err) : watch(project.vprof_dir, &top, &err);
	vprof_top_release(&top);
	vprof_project_release(&project);
	return rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
}
