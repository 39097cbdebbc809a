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
	double if_constant_before[16]; /* of the causes by place, at the look before; NaN: unknown */
};

/* MISSING when no live session records. `before` may be NULL: trends are unknown then. */
int vprof_top_read(struct vprof_top *top, const char *vprof_dir, const struct vprof_top *before,
		   struct vprof_error *err);
void vprof_top_release(struct vprof_top *top);

/* Adds the text; `rows` causes at most. */
void vprof_top_text(const struct vprof_top *top, size_t width, size_t rows, struct vprof_text *out);
struct cJSON *vprof_top_json(const struct vprof_top *top); /* NULL without memory */

#endif
