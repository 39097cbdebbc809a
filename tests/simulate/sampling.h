/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the choice of calls of hot functions adds to the variance of an interval's times (analysis/variance/noise.h),
 * computed from the simulated calls, and compared with the real errors of the estimates.
 *
 * Of a block of N calls with the chosen times x and y the error of N/2 (x + y) has the variance
 * N (N - 2) / 4 (x - y)^2, and the same goes for products of several nodes' times.
 */
#ifndef SIMULATE_SAMPLING_H
#define SIMULATE_SAMPLING_H

#include "tests/simulate/truth.h"

/* Product of the errors of two siblings, or of one node with itself, in this interval. */
typedef void sampling_take(void *arg, size_t a, bool is_body_a, size_t b, bool is_body_b, long double ticks2);
void sampling_noise(const struct truth *t, sampling_take *take, void *arg);

/* Over all intervals: the errors of the estimates of hot functions' times should be 0 on average, and their squares
 * should equal the estimated variances on average. */
struct sampling_check {
	long double n, error, noise; /* sums; error: estimate - truth */
	long double excess, excess2; /* of error^2 - noise, and of its square */
};

void sampling_add(struct sampling_check *c, const struct truth *t);

/* False: one of the two sums is further from 0 than SAMPLING_BOUND of its standard deviations, which happens to an
 * unbiased estimate in less than 1 in 10,000 sets of schedules (normal, two-sided, both sums). */
#define SAMPLING_BOUND 4.2L
bool sampling_is_unbiased(const struct sampling_check *c);

#endif
