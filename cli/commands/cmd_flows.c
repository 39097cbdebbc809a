/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof flows: how work is handed from thread to thread through shared memory, found by a discovery run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/check/check.h"
#include "cli/command.h"
#include "cli/flows/flow_answer.h"
#include "cli/flows/flow_discover.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/workspace.h"
#include "common/files.h"

#define NUMBERS 256

static const struct vprof_usage usage = {
	.synopsis = "flows [OPTIONS] [NUMBER...] [-- COMMAND]",
	.purpose =
		"Finds the queues through which the program's threads hand work to each other: compiles the files in which\n"
		"critical sections lie so that they tell their memory accesses, runs vprof.json's run command (or COMMAND),\n"
		"puts the build back, and says which stores and loads are a flow of work and which are an allocator, a cache\n"
		"or the like. --apply adds the flows found (or those with these NUMBERs) to \"queues\" in vprof.json.",
	.max_operands = NUMBERS,
	.takes_command = 1,
	.example = "  vprof flows -- ./load.sh",
};

struct request {
	struct vprof_option_words units;
	long memory;
	int apply, last, json, keep, verbose;
	long numbers[NUMBERS];
	size_t n_numbers;
	char *command;
};

static int discover(struct vprof_workspace *w, const struct request *r, const char *folder, cJSON **answer,
		    struct vprof_error *err)
{
	const struct vprof_flow_run_options how = {
		.command = r->command, .memory_mib = r->memory, .verbose = r->verbose, .folder = folder
	};

	return vprof_flow_discover(w, &r->units, &how, r->keep, answer, err);
}

/* Errors that the new vprof.json has. The old text is put back then. */
static int check_applied(struct vprof_workspace *w, const char *before, struct vprof_error *err)
{
	struct vprof_annotations *a = NULL;
	struct vprof_findings findings = { 0 };
	struct vprof_text line = VPROF_TEXT_INIT;
	int rc = vprof_annotations_read(&a, w->project.config, err);

	if (!rc)
		rc = vprof_annotations_check(a, w->facts, &findings, err);
	for (size_t i = 0; !rc && i < findings.n; i++)
		if (findings.items[i].severity == VPROF_FINDING_ERROR) {
			vprof_finding_format(a, &findings.items[i], &line);
			rc = vprof_error_set(
				err, VPROF_ERR_INPUT,
				"an entry does not fit the sources, and vprof.json was left as it was:\n  %s\nApply the others by their numbers",
				line.s);
		}
	if (rc)
		vprof_file_write(w->project.config, before, strlen(before), NULL);
	vprof_findings_release(&findings);
	vprof_annotations_free(a);
	vprof_text_release(&line);
	return rc;
}

static int apply(struct vprof_workspace *w, const struct request *r, const cJSON *answer, struct vprof_error *err)
{
	struct vprof_text before = VPROF_TEXT_INIT, after = VPROF_TEXT_INIT;
	size_t n_added = 0;
	int rc = vprof_file_read(w->project.config, &before, err);

	if (!rc)
		rc = vprof_workspace_load_facts(w, err);
	if (!rc)
		rc = vprof_flow_answer_apply(answer, r->numbers, r->n_numbers, before.s, &after, &n_added, err);
	if (!rc && n_added)
		rc = vprof_file_write(w->project.config, after.s, after.len, err);
	if (!rc && n_added)
		rc = check_applied(w, before.s, err);
	if (!rc)
		vprof_say("%zu entr%s added to \"queues\" in %s", n_added, n_added == 1 ? "y" : "ies",
			  vprof_project_shown(w->project.config));
	vprof_text_release(&before);
	vprof_text_release(&after);
	return rc;
}

static int print_answer(const struct request *r, cJSON *answer, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	if (r->json)
		return vprof_print_json(cJSON_Duplicate(answer, 1), err);
	vprof_flow_answer_text(answer, &text);
	return vprof_print_text(&text, err);
}

static int parse(struct request *r, int argc, char **argv)
{
	const struct vprof_option options[] = {
		{ "units", VPROF_OPTION_WORDS, &r->units, "FILE",
		  "compile only these source files for discovery (default: those that lock or wait for events, their callers and callees)" },
		{ "apply", VPROF_OPTION_FLAG, &r->apply, NULL,
		  "add the last run's flows to vprof.json; without NUMBERs all of them" },
		{ "last", VPROF_OPTION_FLAG, &r->last, NULL, "show the last discovery run's answer again" },
		{ "memory", VPROF_OPTION_COUNT, &r->memory, "MIB", "the most that may be recorded (default 512)" },
		{ "keep", VPROF_OPTION_FLAG, &r->keep, NULL, "leave the build for discovery in place" },
		{ "verbose", VPROF_OPTION_FLAG, &r->verbose, NULL, "show the command's output as it is printed" },
		{ "json", VPROF_OPTION_FLAG, &r->json, NULL, "print the answer as JSON" },
		{ NULL },
	};
	struct vprof_operands operands;
	int status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (operands.n_words && !r->apply)
		return vprof_options_misused(&usage, "NUMBERs go with --apply; a command to run goes after --");
	for (size_t i = 0; i < operands.n_words; i++) {
		char *end;

		r->numbers[r->n_numbers++] = strtol(operands.words[i], &end, 10);
		if (*end || end == operands.words[i])
			return vprof_options_misused(&usage, "\"%s\" is not the number of a flow", operands.words[i]);
	}
	if ((r->apply || r->last) && (operands.n_command || r->units.n))
		return vprof_options_misused(&usage, "--apply and --last take the last run's answer and run nothing");
	if (operands.n_command)
		r->command = vprof_options_shell(operands.command, operands.n_command);
	return -1;
}

int vprof_cmd_flows(int argc, char **argv)
{
	struct request r = { 0 };
	struct vprof_error err = { "" };
	struct vprof_workspace w;
	char *folder = NULL;
	cJSON *answer = NULL;
	int rc, status = parse(&r, argc, argv);

	if (status >= 0)
		return status;
	rc = vprof_workspace_open(&w, r.last ? NULL : "flows", &err);
	if (!rc) {
		folder = vprof_path_join(w.project.vprof_dir, "flows");
		rc = folder ? VPROF_OK : vprof_error_no_memory(&err);
	}
	if (!rc && (r.apply || r.last))
		rc = vprof_flow_read_answer(folder, &answer, &err);
	else if (!rc)
		rc = discover(&w, &r, folder, &answer, &err);
	if (!rc && r.apply)
		rc = apply(&w, &r, answer, &err);
	else if (!rc)
		rc = print_answer(&r, answer, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	cJSON_Delete(answer);
	free(folder);
	free(r.command);
	vprof_workspace_release(&w);
	return status;
}
