/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof iterate: the drill-down (cli/drilldown/iteration.h). */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/commands/print_file.h"
#include "cli/doctor/symptoms.h"
#include "cli/drilldown/iteration.h"
#include "cli/drilldown/steps.h"
#include "cli/options.h"

static const struct vprof_usage usage = {
	.synopsis = "iterate [OPTIONS] [-- COMMAND]",
	.purpose =
		"Builds, runs and analyses, round by round, and drills down from the interval to the functions that\n"
		"make its latency vary. Asks what to do with each chosen factor, or decides itself with --auto.\n"
		"COMMAND replaces vprof.json's run command. An interrupted drill-down resumes where it stopped.",
	.takes_command = 1,
	.example = "  vprof iterate --k 3 --auto",
};

/* -1, or the exit status of options that do not go together. */
static int check_live(const struct vprof_iteration_options *o)
{
	if (!o->live && (o->effect >= 0 || o->round || o->grace))
		return vprof_options_misused(&usage, "--effect, --round and --grace need --live");
	if (o->live && o->repeat)
		return vprof_options_misused(&usage,
					     "--repeat does not go with --live: its rounds are windows of one run");
	return -1;
}

static int iterate(struct vprof_iteration *it, struct vprof_error *err)
{
	int rc = vprof_iterate(it, err);

	return it->options->json ? vprof_print_iterated(it, rc, err) : rc;
}

int vprof_cmd_iterate(int argc, char **argv)
{
	struct vprof_iteration_options o = {
		.max = VPROF_ITERATION_ROUNDS, .threshold = -1, .budget = VPROF_BUDGET, .effect = -1, .seed = 1
	};
	const char *switches = NULL, *compress = NULL;
	const struct vprof_option options[] = {
		{ "k", VPROF_OPTION_COUNT, &o.k, "N", "causes chosen in a round (default 3)" },
		{ "auto", VPROF_OPTION_FLAG, &o.automatic, NULL, "do not ask: break down whatever can be broken down" },
		{ "max", VPROF_OPTION_COUNT, &o.max, "N", "maximum number of rounds after the first (default 12)" },
		{ "repeat", VPROF_OPTION_COUNT, &o.repeat, "N",
		  "run each round N times (default: the last one 4 to 8 times, until its causes are settled)" },
		{ "threshold", VPROF_OPTION_SHARE, &o.threshold, "D", "minimum share of the variance (default 0.02)" },
		{ "interval", VPROF_OPTION_TEXT, &o.interval, "NAME",
		  "the interval to explain (default: the most frequent)" },
		{ "memory", VPROF_OPTION_COUNT, &o.memory, "MIB", "shared memory for records (default 256)" },
		{ "every-call", VPROF_OPTION_FLAG, &o.every_call, NULL,
		  "record every call, even of hot functions, which are otherwise sampled" },
		{ "budget", VPROF_OPTION_SHARE, &o.budget, "SHARE",
		  "the share of one CPU that recording may use; beyond that, calls are recorded in time windows only (default "
		  "0.05; 0: no limit)" },
		{ "switches", VPROF_OPTION_TEXT, &switches, "WHEN",
		  "record context switches: auto (default), on or off" },
		{ "compress", VPROF_OPTION_TEXT, &compress, "WHEN",
		  "compress the trace: auto (default: once the disk is the bottleneck), on or off" },
		{ "keep-open", VPROF_OPTION_WORDS, &o.keep_open, "NAME...",
		  "measure these functions although recording them costs much and they cannot matter" },
		{ "live", VPROF_OPTION_FLAG, &o.live, NULL,
		  "one build and one start of the program for all rounds: probes are switched while it runs" },
		{ "effect", VPROF_OPTION_SHARE, &o.effect, "E",
		  "with --live: close what cannot matter while the probes slow the interval by more (default 0.02)" },
		{ "round", VPROF_OPTION_COUNT, &o.round, "S",
		  "with --live: a round records for at most S seconds (default 60)" },
		{ "grace", VPROF_OPTION_COUNT, &o.grace, "S",
		  "with --live: the program has S seconds to end when it is told to; then it is killed (default 10)" },
		{ "seed", VPROF_OPTION_COUNT, &o.seed, "N",
		  "with --live: of the order of measuring windows and baselines (default 1)" },
		{ "restart", VPROF_OPTION_FLAG, &o.restart, NULL, "begin a new drill-down; runs are kept" },
		{ "verbose", VPROF_OPTION_FLAG, &o.verbose, NULL,
		  "show each step, each round's report, and what the run command prints" },
		{ "json", VPROF_OPTION_FLAG, &o.json, NULL, "print the last results.json on stdout, no reports" },
		{ NULL },
	};
	struct vprof_iteration it = { .options = &o };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	status = check_live(&o);
	if (status >= 0)
		return status;
	if (o.k > VPROF_K_MAX)
		return vprof_options_misused(&usage, "--k is at most %d", VPROF_K_MAX);
	if (o.memory > 1 << 20)
		return vprof_options_misused(&usage, "--memory is in MiB; %ld is more than a TiB", o.memory);
	if (o.repeat > VPROF_REPEAT_MAX)
		return vprof_options_misused(&usage, "--repeat is at most %d", VPROF_REPEAT_MAX);
	if (vprof_switches_parse(switches, &o.switches_mode))
		return vprof_options_misused(&usage, "--switches takes auto, on or off, not \"%s\"", switches);
	if (vprof_compress_parse(compress, &o.compress_mode))
		return vprof_options_misused(&usage, "--compress takes auto, on or off, not \"%s\"", compress);
	if (operands.n_command)
		o.command = vprof_options_shell(operands.command, operands.n_command);
	it.is_brief = o.automatic && !o.verbose;
	if (it.is_brief)
		vprof_progress_be_brief();
	rc = iterate(&it, &err);
	status = rc					? vprof_complain(rc, &err) :
		 it.results && it.results->inconclusive ? VPROF_EXIT_INCONCLUSIVE :
							  VPROF_EXIT_OK;
	if (rc && it.workspace.project.has_config &&
	    !vprof_symptoms_tell(&it.workspace.project, it.results, err.reason) && rc == VPROF_ERR_FAILED &&
	    it.session.n_rounds && err.reason != VPROF_REASON_INTERRUPTED)
		vprof_tell("vprof doctor checks this machine and the last run");
	vprof_iteration_release(&it);
	free(o.command);
	return status;
}
