/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over the intervals that computes sums over blocks of neighbouring intervals: all that the bootstrap needs.
 *
 * Invariants: memory depends on the number of blocks and of what is reported, never on the number of intervals or of
 * nodes that are not reported; deviations are taken from the means over all intervals, so a large offset costs no
 * digits; the errors of sampled times (noise.h) are subtracted from the products.
 *
 * Equation 4's share of a factor sums the terms of its nodes one by one; everything else that is summed over nodes is a
 * quantity (quantities.h).
 */
#ifndef VPROF_BLOCK_SUMS_H
#define VPROF_BLOCK_SUMS_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"
#include "analysis/stats/run_blocks.h"
#include "analysis/variance/reported.h"
#include "analysis/variance/variance_tree.h"
#include "analysis/stats/work.h"

/* a == b: variance of a node; else covariance of two siblings a < b, counted twice */
struct vprof_factor_term {
	uint32_t factor; /* index into the results' factors */
	uint32_t a, b;	 /* nodes */
};

struct vprof_term_list {
	VPROF_ARRAY(struct vprof_factor_term) terms;
};

/* of a resampled factor */
struct vprof_sum_term {
	uint32_t factor, slot_a, slot_b;
	double times; /* 1, or 2 for a covariance */
};

struct vprof_block_sums {
	size_t n_blocks;
	size_t width;	  /* of a row */
	double *rows;	  /* [n_blocks * width] sums over the block's intervals; at_*: their places in a row */
	size_t at_count;  /* intervals */
	size_t at_square; /* of the interval's deviation */
	size_t at_slow;	  /* number of the slowest intervals */

	size_t n_factors;    /* the results' first n_factors are resampled */
	size_t n_slots;	     /* nodes whose deviations matter; slot 0 is the interval */
	size_t at_deviation; /* [n_slots] */
	size_t at_product;   /* [n_factors] over the factor's terms of (a - mean a)(b - mean b) times `times` */
	VPROF_ARRAY(struct vprof_sum_term) terms;
	double *fixed; /* [n_factors] shares of small terms of very large factors, which are not resampled */

	struct vprof_reported reported;	   /* quantities, of which the first n_bounded are resampled */
	size_t at_quantity;		   /* [n_bounded] struct vprof_quantity_total */
	struct vprof_quantity_sum *totals; /* [quantities.n] over all intervals, in `whole` */
	double latency_residual;	   /* sum of the latency's deviations over all intervals */

	size_t n_groups;      /* contributions */
	uint32_t *group;      /* [n_groups] index into the results' contributions */
	size_t at_spent;      /* [n_groups] */
	size_t at_spent_slow; /* [n_groups] by the slowest intervals */

	size_t n_types;		  /* the last one stands for all that are not reported */
	size_t at_type_count;	  /* [n_types] */
	size_t at_type_deviation; /* [n_types] of the latency */

	size_t n_columns; /* of the work model */
	size_t at_gram;	  /* [gram_size] products of columns and latency with one another, then their sums */

	/* Over all intervals. */
	double *type_factor; /* [n_types * n_factors] sums of a variance factor's time */
	double *type_n;	     /* [n_types] */
	double *factor_work; /* [n_factors * n_columns] products of a variance factor's deviation with the columns */
	double *whole;	     /* memory of these and of totals */
};

#define VPROF_GRAM_SIZE(p) (((p) + 1) * ((p) + 1) + (p) + 1) /* the latency is the last column */

/* `is_slow`: [attributes->n]. Uses as many threads as filled the tree; their number does not change the result
 * (reduce.h). OK or NOMEM; to be released in both cases. */
int vprof_block_sums_take(struct vprof_block_sums *sums, struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_interval_attributes *attributes, const uint8_t *is_slow,
			  const struct vprof_work_model *model, const struct vprof_term_list *terms,
			  const struct vprof_run_blocks *blocks);

/* A quantity's share of the variance and what would go if it were constant; its standard deviation (not below 0). */
struct vprof_quantity_figures {
	double share, if_constant, sd_ns;
};
/* Of these sums over n intervals; latency_deviation, latency_square: of the latency. NaN without variance. */
struct vprof_quantity_figures vprof_quantity_figures(const struct vprof_quantity_total *t, double n,
						     double latency_deviation, double latency_square);

void vprof_block_sums_release(struct vprof_block_sums *sums);

#endif
