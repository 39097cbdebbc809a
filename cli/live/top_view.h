/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `vprof top` shows: a live session's state, and the causes of its last look. Lines of at most `width` columns. */
#ifndef VPROF_TOP_VIEW_H
#define VPROF_TOP_VIEW_H

#include "analysis/results/results.h"
#include "cli/live/live_status.h"
#include "common/text.h"

struct vprof_top { /* one moment */
	struct vprof_live_status status;
	struct vprof_results *results; /* NULL: nothing was looked at yet */
	int is_of_before;	       /* they are of another plan than the one that is open */
	double if_constant_before[16]; /* of the causes by place, at the look before; NaN: unknown */
};

/* MISSING when no live session records. `before` may be NULL: trends are unknown then. Where nothing was looked at yet
 * since the plan changed, the results of `before` are taken over. */
int vprof_top_read(struct vprof_top *top, const char *vprof_dir, struct vprof_top *before, struct vprof_error *err);
void vprof_top_release(struct vprof_top *top);

/* What is listed: causes, or functions, the open ones first. */
enum vprof_top_list { VPROF_TOP_CAUSES, VPROF_TOP_FUNCTIONS };

struct vprof_top_layout {
	size_t width, rows; /* columns of all, rows of the list */
	enum vprof_top_list list;
	size_t first; /* row of the list that comes first */
	long chosen;  /* row that is marked; negative: none */
};

size_t vprof_top_n_rows(const struct vprof_top *top, enum vprof_top_list list);
/* Of a row: the cause's key, or the function's display name. NULL: there is no such row. */
const char *vprof_top_row(const struct vprof_top *top, enum vprof_top_list list, size_t row);
int vprof_top_row_is_closed(const struct vprof_top *top, size_t row); /* of the functions */

/* Adds the text: lines of at most width columns. */
void vprof_top_text(const struct vprof_top *top, const struct vprof_top_layout *layout, struct vprof_text *out);
struct cJSON *vprof_top_json(const struct vprof_top *top); /* NULL without memory */

#endif
