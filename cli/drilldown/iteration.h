/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The drill-down (VProfiler, EuroSys 2017, Algorithm 3), as vprof iterate and vprof live run it.
 *
 * Round 0 runs with the annotations alone: its mean is what probes are compared with, and its sampled stacks tell where
 * the interval runs. Every further round measures the children of what was broken down, until nothing that matters can
 * be broken down any more. The session is saved after every step; a command that ends anywhere goes on there.
 */
#ifndef VPROF_ITERATION_H
#define VPROF_ITERATION_H

#include "analysis/results/results.h"
#include "cli/drilldown/round_line.h"
#include "cli/drilldown/session.h"
#include "cli/options.h"
#include "cli/run/run_target.h"
#include "cli/workspace.h"
#include "common/plan.h"

#define VPROF_ITERATION_ROUNDS 12

struct vprof_attachment;
struct vprof_live_rounds;

struct vprof_iteration_options {
	long k, max, memory, repeat; /* repeat 0: the last round until repeat.h says enough */
	int every_call;
	double budget;
	double threshold; /* negative: the session's */
	int automatic, restart, json, verbose;
	int live;
	double effect;	   /* negative: the default */
	long round, grace; /* seconds: of recording; from SIGTERM to SIGKILL; 0: the defaults */
	long seed;
	struct vprof_option_words keep_open;
	const char *interval;
	enum vprof_switches_mode switches_mode;
	enum vprof_compress_mode compress_mode;
	char *command;
	struct vprof_attachment
		*attachment; /* of a live drill-down: what runs already; NULL: the run command is started */
	double for_s;	     /* how long a live drill-down may take; 0: until it is over */
};

struct vprof_iteration {
	struct vprof_workspace workspace;
	struct vprof_session session;
	const struct vprof_iteration_options *options;
	struct vprof_results *results; /* of the last analysed round */
	struct vprof_plan *plan;
	int is_brief; /* a line for each round */
	int is_time_over;
	struct vprof_run_name told;	/* the run whose results they are, after vprof_iterate(); "": there are none */
	struct vprof_measured measured; /* in the round before */
	struct vprof_live_rounds *live; /* with --live, once the program was built */
};

/* All of it, from the workspace to the last report, which it prints unless the options say json. Release the iteration
 * in any case. */
int vprof_iterate(struct vprof_iteration *it, struct vprof_error *err);
void vprof_iteration_release(struct vprof_iteration *it);

#endif
