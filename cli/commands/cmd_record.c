/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof record: what the kernel does for a program, of which nothing has to be built. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands/record_hosts.h"
#include "cli/commands/record_session.h"
#include "cli/latency/latency_interval.h"
#include "cli/lock.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/project.h"
#include "cli/recorded_run.h"
#include "common/files.h"
#include "recorder/requirements.h"
#include "report/format_value.h"
#include "report/latency/report_interval.h"

#define RING_MIB_MOST 1024
#define BUDGET 0.05 /* usually */
#define TIMER_HZ_MOST 10000
#define SIGNAL_STATUS 128 /* + its number: how a shell tells that a command was killed */

static const struct vprof_usage usage = {
	.synopsis = "record [OPTIONS] [-- COMMAND]",
	.purpose = "Records what the kernel does for COMMAND, a running process or all: context switches, who wakes\n"
		   "whom, disks and network interfaces. The program need not be built with vprof. Writes a run into\n"
		   ".vprof/runs/NNNN. Ends with the command, after --for, or with Ctrl-C. Needs root, or CAP_BPF and\n"
		   "CAP_PERFMON (vprof doctor checks it). Exit status: that of COMMAND.",
	.takes_command = 1,
	.example = "  vprof record --for 30s -- ./load.sh\n"
		   "  vprof report waits",
};

struct arguments {
	long pid, memory, timer_hz;
	const char *name, *output, *compress, *stacks_at, *timer, *hosts, *ready, *interval;
	double most_ns, spacing_ns, budget;
	int all, stacks, interrupts, paths, waits, json;
};

/* The folder of the run: --output, or a new one of the project. Heap string. */
static int make_run(const struct arguments *a, char **folder, struct vprof_error *err)
{
	struct vprof_run_name run;
	struct vprof_project p;
	char *trace;
	int rc;

	*folder = NULL;
	if (a->output) {
		trace = vprof_path_join(a->output, "trace/records.vpt");
		rc = !trace ? vprof_error_no_memory(err) :
		     access(trace, F_OK) ?
			      vprof_dir_make(a->output, err) :
			      vprof_error_set(err, VPROF_ERR_INPUT,
					      "%s holds a trace already; choose another folder, or remove it",
					      a->output);
		free(trace);
		*folder = rc ? NULL : strdup(a->output);
		return rc || *folder ? rc : vprof_error_no_memory(err);
	}
	rc = vprof_project_open(&p, NULL, err);
	if (!rc)
		rc = vprof_project_make_dir(&p, err);
	if (!rc)
		rc = vprof_project_new_run(&p, &run, err);
	if (!rc) {
		*folder = vprof_project_run_path(&p, run.s, "");
		rc = *folder ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_project_release(&p);
	return rc;
}

/* What was recorded stands beside the trace: the command, or the process's number or name. */
static int keep_command(const char *folder, const struct arguments *a, const struct vprof_operands *operands,
			struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "command"), *command = NULL, attached[64];
	int rc = path ? VPROF_OK : vprof_error_no_memory(err);

	if (operands->n_command)
		command = vprof_options_shell(operands->command, operands->n_command);
	else if (a->pid)
		snprintf(attached, sizeof attached, "(process %ld)", a->pid);
	else
		snprintf(attached, sizeof attached, a->name ? "(processes called %.16s)" : "(all processes)", a->name);
	if (!rc && operands->n_command && !command)
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_file_write(path, command ? command : attached, strlen(command ? command : attached), err);
	free(command);
	free(path);
	return rc;
}

/* What its calls took, in a sentence, or why that is not known; the recording stands either way. */
static void tell_interval(const struct arguments *a, const char *folder, const char *trace)
{
	struct vprof_latency_interval i;
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	struct vprof_error why = { "" };

	if (vprof_latency_interval_infer(&i, trace, "", a->interval, &why)) {
		vprof_tell("no intervals: %s", why.message);
	} else {
		vprof_interval_answer(&i, &answer);
		vprof_tell("%s of %s calls of %s are intervals. %s More: vprof report latency %s",
			   vprof_format_count(i.n_used).s, vprof_format_count(i.n_calls).s, i.results->interval,
			   answer.sentence.failed ? "" : answer.sentence.s, vprof_project_shown(folder));
	}
	vprof_answer_release(&answer);
	vprof_latency_interval_release(&i);
}

