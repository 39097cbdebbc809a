/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the probes themselves add to the times: estimated from the number of calls, and measured against the run without
 * them.
 *
 * A recorded call takes record_ns, of which record_inside_ns lie within its own time and the rest within its caller's.
 * So a node's time holds, for each interval,
 *
 *     calls x record_inside_ns + (calls of all nodes beneath) x record_ns.
 *
 * A call of a hot function that is counted and not timed takes a fourth of record_ns from its caller. The hot
 * function's own time is that of chosen calls, each standing for others with its records, and holds the above for all
 * of its calls.
 *
 * That is the most it can be: where a CPU waits for the target's own instructions, it runs the probe's meanwhile.
 *
 * When that is a part q of a factor's mean above VPROF_PROBE_SHARE_SHOWN, a lower bound of its share without it is
 * given as well. The factor's times shrink by 1 - q, and if its calls vary as they do, which is the worst case, its
 * variance by r = (1 - q)^2; the interval's by as much:
 *
 *     share_unprobed = share r / (1 - share (1 - r)), at most share.
 */
#ifndef VPROF_PROBE_COST_H
#define VPROF_PROBE_COST_H

#include "analysis/results/results.h"

#define VPROF_PROBE_SHARE_SHOWN 0.05
#define VPROF_RECORD_NS 18.0 /* where the trace does not tell: docs/performance.md */
#define VPROF_RECORD_INSIDE_NS 9.0

/* Fills record_ns, record_inside_ns, probe_ns and share_unprobed. 0: the trace does not tell what a record takes. */
void vprof_probe_cost_fill(struct vprof_results *r, double record_ns, double record_inside_ns);

/* Takes the annotated-only run's mean with its 95 % bounds into `r`, NaN where there is none, and warns when this run
 * was slower than that run by more than its records can account for. OK or NOMEM. */
int vprof_probe_cost_compare(struct vprof_results *r, double mean_ns, double low, double high);

#endif
