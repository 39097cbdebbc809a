/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The requests found, as results.
 *
 * This is the entry to the room analysis/requests/described. latency_figures.h has the latencies of tiers and patterns,
 * list_requests.h the requests one by one, unusual_connections.h what was unusual about connections.
 */
#ifndef VPROF_REQUESTS_DESCRIBE_H
#define VPROF_REQUESTS_DESCRIBE_H

#include "analysis/requests/requests.h"
#include "analysis/results/requests_results.h"

#define VPROF_REQUESTS_PATTERNS_TOLD 100
#define VPROF_REQUESTS_TAIL_MIN 200 /* requests, from which on the slowest 1 % are looked at */

/* NOMEM. With lists_requests each request is told, too. What the input knows (events, hosts, what is missing) is left
 * to the caller. */
int vprof_requests_describe(struct vprof_requests_results *to, const struct vprof_requests *found, int lists_requests,
			    struct vprof_error *err);

#endif