static cJSON *to_json(const char *folder, const struct vprof_record_outcome *o)
{
	cJSON *root = cJSON_CreateObject();

	cJSON_AddStringToObject(root, "run", folder);
	cJSON_AddNumberToObject(root, "seconds", o->seconds);
	cJSON_AddNumberToObject(root, "events", (double)o->state.n_events);
	cJSON_AddNumberToObject(root, "lost", (double)o->state.n_lost);
	cJSON_AddNumberToObject(root, "unseen", (double)o->state.n_unseen);
	cJSON_AddNumberToObject(root, "not_followed", (double)o->state.n_not_followed);
	cJSON_AddNumberToObject(root, "other_transfers", (double)o->state.n_other_transfers);
	cJSON_AddNumberToObject(root, "bytes", (double)o->n_bytes);
	cJSON_AddNumberToObject(root, "clock_error_ns", o->state.error_ns);
	if (o->state.n_windows) {
		cJSON_AddNumberToObject(root, "windows", o->state.n_windows);
		cJSON_AddNumberToObject(root, "observed_seconds", o->state.observed_s);
		cJSON_AddNumberToObject(root, "cost_ns", o->state.cost_ns);
		cJSON_AddNumberToObject(root, "busy_ns", o->state.busy_ns);
		cJSON_AddBoolToObject(root, "wakes_in_windows", o->state.wakes_left);
	}
	cJSON_AddStringToObject(root, "missing", o->state.missing);
	if (o->has_status)
		cJSON_AddNumberToObject(root, "status", o->status);
	return root;
}

static void tell(const char *folder, const struct arguments *a, const struct vprof_record_outcome *o,
		 struct vprof_progress *progress)
{
	vprof_progress_end(progress, "%s events, %s lost, %.1f MB of trace in %s",
			   vprof_format_count(o->state.n_events).s, vprof_format_count(o->state.n_lost).s,
			   (double)o->n_bytes / 1e6, vprof_project_shown(folder));
	if (o->state.n_windows > 1)
		vprof_tell(
			"stacks were taken in %u windows of time, together %s of %s: all of them would cost the program more than "
			"%s of its CPU time (--budget)",
			o->state.n_windows, vprof_format_duration(o->state.observed_s * 1e9).s,
			vprof_format_duration(o->seconds * 1e9).s, vprof_format_percent(a->budget).s);
	if (o->state.wakes_left)
		vprof_tell(
			"who wakes whom takes too much of the program's CPU time, and was recorded throughout at the begin only, then "
			"in these windows: vprof report waits tells of that begin (--waits records it throughout)");
	if (*o->state.missing)
		vprof_tell("not recorded: %s", o->state.missing);
	if (o->state.n_lost)
		vprof_tell(
			"%s events were lost, which the trace says where they are missing: the buffers were full. Larger ones "
			"help (--memory %ld)",
			vprof_format_count(o->state.n_lost).s,
			a->memory ? 2 * a->memory :
			a->stacks ? 64L :
				    16L);
	if (o->state.n_unseen)
		vprof_tell(
			"this kernel kept %s switches of this machine's threads or more to itself: wake-ups may be missing, too",
			vprof_format_count(o->state.n_unseen).s);
	if (o->state.n_other_transfers)
		vprof_tell("%s sends and receives were not recorded: of datagrams, or of protocols other than TCP",
			   vprof_format_count(o->state.n_other_transfers).s);
	if (o->state.n_not_followed)
		vprof_tell("%s processes or threads were too many to be followed",
			   vprof_format_count(o->state.n_not_followed).s);
}

