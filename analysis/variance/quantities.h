/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities: times that are summed over several places of the variance tree. A quantity is a set of nodes of which
 * none lies beneath another; in every interval it has one value, the sum of their times. Factors, pairs, a function's
 * own work together with that beneath waits, causes and their parts are all quantities, so that there is one way to
 * compute what each of them is of the interval's variance.
 *
 * With T the latency and f a quantity: share = Var(f) / Var(T); if constant = 1 - Var(T - f) / Var(T)
 * = (2 Cov(T, f) - Var(f)) / Var(T). The errors of sampled calls (noise.h) are taken out of Var(f) and of covariances
 * between quantities. Cov(T, f) needs no correction: T is measured without such errors, and those of f have mean 0 for
 * every T.
 *
 * Use: add all, finish, then sums and covariances.
 */
#ifndef VPROF_QUANTITIES_H
#define VPROF_QUANTITIES_H

#include "analysis/stats/moments.h"
#include "analysis/variance/variance_tree.h"

struct vprof_quantity_member {
	uint32_t node, quantity;
};

struct vprof_quantities {
	size_t n, n_nodes;
	VPROF_ARRAY(struct vprof_quantity_member) members; /* once finished: by node, then quantity */
	uint32_t *first;				   /* [n_nodes + 1] of each node's members, once finished */
	VPROF_ARRAY(double) mean;			   /* [n] ns per interval */
};

/* One more quantity, of these nodes: of some that lie beneath others the outermost count, and each once. OK or NOMEM.
 */
int vprof_quantities_add(struct vprof_quantities *q, const struct vprof_results *r, const uint32_t *nodes, size_t n);
/* The same for nodes of which none lies beneath another, each of them once. */
int vprof_quantities_add_apart(struct vprof_quantities *q, const struct vprof_results *r, const uint32_t *nodes,
			       size_t n);
int vprof_quantities_finish(struct vprof_quantities *q, size_t n_nodes); /* OK or NOMEM */
/* The means are those of other results of the same tree. */
void vprof_quantities_set_means(struct vprof_quantities *q, const struct vprof_results *r);
void vprof_quantities_release(struct vprof_quantities *q);

/* Sums over intervals of one quantity: of deviations d from its mean, and of those of the latency, dt. A quantity that
 * is absent from an interval took no time there, which is counted in closed form. */
struct vprof_quantity_sum {
	double squares, residual, n_present; /* of d, where it is present */
	double with_latency, latency;	     /* sums of d dt and of dt there */
	double noise;			     /* what the errors of estimates add to the squares */
};

/* Of one interval at a time: adds what quantities took to sums. */
struct vprof_quantity_adder {
	const struct vprof_quantities *q;
	double *value;		    /* [n] ns; NaN: absent */
	VPROF_ARRAY(uint32_t) here; /* quantities present, in the order of their first node */
};

int vprof_quantity_adder_begin(struct vprof_quantity_adder *a, const struct vprof_quantities *q); /* OK or NOMEM */
void vprof_quantity_adder_release(struct vprof_quantity_adder *a);
/* Fills value and here. */
void vprof_quantity_adder_read(struct vprof_quantity_adder *a, const struct vprof_sample *sample, size_t n);
void vprof_quantity_adder_clear(struct vprof_quantity_adder *a); /* before the next interval */
/* Adds what was read to sums[n]; latency_deviation: T less its mean. */
void vprof_quantity_adder_add(const struct vprof_quantity_adder *a, double latency_deviation,
			      struct vprof_quantity_sum *sums);
void vprof_quantities_add_noise(const struct vprof_quantities *q, const struct vprof_sample_noise *noise, size_t n,
				struct vprof_quantity_sum *sums);

/* All n intervals' sums, absent ones included. */
struct vprof_quantity_total {
	double deviation, square, with_latency, noise;
};
/* latency_residual: sum of dt over these intervals. */
struct vprof_quantity_total vprof_quantity_total(const struct vprof_quantity_sum *sum, double mean, double n,
						 double latency_residual);

/* two quantities; a == b: the variance of one */
struct vprof_quantity_pair {
	uint32_t a, b;
	double cov_ns2; /* n - 1; without the noise, so a variance may come out below 0 */
};

/* Fills cov_ns2 of pairs[n], sorted by a, then b, a <= b. Takes one pass over the intervals, with the threads and ranks
 * of the tree; the result depends on neither. OK or an error (reduce.h). */
int vprof_quantities_covariances(const struct vprof_quantities *q, struct vprof_tree *tree,
				 struct vprof_quantity_pair *pairs, size_t n);

#endif
