/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long each device was idle, and for whose requests it waited meanwhile (wPerf, sections 3.3 and 4.1). */
#ifndef VPROF_WAITS_DEVICES_H
#define VPROF_WAITS_DEVICES_H

#include "analysis/waits/history/history.h"

#define VPROF_WAITS_SECTOR 512 /* bytes: as which a request without data (a flush) counts */

struct vprof_waits_idle {
	uint32_t device, thread; /* entities; thread VPROF_NONE: all of the device's idle time */
	uint64_t ns;		 /* the thread's share of the device's idle time */
	uint64_t n_requests;
};

typedef VPROF_ARRAY(struct vprof_waits_idle) vprof_waits_idles;

/* A disk is idle while it has no request in flight; a network interface of known speed while nothing is left to send.
 * The idle time of a device is shared among the threads of the graph (is_kept, by entity) that gave it requests, by
 * bytes, in whole ns, rounded down: it waits for them, not for what else the machine does. Appends to `out`, by device:
 * all its idle time, then the threads' shares. OK or NOMEM. O(n log n). */
int vprof_waits_idle(vprof_waits_idles *out, const struct vprof_waits_history *history, const unsigned char *is_kept);

#endif
