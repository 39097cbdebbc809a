/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latency of the complete intervals: distribution, and how much of the variance lies between types. */
#ifndef VPROF_LATENCY_H
#define VPROF_LATENCY_H

#include "analysis/results/results.h"
#include "analysis/stats/interval_attributes.h"

/* Fills min, max, percentiles and types of `r`; mean, standard deviation and variance too. Variances n - 1; percentiles
 * interpolate linearly between order statistics. From here on attributes->type is an index into r->types. OK or NOMEM.
 * O(n). */
int vprof_latency_fill(struct vprof_results *r, struct vprof_interval_attributes *attributes, struct vprof_error *err);

#endif
