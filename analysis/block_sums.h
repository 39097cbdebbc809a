/* One pass over the intervals that leaves behind sums over blocks of neighbouring intervals: all that the bootstrap needs.
 *
 * Invariants: memory depends on the number of blocks and of what is reported, never on the number of intervals or of nodes
 * that are not reported; deviations are taken from the means over all intervals, so a large offset costs no digits; the
 * errors of sampled times (noise.h) are taken out of the products.
 */
#ifndef VPROF_BLOCK_SUMS_H
#define VPROF_BLOCK_SUMS_H

#include "analysis/results.h"
#include "analysis/traits.h"
#include "analysis/variance_tree.h"
#include "analysis/work.h"

#define VPROF_REPORTED_MAX 24 /* factors beyond the selected ones, contributions, types */

struct vprof_factor_term { /* a == b: variance of a node; else covariance of two siblings a < b, counted twice */
	uint32_t factor;   /* index into the results' factors */
	uint32_t a, b;	   /* nodes */
};

struct vprof_term_list {
	VPROF_ARRAY(struct vprof_factor_term) terms;
};

struct vprof_sum_term { /* of a resampled factor */
	uint32_t factor, slot_a, slot_b;
	double times; /* 1, or 2 for a covariance */
};

struct vprof_block_sums {
	size_t n_blocks;
	double *count; /* [n_blocks] intervals */

	size_t n_factors; /* the results' first n_factors are resampled */
	size_t n_slots;	  /* nodes whose deviations matter; slot 0 is the interval */
	double *deviation; /* [n_blocks * n_slots] sums */
	double *square;	   /* [n_blocks] of the interval's deviation, sums */
	double *product;   /* [n_blocks * n_factors] sums over the factor's terms of (a - mean a)(b - mean b) times `times` */
	VPROF_ARRAY(struct vprof_sum_term) terms;
	double *fixed; /* [n_factors] shares of small terms of very large factors, which are not resampled */

	size_t n_groups;     /* contributions */
	uint32_t *group;     /* [n_groups] index into the results' contributions */
	double *spent;	     /* [n_blocks * n_groups] */
	double *spent_slow;  /* [n_blocks * n_groups] by the slowest intervals */
	double *slow;	     /* [n_blocks] number of these */

	size_t n_types;	    /* the last one holds all that are not reported */
	double *type_count; /* [n_blocks * n_types] */
	double *type_deviation; /* [n_blocks * n_types] of the latency */
	double *type_factor;	/* [n_types * n_factors] sums of a variance factor's time */
	double *type_n;		/* [n_types] */

	size_t n_columns;  /* of the work model */
	double *gram;	   /* [n_blocks * gram_size] products of columns and latency with one another, then their sums */
	double *factor_work; /* [n_factors * n_columns] products of a variance factor's deviation with the columns */
};

#define VPROF_GRAM_SIZE(p) (((p) + 1) * ((p) + 1) + (p) + 1) /* the latency is the last column */

/* Also fills sd_ns of all variance factors of `r`. `is_slow`: [traits->n]. OK or NOMEM; to be released in both cases. */
int vprof_block_sums_take(struct vprof_block_sums *sums, struct vprof_results *r, struct vprof_tree *tree,
			  const struct vprof_traits *traits, const uint8_t *is_slow, const struct vprof_work_model *model,
			  const struct vprof_term_list *terms, size_t n_blocks);
void vprof_block_sums_release(struct vprof_block_sums *sums);

#endif
