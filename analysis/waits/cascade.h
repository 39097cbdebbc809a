/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cascaded redistribution (wPerf, OSDI 2018, sections 3.2.2 and 4.2, Figure 4).
 *
 * The paper's function, for a wait w of thread A that thread B ended:
 *
 *	cascade(w):	add w's length to the edge A -> B
 *			for each wait of B, cut to w's time: cascade(it)
 *
 * called once for every wait. Computed literally that takes as long as waits are nested, all over again for each of
 * them. Here it takes one sweep over time: at any moment each blocked thread waits for one other, so the blocked
 * threads form a forest, and the paper's recursion counts a moment of a thread's wait once for itself and once for
 * every thread below it. So the weight of an edge is the integral of the size of the waiting thread's subtree.
 * docs/design/waits.md proves it. O(waits x depth of the forest).
 */
#ifndef VPROF_WAITS_CASCADE_H
#define VPROF_WAITS_CASCADE_H

#include "analysis/waits/reasons.h"

/* Waits without a known waker are no reasons. The history must have passed its check; segments' `reason` is set. The
 * result does not depend on n_threads (0: one for each CPU). OK or NOMEM. */
int vprof_waits_cascade(struct vprof_waits_reasons *out, struct vprof_waits_history *history, int n_threads,
			struct vprof_error *err);

#endif
