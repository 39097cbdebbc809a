/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof run: one recorded run of the workload with the probes that the last build put in. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/drilldown/steps.h"
#include "recorder/recorder.h"

static const struct vprof_usage usage = {
	.synopsis = "run [OPTIONS] [-- COMMAND]",
	.purpose =
		"Runs vprof.json's run command, or COMMAND, and records a trace into .vprof/runs/NNNN. The command's\n"
		"output goes to run.log there. Exit status 0 if the command exited with 0, else 1.",
	.takes_command = 1,
	.example = "  vprof run -- ./load.sh",
};

/* Of the kernel's events: those that the options ask for. */
static uint32_t kinds_of(int kernel, int stacks, int paths)
{
	if (!kernel && !stacks && !paths)
		return 0;
	return VP_KERNEL_USUAL | (kernel || stacks ? VP_KERNEL_STACKS : 0) |
	       (stacks ? VP_KERNEL_CALLS | VP_KERNEL_FAULTS : 0) | (paths ? VP_KERNEL_SOCKETS : 0);
}

int vprof_cmd_run(int argc, char **argv)
{
	const char *plan = NULL, *switches = NULL, *compress = NULL;
	enum vprof_switches_mode switches_mode;
	enum vprof_compress_mode compress_mode;
	long memory = 0;
	double budget = VPROF_BUDGET;
	int keep = 0, verbose = 0, kernel = 0, stacks = 0, paths = 0, hosts = 0, every_call = 0;
	const struct vprof_option options[] = {
		{ "plan", VPROF_OPTION_TEXT, &plan, "FILE",
		  "the plan that the program was built with (default: the last build's)" },
		{ "memory", VPROF_OPTION_COUNT, &memory, "MIB",
		  "shared memory for records on their way to disk (default 256)" },
		{ "every-call", VPROF_OPTION_FLAG, &every_call, NULL,
		  "record every call, even of hot functions, which are otherwise sampled" },
		{ "budget", VPROF_OPTION_SHARE, &budget, "SHARE",
		  "the share of one CPU that recording may use; beyond that, calls are recorded in time windows only (default "
		  "0.05; 0: no limit)" },
		{ "switches", VPROF_OPTION_TEXT, &switches, "WHEN",
		  "record context switches: auto (default), on or off" },
		{ "kernel", VPROF_OPTION_FLAG, &kernel, NULL,
		  "record the kernel's events and stacks into the same trace, as vprof record does (needs its rights)" },
		{ "stacks", VPROF_OPTION_FLAG, &stacks, NULL,
		  "as --kernel, and stacks also at system calls, page faults and by a timer (vprof report latency)" },
		{ "paths", VPROF_OPTION_FLAG, &paths, NULL,
		  "record each send and receive into the same trace: the paths of requests (vprof report paths)" },
		{ "between-hosts", VPROF_OPTION_FLAG, &hosts, NULL,
		  "record connections to other hosts, too, so that this run can be joined with theirs (vprof join)" },
		{ "compress", VPROF_OPTION_TEXT, &compress, "WHEN",
		  "compress the trace: auto (default: once the disk is the bottleneck), on or off" },
		{ "keep", VPROF_OPTION_FLAG, &keep, NULL, "do not end processes that outlive the command" },
		{ "verbose", VPROF_OPTION_FLAG, &verbose, NULL, "show the command's output as it is printed" },
		{ NULL },
	};
	struct vprof_run_outcome outcome;
	struct vprof_run_name run = { "" };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_workspace w;
	char *command = NULL;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (memory > 1 << 20)
		return vprof_options_misused(&usage, "--memory is in MiB; %ld is more than a TiB", memory);
	if (vprof_switches_parse(switches, &switches_mode))
		return vprof_options_misused(&usage, "--switches takes auto, on or off, not \"%s\"", switches);
	if (vprof_compress_parse(compress, &compress_mode))
		return vprof_options_misused(&usage, "--compress takes auto, on or off, not \"%s\"", compress);
	if (operands.n_command)
		command = vprof_options_shell(operands.command, operands.n_command);
	rc = vprof_workspace_open(&w, "run", &err);
	if (!rc)
		rc = vprof_step_new_run(&w.project, plan, &run, &err);
	if (!rc) {
		const struct vprof_step_run_options how = { .command = command,
							    .memory_bytes = (uint64_t)memory << 20,
							    .every_call = every_call,
							    .budget = budget,
							    .records_hosts = hosts,
							    .kernel_kinds = kinds_of(kernel, stacks, paths),
							    .switches = switches_mode,
							    .compress = compress_mode,
							    .verbose = verbose,
							    .keep = keep,
							    .give_stdin = !isatty(STDIN_FILENO) };

		rc = vprof_step_run(&w, run.s, &how, &outcome, &err);
	}
	if (!rc)
		printf("%s\n", run.s);
	if (!rc)
		vprof_say("Analyse it with: vprof analyze %s", run.s);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	free(command);
	vprof_workspace_release(&w);
	return status;
}
