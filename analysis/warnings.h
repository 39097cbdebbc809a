/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the person should know before trusting the results, and what to do about it. */
#ifndef VPROF_WARNINGS_H
#define VPROF_WARNINGS_H

#include "analysis/timeline/intervals.h"
#include "analysis/results/results.h"
#include "analysis/results/warning_list.h"
#include "analysis/common_frames.h"
#include "analysis/stats/interval_attributes.h"
#include "analysis/variance/variance_tree.h"
#include "analysis/timeline/edges/wakes.h"

/* what the steps of an analysis noticed; members may be NULL when their step did not run */
struct vprof_findings {
	int is_cut; /* some trace is */
	const struct vprof_interval_name *counts;
	const struct vprof_wake_counts *wakes;
	const struct vprof_tree *tree;
	const char *wanted; /* interval asked for, or NULL */
	uint64_t min_intervals;
	uint64_t n_warmup;	/* complete intervals left out as warm-up */
	uint64_t n_kernel_lost; /* events of the kernel, which the knots are made of */
	const struct vprof_interval_attributes *attributes;
	const struct vprof_changed_modules *changed;
};

/* Appends warnings to r and sets r->inconclusive where the results cannot carry a conclusion. OK or NOMEM. */
int vprof_warnings_add(struct vprof_results *r, const struct vprof_findings *f, struct vprof_error *err);

#endif
