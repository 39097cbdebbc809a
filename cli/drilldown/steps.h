/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of a round: build, run, analyse. Each does its work, tells it in one line, and leaves its files. */
#ifndef VPROF_STEPS_H
#define VPROF_STEPS_H

#include "analysis/results/results.h"
#include "cli/run/run_target.h"
#include "cli/drilldown/session.h"
#include "cli/workspace.h"
#include "common/plan.h"
#include "report/report.h"

/* The plan of the session's decisions; what could not be found is told as notes. */
int vprof_step_plan(struct vprof_workspace *w, const struct vprof_decisions *d, struct vprof_plan **plan,
		    struct vprof_error *err);

/* runs/RUN/plan.json from the session's decisions. */
int vprof_step_write_plan(struct vprof_workspace *w, const struct vprof_session *s, const char *run,
			  struct vprof_error *err);

/* The run's plan as the decisions ask for it, to be compared with the next: plan.json, but for a live round. Heap path,
 * NULL without memory. */
char *vprof_step_plan_asked(const struct vprof_project *p, const char *run);

/* Splices and recompiles; `link`: as in vprof_replay_options. Writes .vprof/plan.json: the plan that the objects now
 * hold. */
int vprof_step_build(struct vprof_workspace *w, const struct vprof_plan *plan, int link, const char *log_path,
		     struct vprof_error *err);

/* A new run's folder with the plan that tells what its trace's codes mean: the last build's, or the file `given`. */
int vprof_step_new_run(const struct vprof_project *p, const char *given, struct vprof_run_name *run,
		       struct vprof_error *err);

/* Runs the workload into runs/RUN (run.log, and its trace/ or, with a repetition of 1 or more, trace-2/ ...:
 * run_traces.h; such a one is removed when the run fails). FAILED also when the command itself fails, and when vprof is
 * interrupted (outcome->interrupted). `command` NULL: vprof.json's. */
#define VPROF_SAMPLE_AFTER 64 /* calls of a function in one stretch of work */
#define VPROF_BUDGET 0.05

struct vprof_live_rounds;

struct vprof_step_run_options {
	const char *command;
	size_t repetition;
	uint64_t memory_bytes;
	double budget;	       /* share of one processor, as in trace/collector.h */
	int every_call;	       /* hot functions are not sampled */
	int records_hosts;     /* connections to other hosts, too: the run can be joined with theirs */
	uint32_t kernel_kinds; /* of the kernel's events, VP_KERNEL_*, to be recorded, too; 0: none */
	enum vprof_switches_mode switches;
	enum vprof_compress_mode compress;
	int verbose, keep, give_stdin;
	struct vprof_live_rounds *live; /* rounds of a running program (live_rounds.h); NULL: each round runs it */
};
int vprof_step_run(struct vprof_workspace *w, const char *run, const struct vprof_step_run_options *o,
		   struct vprof_run_outcome *outcome, struct vprof_error *err);

/* Analyses the traces of runs/RUN together and writes its results.json and report.txt. The session gives k, threshold,
 * interval, the baseline and the verdicts. `how`: NULL, or what differs from the rule. `plan_out` may be NULL. */
struct vprof_step_analyse_options {
	double slower_than_ns; /* as struct vprof_analyze_options has them */
	size_t most_intervals;
};
int vprof_step_analyse(const struct vprof_project *p, const char *run, const struct vprof_session *s,
		       const struct vprof_step_analyse_options *how, struct vprof_results **results,
		       struct vprof_plan **plan_out, struct vprof_error *err);

/* results.json and report.txt of runs/RUN, with the session's verdicts filled in. */
int vprof_step_write_report(const struct vprof_project *p, const char *run, const struct vprof_session *s,
			    struct vprof_results *results, struct vprof_error *err);

/* The report on stdout; `chosen` may be NULL (those that the analysis selected). */
int vprof_step_print_report(const struct vprof_results *r, const uint32_t *chosen, size_t n_chosen, size_t top,
			    struct vprof_error *err);

/* One view of the results on stdout, with `o` for `variance`; colour and width are set here. `status` becomes the
 * command's exit status: 3 when the results carry no conclusion, or say nothing in this view. */
int vprof_step_print_view(const struct vprof_results *r, enum vprof_view view, const struct vprof_report_options *o,
			  int *status, struct vprof_error *err);

/* The view of that name, NULL: variance. -1: there is none. */
int vprof_view_parse(const char *name, enum vprof_view *view);

#endif
