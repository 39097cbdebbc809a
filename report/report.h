/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as text for people. (Results as JSON are runs/NNNN/results.json itself, written by analysis/.)
 *
 * The text is at most `width` columns wide, whatever the names in the results hold: names are cut by code points,
 * never inside one, and control characters never reach the terminal.
 */
#ifndef VPROF_REPORT_H
#define VPROF_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/results/results.h"
#include "common/error.h"
#include "common/text.h"

struct vprof_report_options {
	int colour;  /* write terminal escapes */
	int width;   /* columns; 0: 100; at least 80 */
	size_t top;  /* causes, and ranked factors, to show; 0: 10; the chosen ones are always shown */
	int factors; /* the ranked factors of Algorithm 1 as well; without causes they are always shown */
	/* indices into results->factors that are up for a decision; NULL: the first n_selected */
	const uint32_t *chosen;
	size_t n_chosen;
	const char *ending; /* why the drill-down is over, told below the coverage; NULL or "": nothing */
};

/* Appends the report. INPUT when the results are not consistent in themselves (an index out of range). */
int vprof_report_text(const struct vprof_results *r, const struct vprof_report_options *o, struct vprof_text *out,
		      struct vprof_error *err);

/* Appends the lines of one cause; `rank` counts from 1. Errors of vprof_report_text. */
int vprof_report_cause(const struct vprof_results *r, size_t rank, const struct vprof_report_options *o,
		       struct vprof_text *out, struct vprof_error *err);

/* Appends what the cause is, in one sentence without an end: "requests wait for store_lock (store.c:69), held by
 * compactor_main > save_snapshot". The results have been read or checked. */
void vprof_report_cause_sentence(const struct vprof_results *r, const struct vprof_cause *c, struct vprof_text *out);

/* Appends the two lines of one factor in the ranked table; `rank` counts from 1. Errors of vprof_report_text. */
int vprof_report_factor(const struct vprof_results *r, size_t rank, const struct vprof_report_options *o,
			struct vprof_text *out, struct vprof_error *err);

enum vprof_view {
	VPROF_VIEW_VARIANCE, /* the causes: vprof_report_text */
	VPROF_VIEW_TAIL,     /* why the slowest intervals take longer than the others */
	VPROF_VIEW_MEAN,     /* where the mean latency is spent */
	VPROF_VIEW_TYPES,    /* variance between and within types */
	VPROF_VIEW_WORK,     /* what the amount of work explains */
	VPROF_VIEW_COUNT
};

extern const char *const vprof_view_names[VPROF_VIEW_COUNT];

/* Appends a view of the results, with the coverage and the warnings; errors of vprof_report_text. */
int vprof_report_view(const struct vprof_results *r, enum vprof_view view, const struct vprof_report_options *o,
		      struct vprof_text *out, struct vprof_error *err);

/* Why these results say nothing in this view, and what to do; heap text, "" when they do. NULL without memory. */
char *vprof_view_lacks(const struct vprof_results *r, enum vprof_view view);

/* The node where a factor weighs most; of a pair, its first sibling there. NULL: it has none. */
const struct vprof_node *vprof_factor_node(const struct vprof_results *r, const struct vprof_factor *f);

/* The path from the interval to the factor's (heaviest) place, "call > flushAppendOnlyFile", cut in its middle to
 * `columns`; the same words as in the ranked table. */
void vprof_report_place(const struct vprof_results *r, const struct vprof_factor *f, int columns,
			struct vprof_text *out);

#endif
