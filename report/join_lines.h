/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What another view of the same run says of the causes: the knots of waits, and the tiers of requests. */
#ifndef VPROF_JOIN_LINES_H
#define VPROF_JOIN_LINES_H

#include "analysis/results/results.h"
#include "report/report_parts.h"

/* What limits throughput, what of the intervals passes through it, and at which locks. */
void vprof_knot_lines(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);

/* ", at store_lock (store.c:73) 91 %": the heaviest locks of a knot. */
void vprof_knot_add_locks(const struct vprof_knot *k, struct vprof_text *t);

/* Which tier the intervals' time was spent in, and the causes that lie there. */
void vprof_tier_lines(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out);

#endif
