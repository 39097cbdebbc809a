/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which request a call was made for: causality within a process (vPath, section 3.3, the first loop of algorithm 1).
 *
 * Two observations speak for a request. Forward: what the calling thread received last, the request itself or the reply
 * to an earlier call for it; or who woke or made the thread, working for the request. Backward: to which request the
 * thread sends its next reply, which is the paper's rule; or, if it passes its request on to another thread, to which
 * one that replies. Every reply tells for which request its thread worked, so it shows how often each observation is
 * right in a program: that is the confidence of links which stand on one alone.
 *
 * Of threads that work for several requests at once, such as event loops, the next reply tells nothing. Their calls are
 * matched with what they received and sent in turn (batches.h), wherever replies have tested that.
 *
 * A link that is not decided this way is ambiguous, and belongs to no request; the requests that it may belong to are
 * marked.
 */
#ifndef VPROF_REQUESTS_CAUSALITY_H
#define VPROF_REQUESTS_CAUSALITY_H

#include "analysis/requests/exchanges/exchanges.h"
#include "analysis/requests/links.h"

struct vprof_causality {
	VPROF_ARRAY(struct vprof_link) links; /* of each exchange */
	uint64_t n_by_how[VPROF_LINK_HOWS];
};

/* The history must be sorted. OK or NOMEM; to be released in any case. O(transfers + wakes + open requests for each
 * ambiguous call). */
int vprof_causality_find(struct vprof_causality *c, const struct vprof_socket_history *h,
			 const struct vprof_connections *connections, const struct vprof_exchanges *x);
void vprof_causality_release(struct vprof_causality *c);

#endif
