/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments of sparse samples: most nodes of a variance tree are absent from most intervals, and an absent node took
 * no time.
 *
 * Everything is taken about the exact mean, known from an earlier pass, so a large common offset costs no digits
 * (never E[x^2] - E[x]^2). Only present values are visited; the absent zeros are added in closed form at the end.
 * Estimators: n - 1.
 */
#ifndef VPROF_MOMENTS_H
#define VPROF_MOMENTS_H

#include <stddef.h>

struct vprof_moment {
	double mean;	 /* over all n intervals, absent ones as 0 */
	double squares;	 /* sum of (x - mean)^2 over the present ones */
	double residual; /* sum of (x - mean) over the present ones */
	double noise;	 /* sum of what the errors of estimates add to the squares (noise.h) */
	size_t n_present;
};

static inline void vprof_moment_add(struct vprof_moment *m, double x)
{
	double d = x - m->mean;

	m->squares += d * d;
	m->residual += d;
	m->n_present++;
}

/* Sums of other intervals, about the same mean. */
static inline void vprof_moment_join(struct vprof_moment *m, const struct vprof_moment *other)
{
	m->squares += other->squares;
	m->residual += other->residual;
	m->noise += other->noise;
	m->n_present += other->n_present;
}

/* 0 when n < 2. The last term removes the rounding error of the mean. */
static inline double vprof_moment_variance(const struct vprof_moment *m, size_t n)
{
	double absent = (double)(n - m->n_present);
	double residual = m->residual - absent * m->mean;
	double squares = m->squares + absent * m->mean * m->mean - (n ? residual * residual / (double)n : 0);

	return n < 2 || squares < 0 ? 0 : squares / (double)(n - 1);
}

struct vprof_comoment {
	double products;     /* sum of (a - mean a)(b - mean b) where both are present */
	double sum_a, sum_b; /* sums of a - mean a, b - mean b there */
	double noise;	     /* as that of a moment, of the products */
	size_t n_both;
};

static inline void vprof_comoment_add(struct vprof_comoment *c, double da, double db)
{
	c->products += da * db;
	c->sum_a += da;
	c->sum_b += db;
	c->n_both++;
}

static inline void vprof_comoment_join(struct vprof_comoment *c, const struct vprof_comoment *other)
{
	c->products += other->products;
	c->sum_a += other->sum_a;
	c->sum_b += other->sum_b;
	c->noise += other->noise;
	c->n_both += other->n_both;
}

/* a, b: complete moments of the two over the same n intervals. 0 when n < 2. */
static inline double vprof_comoment_covariance(const struct vprof_comoment *c, const struct vprof_moment *a,
					       const struct vprof_moment *b, size_t n)
{
	double neither = (double)n - (double)a->n_present - (double)b->n_present + (double)c->n_both;
	double residual_a = a->residual - (double)(n - a->n_present) * a->mean;
	double residual_b = b->residual - (double)(n - b->n_present) * b->mean;
	double sum;

	if (n < 2)
		return 0;
	sum = c->products - b->mean * (a->residual - c->sum_a) - a->mean * (b->residual - c->sum_b) +
	      neither * a->mean * b->mean;
	return (sum - residual_a * residual_b / (double)n) / (double)(n - 1);
}

#endif
