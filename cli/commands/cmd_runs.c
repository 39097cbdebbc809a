/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof runs: what was recorded, and what of it is left. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/standing/run_list.h"
#include "report/format_value.h"

#define WIDTH 100
#define CONTENTS_COLUMNS 26

static const struct vprof_usage usage = {
	.synopsis = "runs [--json]",
	.purpose =
		"Lists the project's runs: when each was made, how long it lasted, its size, what it holds, and what\n"
		"it said. vprof clean removes what is no longer needed.",
	.example = "  vprof runs",
};

/* by the bits of enum vprof_run_part */
static const char *const part_names[] = { "trace", "probes", "kernel", "stacks", "paths", "results" };

static void add_contents(const struct vprof_run_entry *e, struct vprof_text *out)
{
	size_t from = out->len;

	if (!(e->parts & VPROF_RUN_TRACE))
		vprof_text_add(out, "no trace");
	for (size_t i = 1; i < sizeof part_names / sizeof *part_names; i++)
		if (e->parts >> i & 1)
			vprof_text_addf(out, "%s%s", out->len > from ? ", " : "", part_names[i]);
	if (e->is_reviewed)
		vprof_text_addf(out, "%sverdicts", out->len > from ? ", " : "");
}

static void add_what(const struct vprof_run_entry *e, struct vprof_text *out)
{
	if (e->round >= 0)
		vprof_text_addf(out, "round %ld", e->round);
	if (*e->answer)
		vprof_text_addf(out, "%s%s%s %s", e->round >= 0 ? ": " : "", e->is_inconclusive ? "inconclusive: " : "",
				vprof_format_percent(e->share).s, e->answer);
	else if (*e->command || e->interval)
		vprof_text_addf(out, "%s%s%s%s%s", e->round >= 0 ? ": " : "", e->interval ? "calls of " : "",
				e->interval ? e->interval : "", e->interval && *e->command ? ": " : "", e->command);
}

static void add_date(int64_t began_s, struct vprof_text *out)
{
	time_t t = (time_t)began_s;
	char date[32] = "-";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M", &tm);
	vprof_text_addf(out, "%-16s", date);
}

static void add_row(const struct vprof_run_entry *e, struct vprof_text *out)
{
	struct vprof_text contents = VPROF_TEXT_INIT, what = VPROF_TEXT_INIT;
	size_t begin = out->len, columns;

	add_contents(e, &contents);
	add_what(e, &what);
	vprof_text_addf(out, "%s  ", e->name.s);
	add_date(e->began_s, out);
	vprof_text_addf(out, "  %8s  %7s  ", vprof_format_duration(e->length_ns).s, vprof_format_bytes(e->bytes).s);
	vprof_format_cut(out, contents.len ? contents.s : "", CONTENTS_COLUMNS, 0, what.len ? CONTENTS_COLUMNS : 0);
	columns = out->len - begin + 2;
	if (what.len) {
		vprof_text_add(out, "  ");
		vprof_format_cut(out, what.s, columns + 24 < WIDTH ? WIDTH - columns : 24, 0, 0);
	}
	vprof_text_add(out, "\n");
	out->failed |= contents.failed | what.failed;
	vprof_text_release(&contents);
	vprof_text_release(&what);
}

static int print_runs(const struct vprof_run_list *list, struct vprof_error *err)
{
	struct vprof_text out = VPROF_TEXT_INIT;

	if (!list->n) {
		vprof_text_add(&out, "no runs yet: vprof iterate makes some, or vprof record -- COMMAND\n");
		return vprof_print_text(&out, err);
	}
	vprof_text_addf(&out, "%-4s  %-16s  %8s  %7s  %-*s  %s\n", "run", "began", "recorded", "size", CONTENTS_COLUMNS,
			"holds", "what");
	for (size_t i = 0; i < list->n; i++)
		add_row(&list->items[i], &out);
	vprof_text_addf(&out, "%s run%s, %s, %s of it traces\n", vprof_format_count(list->n).s, list->n == 1 ? "" : "s",
			vprof_format_bytes(list->bytes).s, vprof_format_bytes(list->trace_bytes).s);
	return vprof_print_text(&out, err);
}

static cJSON *run_json(const struct vprof_run_entry *e)
{
	cJSON *run = cJSON_CreateObject(), *contents = cJSON_CreateArray();

	cJSON_AddStringToObject(run, "run", e->name.s);
	cJSON_AddNumberToObject(run, "began_s", (double)e->began_s);
	cJSON_AddNumberToObject(run, "length_ns", e->length_ns); /* null when it is not known */
	cJSON_AddNumberToObject(run, "traces", (double)e->n_traces);
	cJSON_AddNumberToObject(run, "bytes", (double)e->bytes);
	cJSON_AddNumberToObject(run, "trace_bytes", (double)e->trace_bytes);
	for (size_t i = 0; i < sizeof part_names / sizeof *part_names; i++)
		if (e->parts >> i & 1)
			cJSON_AddItemToArray(contents, cJSON_CreateString(part_names[i]));
	cJSON_AddItemToObject(run, "holds", contents);
	if (e->round >= 0)
		cJSON_AddNumberToObject(run, "round", (double)e->round);
	else
		cJSON_AddNullToObject(run, "round");
	cJSON_AddBoolToObject(run, "has_verdicts", e->is_reviewed);
	vprof_print_add_string(run, "command", e->command);
	if (e->interval)
		vprof_print_add_string(run, "interval", e->interval);
	else
		cJSON_AddNullToObject(run, "interval");
	cJSON_AddBoolToObject(run, "inconclusive", e->is_inconclusive);
	vprof_print_add_string(run, "answer", e->answer);
	cJSON_AddNumberToObject(run, "share", e->share);
	return run;
}

static cJSON *runs_json(const struct vprof_run_list *list)
{
	cJSON *root = cJSON_CreateObject(), *runs = cJSON_CreateArray();

	cJSON_AddNumberToObject(root, "bytes", (double)list->bytes);
	cJSON_AddNumberToObject(root, "trace_bytes", (double)list->trace_bytes);
	for (size_t i = 0; i < list->n; i++)
		cJSON_AddItemToArray(runs, run_json(&list->items[i]));
	cJSON_AddItemToObject(root, "runs", runs);
	return root;
}

int vprof_cmd_runs(int argc, char **argv)
{
	int json = 0;
	const struct vprof_option options[] = {
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print JSON" },
		{ NULL },
	};
	struct vprof_run_list list = { 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_session session;
	struct vprof_project p;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	vprof_session_init(&session);
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc) {
		struct vprof_error ignored = { "" }; /* a damaged session is told by the commands that need it */

		vprof_session_open(&session, &p, &ignored);
		rc = vprof_run_list_read(&list, &p, &session, &err);
	}
	if (!rc)
		rc = json ? vprof_print_json(runs_json(&list), &err) : print_runs(&list, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_run_list_release(&list);
	vprof_session_release(&session);
	vprof_project_release(&p);
	return status;
}
