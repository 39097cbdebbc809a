/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof join: runs that were recorded on several hosts at the same time, as one run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	int is_made;		   /* the folder was not there before */
	char *folder, *trace, *plan;
};

static int make_given(struct target *t, const char *output, struct vprof_error *err)
{
	t->folder = strdup(output);
	t->trace = vprof_path_join(output, "trace");
	t->plan = vprof_path_join(output, "plan.json");
	if (!t->folder || !t->trace || !t->plan)
		return vprof_error_no_memory(err);
	if (!access(t->trace, F_OK) || !access(t->plan, F_OK) || vprof_is_trace(output))
		return vprof_error_set(err, VPROF_ERR_INPUT, "there is a run in %s already: name a new folder", output);
	t->is_made = access(output, F_OK) != 0;
	return vprof_dir_make(output, err);
}

static int make_run(struct target *t, struct vprof_error *err)
{
	int rc = vprof_project_open(&t->project, NULL, err);

	if (!rc && access(t->project.vprof_dir, F_OK))
		rc = vprof_error_set(
			err, VPROF_ERR_MISSING,
			"there is no project here that the run could belong to: name a folder for it with --output");
	if (!rc)
		rc = vprof_project_new_run(&t->project, &t->run, err);
	if (rc)
		return rc;
	t->is_made = 1;
	t->folder = vprof_project_run_path(&t->project, t->run.s, "");
	t->trace = vprof_project_run_path(&t->project, t->run.s, "trace");
	t->plan = vprof_project_run_path(&t->project, t->run.s, "plan.json");
	return t->folder && t->trace && t->plan ? VPROF_OK : vprof_error_no_memory(err);
}

static void release_target(struct target *t, int failed)
{
	if (failed && t->is_made)
		vprof_dir_remove(t->folder, NULL);
	free(t->folder);
	free(t->trace);
	free(t->plan);
	vprof_project_release(&t->project);
}

static void say_clock(const char *folder, const struct vprof_host_clock *clock, double error_ns)
{
	if (clock->via == VPROF_NONE)
		vprof_say("  %s: its clock is that of the joined run", folder);
	else
		vprof_say("  %s: its clock is %s %s, give or take %s (%s messages)", folder,
			  vprof_format_duration(fabs(clock->ahead_ns)).s, clock->ahead_ns < 0 ? "behind" : "ahead",
			  vprof_format_duration(error_ns).s, vprof_format_count(clock->n_messages).s);
}

static void say(const struct vprof_joined *joined, const struct vprof_run_folders *in)
{
	vprof_say("joined %zu runs: %s processes, %s threads, %s directions of connections between them", in->n,
		  vprof_format_count(joined->n_processes).s, vprof_format_count(joined->n_threads).s,
		  vprof_format_count(joined->n_connections).s);
	for (size_t i = 0; i < in->n; i++)
		say_clock(in->words[i], &joined->clocks.v.v[i], joined->errors_ns[i]);
	if (joined->n_several)
		vprof_tell(
			"%s directions of connections are left out: several hosts have such between the same addresses",
			vprof_format_count(joined->n_several).s);
	if (joined->is_cut)
		vprof_tell("records of these traces are missing or damaged: vprof analyze DIR tells of each");
	if (joined->record_most_ns > 1.5 * joined->record_least_ns)
		vprof_tell(
			"recording a call took %s to %s on these hosts; what is taken out for it is what it took on the one "
			"whose clock is the joined run's",
			vprof_format_duration(joined->record_least_ns).s,
			vprof_format_duration(joined->record_most_ns).s);
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
	cJSON_AddNumberToObject(root, "n_left_out", (double)joined->n_several);
	cJSON_AddBoolToObject(root, "has_switches", joined->has_switches);
	cJSON_AddBoolToObject(root, "is_cut", joined->is_cut);
	for (size_t i = 0; i < in->n; i++) {
		const struct vprof_host_clock *clock = &joined->clocks.v.v[i];
		cJSON *host = cJSON_CreateObject();

		cJSON_AddStringToObject(host, "folder", in->words[i]);
		cJSON_AddBoolToObject(host, "is_reference", clock->via == VPROF_NONE);
		cJSON_AddNumberToObject(host, "ahead_ns", clock->ahead_ns);
		cJSON_AddNumberToObject(host, "drift", clock->drift);
		cJSON_AddNumberToObject(host, "drift_error", clock->drift_error);
		cJSON_AddNumberToObject(host, "error_ns", joined->errors_ns[i]);
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
		rc = output ? make_given(&target, output, &err) : make_run(&target, &err);
	if (!rc)
		rc = vprof_trace_join(&joined, target.trace, (const char *const *)in.traces, in.n, &err);
	if (!rc)
		rc = vprof_file_copy(in.plan_path, target.plan, &err);
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
