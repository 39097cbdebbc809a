/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the steps of the crosstalk analysis are given. */
#ifndef VPROF_CROSSTALK_INPUT_H
#define VPROF_CROSSTALK_INPUT_H

#include "analysis/results/reduce.h"
#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "analysis/stats/interval_attributes.h"
#include "analysis/transactions/call_paths.h"
#include "common/plan.h"

struct vprof_crosstalk_input {
	const struct vprof_source *sources; /* whose edges are made, for those of this rank's intervals */
	size_t n_sources, n_intervals;	    /* of all sources */
	uint64_t name;			    /* hash of the interval under analysis */
	const struct vprof_plan *plan;	    /* may be NULL */
	const struct vprof_interval_attributes *attributes;
	struct vprof_call_paths *call_paths; /* of the sources */
	int is_named;			     /* they have their labels, of all intervals */
	struct vprof_team team;
};

#endif