static int exit_status(const struct vprof_record_outcome *o)
{
	if (o->has_status)
		return WIFSIGNALED(o->status) ? SIGNAL_STATUS + WTERMSIG(o->status) : WEXITSTATUS(o->status);
	return VPROF_EXIT_OK;
}

/* A usage error's status, or negative: go on. */
static int check(struct arguments *a, const struct vprof_operands *operands, enum vprof_compress_mode *compress)
{
	int n_targets = (operands->n_command > 0) + (a->pid > 0) + (a->name != NULL) + a->all;

	if (a->hosts && (a->pid || a->name || a->all || a->ready || a->json))
		return vprof_options_misused(&usage, "what is recorded on each host stands in the file of --hosts");
	if (!a->hosts && n_targets != 1)
		return vprof_options_misused(
			&usage, n_targets ? "name one of --pid, --name, --all and a command after \"--\"" :
					    "what is to be recorded? A command after \"--\", --pid, --name or --all");
	if (a->memory > RING_MIB_MOST || (a->memory & (a->memory - 1)))
		return vprof_options_misused(&usage, "--memory takes a power of two up to %d, not %ld", RING_MIB_MOST,
					     a->memory);
	if (a->stacks_at && strcmp(a->stacks_at, "all") && strcmp(a->stacks_at, "waits"))
		return vprof_options_misused(&usage, "--stacks-at takes all or waits, not \"%s\"", a->stacks_at);
	if (a->timer) {
		char *end;

		a->timer_hz = strtol(a->timer, &end, 10);
		if (*end || end == a->timer || a->timer_hz < 0 || a->timer_hz > TIMER_HZ_MOST)
			return vprof_options_misused(&usage, "--timer takes 0 to %d times a second, not \"%s\"",
						     TIMER_HZ_MOST, a->timer);
	}
	if (a->interval && a->hosts)
		return vprof_options_misused(
			&usage, "--interval is of one host: vprof report latency RUN/HOST --interval tells of each");
	if (a->interval &&
	    (!*a->interval || strlen(a->interval) > VPROF_INTERVAL_BYTES || strpbrk(a->interval, "\n\r\t")))
		return vprof_options_misused(&usage, "--interval takes the name of a function");
	*compress = !a->compress || !strcmp(a->compress, "auto") ? VPROF_COMPRESS_AUTO :
		    !strcmp(a->compress, "on")			 ? VPROF_COMPRESS_ON :
								   VPROF_COMPRESS_OFF;
	if (*compress == VPROF_COMPRESS_OFF && strcmp(a->compress, "off"))
		return vprof_options_misused(&usage, "--compress takes auto, on or off, not \"%s\"", a->compress);
	return -1;
}

