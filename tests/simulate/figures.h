/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the true intervals come to: means, variances, covariances, factors and their order, computed from the simulated
 * machine's own account in long double and compared with the results of vprof_analyze.
 *
 * Everything is computed here a second time from what docs/design/critical-path.md says about the tree and its factors.
 * It uses nothing from analysis/ except the results under test.
 */
#ifndef SIMULATE_FIGURES_H
#define SIMULATE_FIGURES_H

#include "analysis/results/results.h"
#include "common/plan.h"
#include "tests/simulate/truth.h"

/* Rounding in double: a mean may be off by this part of itself, a (co)variance by this part of itself and of the
 * product of the means. What is derived from them may be off by what that allows. */
#define FIGURES_ROUNDING 1e-12L

struct figures;

/* Prints one difference; false: enough were printed. */
typedef bool figures_say(void *arg, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct figures *figures_new(const struct vprof_plan *plan, uint64_t *coverage);
void figures_free(struct figures *f);

/* One more interval, from a trace with this length of a tick. */
void figures_add(struct figures *f, const struct truth *t, double ns_per_tick);
size_t figures_count(const struct figures *f); /* intervals */

/* The results are those of exactly the intervals that were added. */
void figures_compare(struct figures *f, const struct vprof_results *r, figures_say *say, void *arg);

/* For ranking.c and sums.c: the nodes in the order of the results, [0] the interval; bodies are nodes like others. */
struct figure {
	size_t parent, first_child, n_children;
	enum truth_class class;
	bool is_body, is_blame, is_unexplained;
	uint32_t code; /* FRAME */
	const char *name;
	long double mean, var, tolerance; /* tolerance: of var */
	const long double *ns;		  /* [n_intervals] */
};

struct figure_table {
	const struct vprof_plan *plan;
	const struct vprof_results *r;
	const struct figure *v; /* [n] */
	size_t n, n_intervals;
	bool has_noise; /* of hot sampling */
	long double (*covariance)(const void *figures, size_t a, size_t b, long double *tolerance);
	const void *figures;
	uint64_t *coverage;
	figures_say *say;
	void *arg;
};

/* Factors, their shares, heights, scores and order. */
void ranking_compare(const struct figure_table *t);

/* Sums over several places: what would go if they were constant, and causes. */
void sums_compare(const struct figure_table *t);

#endif
