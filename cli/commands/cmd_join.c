/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof join: runs that were recorded on several hosts at the same time, as one run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/project.h"
#include "cli/run_folders.h"
#include "common/files.h"
#include "report/format_value.h"
#include "trace/join/join.h"

static const struct vprof_usage usage = {
	.synopsis = "join DIR DIR... [OPTIONS]",
	.purpose =
		"Makes one run of the runs in these folders, which vprof run --between-hosts recorded with one build on several\n"
		"hosts at the same time: a request that went from host to host is one interval then, what it waited for on another\n"
		"host is explained by what that host's threads did, and contexts go on there. Times are brought to one clock by what\n"
		"the hosts sent each other. The result is a new run of this project, or the folder of --output.",
	.max_operands = VPROF_JOIN_MOST,
	.example = "  vprof join front/.vprof/runs/0002 store/.vprof/runs/0001",
};

struct target {
	struct vprof_project project;
	struct vprof_run_name run; /* "": the folder was given */
	char *folder, *trace;
};

/* The run's folder, with the plan that tells what its codes mean. */
static int make_target(struct target *t, const char *output, const char *plan, struct vprof_error *err)
{
	char *to = NULL;
	int rc;

	if (output) {
		t->folder = vprof_path_join(output, "");
		rc = t->folder ? vprof_dir_make(output, err) : vprof_error_no_memory(err);
	} else {
		rc = vprof_project_open(&t->project, NULL, err);
		if (!rc && access(t->project.vprof_dir, F_OK))
			rc = vprof_error_set(
				err, VPROF_ERR_MISSING,
				"there is no project here that the run could belong to: name a folder for it with --output");
		if (!rc)
			rc = vprof_project_new_run(&t->project, &t->run, err);
		t->folder = rc ? NULL : vprof_project_run_path(&t->project, t->run.s, "");
	}
	if (!rc) {
		t->trace = t->folder ? vprof_path_join(t->folder, "trace") : NULL;
		to = t->folder ? vprof_path_join(t->folder, "plan.json") : NULL;
		rc = t->trace && to ? vprof_file_copy(plan, to, err) : vprof_error_no_memory(err);
	}
	free(to);
	return rc;
}

static void release_target(struct target *t, int failed)
{
	if (failed && *t->run.s && t->folder)
		vprof_dir_remove(t->folder, NULL);
	free(t->folder);
	free(t->trace);
	vprof_project_release(&t->project);
}

static void say_clock(const char *folder, const struct vprof_host_clock *clock)
{
	if (clock->via == VPROF_NONE)
		vprof_say("  %s: its clock is that of the joined run", folder);
	else
		vprof_say("  %s: its clock is %s %s, give or take %s (%s messages)", folder,
			  vprof_format_duration(fabs(clock->ahead_ns)).s, clock->ahead_ns < 0 ? "behind" : "ahead",
			  vprof_format_duration(clock->error_ns).s, vprof_format_count(clock->n_messages).s);
}

static void say(const struct vprof_joined *joined, const struct vprof_run_folders *in)
{
	vprof_say("joined %zu runs: %s processes, %s threads, %s directions of connections between them", in->n,
		  vprof_format_count(joined->n_processes).s, vprof_format_count(joined->n_threads).s,
		  vprof_format_count(joined->n_connections).s);
	for (size_t i = 0; i < in->n; i++)
		say_clock(in->words[i], &joined->clocks.v.v[i]);
	if (!joined->has_switches)
		vprof_tell("context switches are left out, since they were not recorded on all hosts");
	if (joined->has_kernel)
		vprof_tell("the kernel's events are left out; vprof report paths joins those of several hosts");
}

static int print_json(const struct vprof_joined *joined, const struct vprof_run_folders *in, const struct target *t,
		      struct vprof_error *err)
{
	cJSON *root = cJSON_CreateObject(), *hosts = cJSON_AddArrayToObject(root, "hosts");

	cJSON_AddStringToObject(root, "folder", t->folder);
	if (*t->run.s)
		cJSON_AddStringToObject(root, "run", t->run.s);
	cJSON_AddNumberToObject(root, "n_processes", (double)joined->n_processes);
	cJSON_AddNumberToObject(root, "n_threads", (double)joined->n_threads);
	cJSON_AddNumberToObject(root, "n_connections", (double)joined->n_connections);
	cJSON_AddBoolToObject(root, "has_switches", joined->has_switches);
	for (size_t i = 0; i < in->n; i++) {
		const struct vprof_host_clock *clock = &joined->clocks.v.v[i];
		cJSON *host = cJSON_CreateObject();

		cJSON_AddStringToObject(host, "folder", in->words[i]);
		cJSON_AddBoolToObject(host, "is_reference", clock->via == VPROF_NONE);
		cJSON_AddNumberToObject(host, "ahead_ns", clock->ahead_ns);
		cJSON_AddNumberToObject(host, "drift", clock->drift);
		cJSON_AddNumberToObject(host, "error_ns", clock->error_ns);
		cJSON_AddNumberToObject(host, "n_messages", (double)clock->n_messages);
		cJSON_AddItemToArray(hosts, host);
	}
	return vprof_print_json(root, err);
}

int vprof_cmd_join(int argc, char **argv)
{
	const char *output = NULL;
	int json = 0;
	const struct vprof_option options[] = {
		{ "output", VPROF_OPTION_TEXT, &output, "FOLDER",
		  "write the run into this folder (default: a new run)" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print what was joined as JSON" },
		{ NULL },
	};
	struct vprof_run_folders in = { 0 };
	struct vprof_joined joined = { 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct target target = { 0 };
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (operands.n_words < 2)
		return vprof_options_misused(&usage, "name the folders of two runs or more");
	rc = vprof_run_folders_open(&in, operands.words, operands.n_words, &err);
	if (!rc)
		rc = make_target(&target, output, in.plan_path, &err);
	if (!rc)
		rc = vprof_trace_join(&joined, target.trace, (const char *const *)in.traces, in.n, &err);
	if (!rc && json) {
		rc = print_json(&joined, &in, &target, &err);
	} else if (!rc) {
		printf("%s\n", *target.run.s ? target.run.s : output);
		say(&joined, &in);
		vprof_say("Analyse it with: vprof analyze %s", *target.run.s ? target.run.s : output);
	}
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	release_target(&target, rc != VPROF_OK);
	vprof_joined_release(&joined);
	vprof_run_folders_release(&in);
	return status;
}
