/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: finds the command in a table and hands over. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/version.h"
#include "common/nearest.h"
#include "common/unfinished.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

/* Grouped by what one wants to do; a command without a name is a group's heading. One of two words is the report of a
 * view, which its first word runs. */
static const struct command commands[] = {
	{ NULL, NULL, "look at what runs; nothing is rebuilt" },
	{ "record", vprof_cmd_record,
	  "record what the kernel does for a program: switches, wake-ups, I/O, stacks, messages" },
	{ "report waits", vprof_cmd_report, "which waits limit throughput, and who ends them" },
	{ "report latency", vprof_cmd_report, "how long functions take, inferred from stacks" },
	{ NULL, NULL, "trace requests" },
	{ "report paths", vprof_cmd_report, "which way requests go through threads, processes and hosts" },
	{ "report transactions", vprof_cmd_report, "which requests wait for which, and what each kind costs" },
	{ NULL, NULL, "find the functions" },
	{ "init", vprof_cmd_init, "observe one build, scan the sources, draft vprof.json" },
	{ "annotations", vprof_cmd_annotations, "check vprof.json against the sources and list it" },
	{ "iterate", vprof_cmd_iterate, "build, run, analyse and drill down, round by round" },
	{ "live", vprof_cmd_live, "drill down in a server that runs already" },
	{ "top", vprof_cmd_top, "watch what a live drill-down finds, while the program runs" },
	{ "report", vprof_cmd_report, "print the last (or a given) run's report" },
	{ "review", vprof_cmd_review, "say what a factor is: culprit, inherent, fixed, ...; kept across runs" },
	{ "export", vprof_cmd_export, "write a run for Perfetto, flame graphs, spreadsheets, code scanning, ..." },
	{ NULL, NULL, "judge changes" },
	{ "compare", vprof_cmd_compare, "compare two builds or their runs, with conditions for CI" },
	{ NULL, NULL, "the drill-down step by step" },
	{ "build", vprof_cmd_build, "build with the probes that the session asks for" },
	{ "run", vprof_cmd_run, "run the workload and record a trace" },
	{ "join", vprof_cmd_join, "make one run of those that several hosts recorded together" },
	{ "analyze", vprof_cmd_analyze, "analyse a run's trace" },
	{ "source", vprof_cmd_source, "show a source file as it is built" },
	{ "flows", vprof_cmd_flows, "find the queues between threads, by a discovery run" },
	{ "restore", vprof_cmd_restore, "put the original objects and binaries back" },
	{ NULL, NULL, "manage" },
	{ "status", vprof_cmd_status, "say where the project stands and what comes next; vprof alone does, too" },
	{ "runs", vprof_cmd_runs, "list the runs, what they hold and how large they are" },
	{ "clean", vprof_cmd_clean, "remove runs and traces that are no longer needed" },
	{ "doctor", vprof_cmd_doctor, "check that everything vprof needs is there" },
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

static void print_help(FILE *to)
{
	fputs("usage: vprof COMMAND [OPTIONS]\n\nvprof finds the functions that make requests slow or unpredictable, "
	      "and says why.\n\n",
	      to);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].name)
			fprintf(to, "  %-20s %s\n", commands[i].name, commands[i].summary);
		else
			fprintf(to, "%s%s:\n", i ? "\n" : "", commands[i].summary);
	fputs("\nvprof COMMAND --help lists a command's options. A first look at a program, as it is:\n\n"
	      "  vprof record -- COMMAND    # or --pid PID\n"
	      "  vprof report waits\n\n"
	      "and the functions that make its requests vary:\n\n"
	      "  vprof init -- make         # or your build command, from a clean tree\n"
	      "  $EDITOR vprof.json         # confirm the interval, give a run command\n"
	      "  vprof iterate              # build, run, analyse, drill down\n"
	      "  vprof report\n",
	      to);
}

static void tell_unknown(const char *name)
{
	struct vprof_nearest nearest;

	vprof_nearest_begin(&nearest, name, 0);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].name)
			vprof_nearest_offer(&nearest, commands[i].name);
	vprof_nearest_offer(&nearest, "help");
	for (size_t i = 0; i < N_COMMANDS; i++) { /* a view without "report" */
		const char *blank = commands[i].name ? strchr(commands[i].name, ' ') : NULL;

		if (blank && !strcmp(blank + 1, name))
			nearest.best = commands[i].name;
	}
	fprintf(stderr, "vprof: no command \"%s\"", name);
	if (nearest.best)
		fprintf(stderr, "; did you mean vprof %s?\n", nearest.best);
	else
		fputs("; vprof help lists them\n", stderr);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].name && !strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int dispatch(int argc, char **argv)
{
	static char status[] = "status";
	char *alone[] = { status, NULL };
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	if (!name)
		return vprof_cmd_status(1, alone);
	if (!strcmp(name, "--version") || !strcmp(name, "version")) {
		vprof_version_print();
		return VPROF_EXIT_OK;
	}
	if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h")) {
		static char help[] = "--help";
		char *forward[] = { argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : help, argc > 3 ? help : NULL,
				    NULL };

		if (!forward[0]) {
			print_help(stdout);
			return VPROF_EXIT_OK;
		}
		command = find_command(forward[0]);
		if (command)
			return command->run(argc > 3 ? 3 : 2, forward);
		name = forward[0];
	}
	command = find_command(name);
	if (command)
		return command->run(argc - 1, argv + 1);
	tell_unknown(name);
	return VPROF_EXIT_USAGE;
}

/* With standard output closed the next file that is opened would become it, and get the report into its midst. The
 * wrong direction: reading and writing there fail as they would on a closed descriptor. */
static void occupy_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

int main(int argc, char **argv)
{
	int status;

	occupy_standard_files();
	vprof_unfinished_guard();
	status = dispatch(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		fputs("vprof: cannot write to standard output\n", stderr);
		return status ? status : VPROF_EXIT_FAILED;
	}
	return status;
}
