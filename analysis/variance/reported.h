/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quantities of which results tell what would go if they were constant: factors, pairs of functions, functions'
 * own work together with that beneath waits, and causes. */
#ifndef VPROF_REPORTED_H
#define VPROF_REPORTED_H

#include "analysis/variance/quantities.h"

#define VPROF_REPORTED_MAX 24 /* factors beyond the selected ones, contributions, types */

#define VPROF_COSTLY_MAX 512 /* functions of which it is asked whether recording them is worth its cost */

/* A function that costs much to record: a factor of its own work or of that beneath waits, and the quantities of all it
 * could be (code_share, results.h). */
struct vprof_costly {
	uint32_t factor, quantity, n_quantities;
};

/* How many of the results' factors have bounds, if anything has. */
static inline size_t vprof_reported_count(const struct vprof_results *r)
{
	size_t n = r->n_selected > VPROF_REPORTED_MAX ? r->n_selected : VPROF_REPORTED_MAX;

	return r->n_factors < n ? r->n_factors : n;
}

/* Indices are those of quantities; VPROF_NONE: there is none. */
struct vprof_reported {
	struct vprof_quantities quantities; /* finished; those of the first n_factors factors come first */
	size_t n_factors;		    /* vprof_reported_count() */
	size_t n_bounded;  /* the first ones, which have bounds: of these factors, of causes, and of costly functions */
	uint32_t interval; /* the latency itself */
	uint32_t *of_factor; /* [results' n_factors] all variances and the first covariances, both members of these */
	uint32_t *together;  /* [results' n_factors] with its counterpart */
	uint32_t *of_cause;  /* [results' n_causes] */
	struct vprof_costly *costly; /* [n_costly] functions with most records */
	size_t n_costly;
};

/* OK or NOMEM; to be released in both cases. */
int vprof_reported_take(struct vprof_reported *of, const struct vprof_results *r);
void vprof_reported_release(struct vprof_reported *of);

#endif
