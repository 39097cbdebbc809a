/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the person should know before trusting the results, and what to do about it. */
#ifndef VPROF_WARNINGS_H
#define VPROF_WARNINGS_H

#include "analysis/intervals.h"
#include "analysis/results.h"
#include "analysis/spine.h"
#include "analysis/traits.h"
#include "analysis/variance_tree.h"
#include "analysis/wakes.h"

struct vprof_findings { /* what the steps of an analysis noticed; members may be NULL when their step did not run */
	int is_cut;	/* some trace is */
	const struct vprof_interval_name *counts;
	const struct vprof_wake_counts *wakes;
	const struct vprof_tree *tree;
	const char *wanted; /* interval asked for, or NULL */
	uint64_t min_intervals;
	uint64_t n_warmup; /* complete intervals left out as warm-up */
	const struct vprof_traits *traits;
	const struct vprof_spine_changed *changed;
};

/* Appends warnings to r and sets r->inconclusive where the results cannot carry a conclusion. OK or NOMEM. */
int vprof_warnings_add(struct vprof_results *r, const struct vprof_findings *f, struct vprof_error *err);

#define VPROF_WARNED_BYTES 80

/* A name in a warning: those of templates may have thousands of bytes, of which the first and the last are kept. */
struct vprof_warned_name {
	char s[VPROF_WARNED_BYTES + 1];
};
struct vprof_warned_name vprof_warned_name(const char *name);

/* Appends one more. OK or NOMEM. */
__attribute__((format(printf, 2, 3))) int vprof_warning_add(struct vprof_results *r, const char *format, ...);

#endif
