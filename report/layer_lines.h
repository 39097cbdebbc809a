/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was inferred beneath measured calls, as text. Internal to report/. */
#ifndef VPROF_LAYER_LINES_H
#define VPROF_LAYER_LINES_H

#include "analysis/results/results.h"
#include "report/factor_lines.h"

/* Each measured call that the stacks open, with the contexts beneath it that take most. Nothing where there are none.
 */
void vprof_layer_lines(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);

/* The contexts beneath one measured call, at most so many lines: those that may have a tenth of its time, too. */
void vprof_layer_tree(const struct vprof_style *style, const struct vprof_results *r, size_t call, size_t most,
		      struct vprof_text *out);

#endif