/* Everything after the options; returns the exit status. */
static int run(const struct arguments *a, const struct vprof_operands *operands, enum vprof_compress_mode compress)
{
	char *folder = NULL, *trace = NULL, **command = NULL;
	struct vprof_record_outcome outcome = { 0 };
	struct vprof_progress progress;
	struct vprof_error err = { "" };
	int everywhere = a->stacks && !(a->stacks_at && !strcmp(a->stacks_at, "waits"));
	int has_waits = !a->paths || a->waits || a->stacks || a->interrupts;
	uint32_t kinds = (has_waits ? VP_KERNEL_USUAL : 0) | (a->stacks ? VP_KERNEL_STACKS : 0) |
			 (a->paths ? VP_KERNEL_SOCKETS : 0) | (everywhere ? VP_KERNEL_CALLS | VP_KERNEL_FAULTS : 0) |
			 (a->interrupts ? VP_KERNEL_INTERRUPTS : 0);
	int rc = vprof_recorder_require(&err);

	if (!rc)
		rc = make_run(a, &folder, &err);
	if (!rc)
		vprof_run_lock(folder);
	if (!rc)
		rc = keep_command(folder, a, operands, &err);
	if (!rc && a->interval)
		rc = vprof_recorded_interval_write(folder, a->interval, &err);
	if (!rc && operands->n_command) { /* argv ends with NULL, and so does the command */
		command = operands->command;
	}
	if (!rc) {
		trace = vprof_path_join(folder, "trace");
		rc = trace ? VPROF_OK : vprof_error_no_memory(&err);
	}
	if (!rc) {
		const struct vprof_record_request request = { .trace_dir = trace,
							      .command = command,
							      .pid = a->pid,
							      .name = a->name,
							      .all = a->all,
							      .kinds = kinds,
							      .spacing_ns = (uint64_t)a->spacing_ns,
							      .budget = a->stacks ? a->budget : 0,
							      .may_leave_wakes = everywhere && !a->waits && !a->paths &&
										 !a->interrupts && !a->interval,
							      .timer_hz = everywhere ? (uint32_t)a->timer_hz : 0,
							      .ready = a->ready,
							      .most_ns = a->most_ns,
							      .ring_bytes = (uint64_t)a->memory << 20,
							      .compress = compress,
							      .progress = &progress };

		vprof_progress_begin(&progress, "record");
		rc = vprof_record_session(&request, &outcome, &err);
		if (rc)
			vprof_progress_drop(&progress);
		else
			tell(folder, a, &outcome, &progress);
	}
	if (!rc && a->interval)
		tell_interval(a, folder, trace);
	if (!rc && a->json)
		rc = vprof_print_json(to_json(folder, &outcome), &err);
	free(trace);
	free(folder);
	return rc ? vprof_complain(rc, &err) : exit_status(&outcome);
}

/* What the hosts' recorders are told: words[VPROF_HOSTS_OPTIONS_MOST + 1]; text: where numbers stand. */
static void options_for_hosts(const struct arguments *a, char **words, char text[3][32])
{
	char *const given[][2] = { { "--compress", (char *)a->compress },
				   { "--stacks-at", (char *)a->stacks_at },
				   { "--timer", (char *)a->timer },
				   { "--memory", a->memory ? text[0] : NULL },
				   { "--spacing", a->spacing_ns != VPROF_RECORDER_SPACING_NS ? text[1] : NULL },
				   { "--budget", a->budget != BUDGET ? text[2] : NULL } };

	snprintf(text[0], sizeof text[0], "%ld", a->memory);
	snprintf(text[1], sizeof text[1], "%.0fns", a->spacing_ns);
	snprintf(text[2], sizeof text[2], "%.17g", a->budget);
	*words++ = "--progress"; /* what the recorder notes goes into the log */
	*words++ = "text";
	if (a->paths)
		*words++ = "--paths";
	if (a->waits)
		*words++ = "--waits";
	if (a->stacks)
		*words++ = "--stacks";
	if (a->interrupts)
		*words++ = "--interrupts";
	for (size_t i = 0; i < sizeof given / sizeof *given; i++)
		if (given[i][1]) {
			*words++ = given[i][0];
			*words++ = given[i][1];
		}
	*words = NULL;
}

static int run_hosts(const struct arguments *a, const struct vprof_operands *operands)
{
	char *folder = NULL, *options[VPROF_HOSTS_OPTIONS_MOST + 1], text[3][32];
	struct vprof_record_outcome outcome = { 0 };
	struct vprof_error err = { "" };
	int rc = VPROF_OK;

	options_for_hosts(a, options, text);
	if (access(a->hosts, R_OK))
		rc = vprof_error_set(&err, VPROF_ERR_INPUT, "cannot read %s: %s", a->hosts, strerror(errno));
	if (!rc)
		rc = make_run(a, &folder, &err);
	if (!rc)
		vprof_run_lock(folder);
	if (!rc)
		rc = keep_command(folder, a, operands, &err);
	if (!rc)
		rc = vprof_record_hosts(
			&(struct vprof_hosts_request){ .file = a->hosts,
						       .options = options,
						       .folder = folder,
						       .command = operands->n_command ? operands->command : NULL,
						       .most_ns = a->most_ns },
			&outcome.status, &err);
	outcome.has_status = outcome.status >= 0 && operands->n_command;
	if (!rc)
		printf("%s\n", vprof_project_shown(folder));
	free(folder);
	return rc ? vprof_complain(rc, &err) : exit_status(&outcome);
}

