/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For which request a thread worked, as the program itself says: each interval that it is annotated with, and in which
 * one request was replied to, is that request's. Then calls that were made within the interval, by whichever thread,
 * were made for it.
 */
#ifndef VPROF_REQUESTS_MARKED_WORK_H
#define VPROF_REQUESTS_MARKED_WORK_H

#include "analysis/requests/exchanges/exchanges.h"

struct vprof_marked_work {
	const struct vprof_socket_history *h;
	uint32_t *visits;	/* of each interval: the exchange that is its request; VPROF_NONE: none, or several */
	uint32_t *by_thread;	/* spans of each thread, in their order */
	uint32_t *thread_first; /* [threads + 1] */
};

/* The history must be sorted. OK or NOMEM; to be released in any case. O(transfers log spans of a thread). */
int vprof_marked_work_find(struct vprof_marked_work *m, const struct vprof_socket_history *h,
			   const struct vprof_connections *c, const struct vprof_exchanges *x);
void vprof_marked_work_release(struct vprof_marked_work *m);

/* The exchange for which the thread worked at t; VPROF_NONE: it is not known. */
uint32_t vprof_marked_work_at(const struct vprof_marked_work *m, uint32_t thread, uint64_t t);

#endif
