/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sides, each of one or several analysed runs, and what changed from the first to the second.
 *
 * With several runs of each side the bounds are those of runs (analysis/stats/compare_runs.h). With one of each they
 * are the bootstrap's, which knows these two runs and nothing of how runs differ: such a comparison decides nothing.
 */
#ifndef VPROF_COMPARISON_H
#define VPROF_COMPARISON_H

#include "analysis/results/results.h"
#include "analysis/stats/compare_runs.h"
#include "cli/compare/conditions.h"
#include "common/error.h"
#include "common/text.h"

/* One execution of the program: a run that was repeated has several, which were analysed together. */
struct vprof_compared_trace {
	size_t run; /* index */
	struct vprof_run_figures figures;
};

struct vprof_compared_side {
	struct vprof_results **runs; /* [n] */
	size_t n;
	struct vprof_compared_trace *traces; /* [n_traces] */
	size_t n_traces;
	struct vprof_latencies first; /* of traces[0] */
	struct vprof_text plan;	      /* plan.json of runs[0], empty when it is not there */
	char label[80];		      /* the commit that it is of; "": none */
};

#define VPROF_COMPARE_PART_ERROR 0.05 /* of the bounds of a factor or cause, by itself */

struct vprof_factor_change {
	const char *name, *key;
	int is_blame;
	double base_ns, new_ns; /* standard deviations; 0: did not occur, NaN: not measured on that side */
	double change;		/* of variance, as a share of BASE's; NaN when one is not measured */
	double low, high;	/* 95 % bounds from runs, of this factor by itself; NaN with single runs */
};

struct vprof_comparison {
	struct vprof_compared_side sides[2];
	int is_in_turn;	   /* run i of one side was made beside run i of the other */
	double error;	   /* of the bounds, all together */
	int has_made_runs; /* it did not get them as they are */
	struct vprof_change changes[VPROF_FIGURE_COUNT];
	struct vprof_condition conditions[VPROF_CONDITIONS_MAX];
	size_t n_conditions;
	struct vprof_factor_change *factors; /* by descending change */
	size_t n_factors;
};

/* Adds a run: a folder, or a number in the project of the current folder. */
int vprof_compared_side_add(struct vprof_compared_side *side, const char *given, struct vprof_error *err);
double
vprof_compared_side_variance(const struct vprof_compared_side *side); /* of latency, ns^2: the mean of its runs */
void vprof_comparison_release(struct vprof_comparison *c);

/* Fills changes and factors. INPUT: the runs are of different intervals; INCONCLUSIVE: too few to compare. */
int vprof_comparison_make(struct vprof_comparison *c, struct vprof_error *err);

int vprof_comparison_has_runs(const struct vprof_comparison *c); /* several of each side */

/* Are all conditions decided; without any, is each of mean, p50, p90 and p99 known to differ, or known to within
 * VPROF_COMPARE_PRECISE? */
#define VPROF_COMPARE_PRECISE 0.1
int vprof_comparison_is_settled(const struct vprof_comparison *c);

/* What these are, without conditions. */
#define VPROF_COMPARE_JUDGED 4
extern const enum vprof_figure vprof_compare_judged[VPROF_COMPARE_JUDGED];

int vprof_comparison_is_known(const struct vprof_comparison *c, enum vprof_figure figure);
/* About how many runs of each side would tell, if it has changed as it seems; 0: it is known, or no number up to
 * VPROF_COMPARE_RUNS_MAX would. */
size_t vprof_comparison_runs_to_know(const struct vprof_comparison *c, enum vprof_figure figure);

/* of the conditions: one that fails decides, else one that is inconclusive */
int vprof_comparison_status(const struct vprof_comparison *c);

enum vprof_verdict_of_change vprof_comparison_verdict(const struct vprof_comparison *c, size_t condition);
extern const char *const vprof_change_verdict_words[];

/* Cells of its tables: "+3.1 %", "x 12", "-"; "-4 % .. +2 %". */
void vprof_compared_percent(char *text, size_t size, double share);
void vprof_compared_bounds(char *text, size_t size, double low, double high);

/* touched: lines about the commits between both sides (commits.h), or NULL. */
void vprof_comparison_print(const struct vprof_comparison *c, size_t top, const char *touched);
int vprof_comparison_print_json(const struct vprof_comparison *c, const char *touched, struct vprof_error *err);

/* Where a side is run: a project's folder and its build, with that project's run command or another. */
struct vprof_compared_build {
	const char *directory; /* absolute */
	const char *command;   /* NULL: vprof.json's */
};

/* Runs both builds in turn, `repeat` times each, or, when it is 0, until the comparison is settled, and compares. The
 * current folder is another afterwards. */
int vprof_comparison_run(struct vprof_comparison *c, const struct vprof_compared_build builds[2], size_t repeat,
			 struct vprof_error *err);

#endif
