/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every view begins and ends with. Internal to report/. */
#ifndef VPROF_REPORT_PARTS_H
#define VPROF_REPORT_PARTS_H

#include "report/factor_lines.h"
#include "report/report.h"

/* CORRUPT when the results are not consistent in themselves; after it everything may index them freely. */
int vprof_report_check(const struct vprof_results *r, struct vprof_error *err);

struct vprof_style vprof_report_style(const struct vprof_report_options *o);

/* A label in the first column and text beside it, wrapped. */
void vprof_report_labelled(const struct vprof_style *style, const char *label, const char *text,
			   struct vprof_text *out);

/* The same of a text that was made for it, which is empty afterwards. Its failure shows in out. */
void vprof_report_labelled_text(const struct vprof_style *style, const char *label, struct vprof_text *text,
				struct vprof_text *out);

void vprof_report_headline(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);
void vprof_report_coverage(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);
/* Warnings [from, to). */
void vprof_report_warnings(const struct vprof_style *style, const struct vprof_results *r, size_t from, size_t to,
			   struct vprof_text *out);

/* A warning where recording slowed the intervals by VPROF_EFFECT_TOLD or more. */
void vprof_report_effect(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);
/* What the drill-down left out of the plan, with the bound of each. */
void vprof_report_closed(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);
/* What the probes cost: estimated, and measured where the session has a run without them. */
void vprof_report_cost(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);

#endif
