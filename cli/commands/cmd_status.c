/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof status, and vprof alone: where the project stands and what comes next. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/standing/standing.h"
#include "report/format_value.h"

#define WIDTH 100
#define LABEL 10
#define COMMAND 30

static const struct vprof_usage usage = {
	.synopsis = "status [--json]",
	.purpose =
		"Says where this folder's project stands, what was found so far, what is stale, and what comes next.\n"
		"vprof without a command does the same. Reads only.",
	.example = "  vprof status",
};

/* "runs      7, 412 MB, ..." wrapped beside its label. */
static void add_row(struct vprof_text *out, const char *label, const char *text)
{
	vprof_text_addf(out, "%-*s", LABEL, label);
	vprof_format_wrap(out, text, LABEL, LABEL, WIDTH);
}

static void add_answer(const struct vprof_standing *s, struct vprof_text *out)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	if (!s->at)
		return;
	if (*s->at->answer)
		vprof_text_addf(&line, "%s of the variance: %s (%srun %s)", vprof_format_percent(s->at->share).s,
				s->at->answer, s->at->is_inconclusive ? "inconclusive, " : "", s->at->name.s);
	else
		vprof_text_addf(&line, "run %s says nothing%s: vprof report %s", s->at->name.s,
				s->at->is_inconclusive ? " (inconclusive)" : "", s->at->name.s);
	add_row(out, "answer", line.s);
	out->failed |= line.failed;
	vprof_text_release(&line);
}

static void add_state(const struct vprof_standing *s, struct vprof_text *out)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	if (s->is_busy) {
		vprof_text_addf(&line, "%s works here", *s->holder ? s->holder : "another command");
		add_row(out, "now", line.s);
		vprof_text_clear(&line);
	}
	if (*s->damage)
		add_row(out, "damaged", s->damage);
	if (*s->stale)
		add_row(out, "stale", s->stale);
	if (s->has_probes)
		add_row(out, "build", "contains probes; vprof restore puts the original objects and binaries back");
	if (s->runs.n) {
		vprof_text_addf(&line, "%s, %s, %s of it traces (vprof runs lists them)",
				vprof_format_count(s->runs.n).s, vprof_format_bytes(s->runs.bytes).s,
				vprof_format_bytes(s->runs.trace_bytes).s);
		add_row(out, "runs", line.s);
	}
	out->failed |= line.failed;
	vprof_text_release(&line);
}

static int print_standing(const struct vprof_project *p, const struct vprof_standing *s, struct vprof_error *err)
{
	struct vprof_text out = VPROF_TEXT_INIT, first = VPROF_TEXT_INIT;
	const char *name = strrchr(p->directory, '/');

	vprof_text_addf(&first, "%s: %s", name && name[1] ? name + 1 : p->directory, s->sentence);
	vprof_format_wrap(&out, first.s, 0, LABEL, WIDTH);
	add_answer(s, &out);
	add_state(s, &out);
	for (size_t i = 0; i < s->n_next; i++)
		vprof_text_addf(&out, "%-*s%-*s %s\n", LABEL, i ? "" : "next", COMMAND, s->next[i].command,
				s->next[i].why);
	if (s->stage == VPROF_STAGE_NOTHING)
		vprof_text_add(&out, "vprof help lists all commands\n");
	out.failed |= first.failed;
	vprof_text_release(&first);
	return vprof_print_text(&out, err);
}

static cJSON *standing_json(const struct vprof_project *p, const struct vprof_standing *s)
{
	cJSON *root = cJSON_CreateObject(), *next = cJSON_CreateArray();

	vprof_print_add_string(root, "project", p->directory);
	cJSON_AddStringToObject(root, "stage", vprof_stage_names[s->stage]);
	vprof_print_add_string(root, "sentence", s->sentence);
	vprof_print_add_string(root, "answer", s->at ? s->at->answer : "");
	vprof_print_add_string(root, "run", s->at ? s->at->name.s : "");
	vprof_print_add_string(root, "stale", s->stale);
	vprof_print_add_string(root, "damage", s->damage);
	cJSON_AddBoolToObject(root, "busy", s->is_busy);
	cJSON_AddBoolToObject(root, "build_has_probes", s->has_probes);
	cJSON_AddNumberToObject(root, "open_causes", (double)s->n_open);
	cJSON_AddNumberToObject(root, "runs", (double)s->runs.n);
	cJSON_AddNumberToObject(root, "bytes", (double)s->runs.bytes);
	cJSON_AddNumberToObject(root, "trace_bytes", (double)s->runs.trace_bytes);
	for (size_t i = 0; i < s->n_next; i++) {
		cJSON *step = cJSON_CreateObject();

		vprof_print_add_string(step, "command", s->next[i].command);
		vprof_print_add_string(step, "why", s->next[i].why);
		cJSON_AddItemToArray(next, step);
	}
	cJSON_AddItemToObject(root, "next", next);
	return root;
}

int vprof_cmd_status(int argc, char **argv)
{
	int json = 0;
	const struct vprof_option options[] = {
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print JSON" },
		{ NULL },
	};
	struct vprof_standing standing = { 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_project p;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc)
		rc = vprof_standing_read(&standing, &p, &err);
	if (!rc)
		rc = json ? vprof_print_json(standing_json(&p, &standing), &err) : print_standing(&p, &standing, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_standing_release(&standing);
	vprof_project_release(&p);
	return status;
}
