/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranked table of a report: two lines for each factor. Internal to report/. */
#ifndef VPROF_FACTOR_LINES_H
#define VPROF_FACTOR_LINES_H

#include "analysis/results/results.h"
#include "common/text.h"
#include "report/report.h"

struct vprof_style {
	int colour;
	size_t width;
};

enum vprof_ink { VPROF_INK_PLAIN, VPROF_INK_BOLD, VPROF_INK_DIM, VPROF_INK_BAD };

/* Escape sequence of an ink, "" without colour. */
const char *vprof_ink(const struct vprof_style *style, enum vprof_ink ink);

void vprof_factor_heading(const struct vprof_style *style, struct vprof_text *out);
/* `rank` counts from 1; `chosen`: up for a decision, printed bold. The results have been checked. */
void vprof_factor_lines(const struct vprof_style *style, const struct vprof_results *r, size_t rank, int chosen,
			struct vprof_text *out);

#endif
