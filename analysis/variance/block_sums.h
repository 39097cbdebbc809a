/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over the intervals that computes sums over blocks of neighbouring intervals: all that the bootstrap needs.
 *
 * Invariants: memory depends on the number of blocks and of what is reported, never on the number of intervals or of
 * nodes that are not reported; deviations are taken from the means over all intervals, so a large offset costs no
 * digits; the errors of sampled times (noise.h) are subtracted from the products.
 */
#ifndef VPROF_BLOCK_SUMS_H
#define VPROF_BLOCK_SUMS_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"
#include "analysis/variance/variance_tree.h"
#include "analysis/variance/work.h"

#define VPROF_REPORTED_MAX 24 /* factors beyond the selected ones, contributions, types */

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
	double *whole;	     /* memory of these three */
};

#define VPROF_GRAM_SIZE(p) (((p) + 1) * ((p) + 1) + (p) + 1) /* the latency is the last column */

/* Also fills sd_ns of all variance factors of `r`. `is_slow`: [attributes->n]. Uses as many threads as filled the tree;
 * their number does not change the result (reduce.h). OK or NOMEM; to be released in both cases. */
int vprof_block_sums_take(struct vprof_block_sums *sums, struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_interval_attributes *attributes, const uint8_t *is_slow,
			  const struct vprof_work_model *model, const struct vprof_term_list *terms, size_t n_blocks);
void vprof_block_sums_release(struct vprof_block_sums *sums);

#endif