int vprof_cmd_record(int argc, char **argv)
{
	struct arguments a = { .timer_hz = VPROF_RECORDER_TIMER_HZ,
			       .spacing_ns = VPROF_RECORDER_SPACING_NS,
			       .budget = BUDGET };
	const struct vprof_option options[] = {
		{ "pid", VPROF_OPTION_COUNT, &a.pid, "PID", "record this process and its descendants (-p)", 'p' },
		{ "name", VPROF_OPTION_TEXT, &a.name, "NAME",
		  "record the processes of this name, also those that are started later (-n)", 'n' },
		{ "all", VPROF_OPTION_FLAG, &a.all, NULL, "record all threads of the machine (-a)", 'a' },
		{ "for", VPROF_OPTION_DURATION, &a.most_ns, "TIME", "end after this long (30s)" },
		{ "output", VPROF_OPTION_TEXT, &a.output, "DIR",
		  "the run's folder (-o; default: the next number in .vprof/runs)", 'o' },
		{ "stacks", VPROF_OPTION_FLAG, &a.stacks, NULL,
		  "record the functions of kernel and program in which threads wait, wake others and work (-s)", 's' },
		{ "interval", VPROF_OPTION_TEXT, &a.interval, "FUNCTION",
		  "with stacks: the calls of FUNCTION are the run's intervals, of which its reports tell why they vary" },
		{ "stacks-at", VPROF_OPTION_TEXT, &a.stacks_at, "WHERE",
		  "with --stacks: all (default: also at system calls, page faults and by a timer) or waits" },
		{ "spacing", VPROF_OPTION_DURATION, &a.spacing_ns, "TIME",
		  "between a thread's stacks at system calls and page faults, on average (default 50us)" },
		{ "timer", VPROF_OPTION_TEXT, &a.timer, "HZ",
		  "stacks for each second of CPU time without other events (default 1999; 0: none)" },
		{ "budget", VPROF_OPTION_SHARE, &a.budget, "SHARE",
		  "with --stacks: the share of the program's CPU time that recording may take of it; beyond that, stacks are "
		  "taken in time windows only (default 0.05; 0: no limit)" },
		{ "interrupts", VPROF_OPTION_FLAG, &a.interrupts, NULL,
		  "record each interrupt of the recorded threads, too (-i)", 'i' },
		{ "paths", VPROF_OPTION_FLAG, &a.paths, NULL,
		  "record sends and receives instead: the paths of requests (vprof report paths)" },
		{ "waits", VPROF_OPTION_FLAG, &a.waits, NULL,
		  "with --paths or --stacks: record what threads wait for throughout (vprof report waits)" },
		{ "memory", VPROF_OPTION_COUNT, &a.memory, "MIB",
		  "buffer of each CPU for events on their way to disk, with --stacks another one for these (default 4 and 16; a power of two)" },
		{ "compress", VPROF_OPTION_TEXT, &a.compress, "WHEN",
		  "compress the trace: auto (default: once the disk is the bottleneck), on or off" },
		{ "hosts", VPROF_OPTION_TEXT, &a.hosts, "FILE",
		  "record on the hosts that FILE names, by ssh, and bring the traces back (docs/cli.md)" },
		{ "ready", VPROF_OPTION_TEXT, &a.ready, "FILE", "make FILE once events are being recorded" },
		{ "json", VPROF_OPTION_FLAG, &a.json, NULL, "print what was recorded as JSON" },
		{ NULL },
	};
	enum vprof_compress_mode compress;
	struct vprof_operands operands;
	int status = vprof_options_parse(&usage, options, argc, argv, &operands);

	a.stacks |= a.interval != NULL;
	if (status < 0)
		status = check(&a, &operands, &compress);
	return status >= 0 ? status : a.hosts ? run_hosts(&a, &operands) : run(&a, &operands, compress);
}
