/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The path of each request through threads, processes and hosts (Tak et al., vPath: Precise Discovery of Request
 * Processing Paths from Black-Box Observations of Thread and Network Activities, USENIX ATC 2009). The entry to the
 * room analysis/requests; docs/design/paths.md explains it.
 *
 *   history/         the input: who sent and received how much, over which connection, when
 *   connections.h    sockets that are the two ends of one connection
 *   exchanges/       messages, normalised, as requests and their replies, paired between both ends
 *   causality.h      which request each call was made for
 *   wake_places.h    ... where its threads wake one another to hand requests over, and where they do not
 *   marked_work.h    ... where the program itself says for which request its threads work
 *   agreement.h      ... how far the threads of a program keep to what that is concluded from
 *   turns.h          ... what event loops receive, and send because of that
 *   batches.h        ... calls of event loops, matched with what these received
 *   request_trees.h  requests as trees of visits
 *   host_clocks.h    how far the hosts' clocks are from one another
 *   tiers.h          which program, at which address, a visit is to
 *   tier_times.h     whose time a request's is
 *   path_patterns.h  requests that visit the same tiers in the same order
 *   described/       all of it as results
 */
#ifndef VPROF_REQUESTS_H
#define VPROF_REQUESTS_H

#include "analysis/requests/socket_clocks.h"
#include "analysis/requests/request_trees.h"

struct vprof_requests {
	const struct vprof_socket_history *history; /* the caller's */
	struct vprof_connections connections;
	struct vprof_exchanges exchanges;
	struct vprof_causality causality;
	struct vprof_request_trees trees;
	struct vprof_host_clocks clocks;
};

/* Checks the history, sorts it (so it changes), and finds the requests. INPUT when it is inconsistent, NOMEM; to be
 * released in any case, before the history. */
int vprof_requests_find(struct vprof_requests *r, struct vprof_socket_history *h, struct vprof_error *err);
void vprof_requests_release(struct vprof_requests *r);

#endif
