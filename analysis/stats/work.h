/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of the latencies' variance the amount of work explains: a linear regression on the counters of vprof_work().
 *
 * What it explains is inherent, a request for more rows takes longer; the rest could be avoided. Only a linear relation
 * is seen: what grows with the square of the amount is partly left in the rest.
 */
#ifndef VPROF_WORK_H
#define VPROF_WORK_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"

/* The regression's columns, for those who resample it: (amount - mean) / sd of the counters that vary. */
struct vprof_work_model {
	size_t n_columns;
	size_t counter[VPROF_COUNTERS_MAX]; /* of each column, index into the attributes' counters */
	double mean[VPROF_COUNTERS_MAX], sd[VPROF_COUNTERS_MAX];
};

/* Fills work, work_share (adjusted for the number of counters, so that chance explains nothing) and n_worked of `r`,
 * without bounds. Least squares by QR in batches of rows and singular values at the end (GSL multifit), so counters may
 * depend on one another. Memory does not grow with n. OK or NOMEM. */
int vprof_work_fill(struct vprof_results *r, const struct vprof_interval_attributes *attributes,
		    struct vprof_work_model *model);

/* Row i of the model. */
void vprof_work_row(const struct vprof_work_model *model, const struct vprof_interval_attributes *attributes, size_t i,
		    double *row);

/* Slopes b[n] from sums of products: A b = c, A[n * n] of the columns with one another, c[n] with the response;
 * directions in which the columns hardly vary are left out. Returns b' c, the squares explained. */
double vprof_work_solve(const double *a, const double *c, size_t n, double *b);

/* R^2 of n rows and p columns, adjusted, at least 0; NaN where rows are too few. */
double vprof_work_adjusted(double r2, double n, size_t p);

#endif
