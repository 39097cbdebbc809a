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

#include "analysis/requests/exchanges.h"

/* RECEIVED to KEPT are in the order of enum vprof_forward. */
enum vprof_link_how {
	VPROF_LINK_NONE,      /* it is no call: its client was not recorded, or it has no request */
	VPROF_LINK_ORIGIN,    /* a call by a program that serves nobody: a request begins here */
	VPROF_LINK_OUTSIDE,   /* a server's call while it served no request */
	VPROF_LINK_THREAD,    /* forward and backward agree */
	VPROF_LINK_REPLY,     /* backward alone */
	VPROF_LINK_RECEIVED,  /* forward alone: by what its thread received last */
	VPROF_LINK_WOKEN,     /* forward alone: by who woke its thread */
	VPROF_LINK_CREATED,   /* forward alone: by who made its thread */
	VPROF_LINK_QUEUED,    /* forward alone: by what its thread took from a queue that the program names */
	VPROF_LINK_KEPT,      /* forward alone, although the thread had woken another one since */
	VPROF_LINK_HANDED,    /* by what became of the request: its thread passed it on to one that replied to it */
	VPROF_LINK_MARKED,    /* the program says for which request its thread worked */
	VPROF_LINK_MATCHED,   /* by what its thread received and sent in turn (batches.h) */
	VPROF_LINK_LENGTH,    /* ... and by the lengths of the messages (message_lengths.h) */
	VPROF_LINK_ORDER,     /* ... and since it makes calls in the order of requests */
	VPROF_LINK_ONLY,      /* its process served no other request at that time */
	VPROF_LINK_AMBIGUOUS, /* none of these, or they contradict each other */
	VPROF_LINK_HOWS
};

struct vprof_link {
	uint32_t parent;    /* exchange that is the visit for which the call was made; VPROF_NONE: none, or not known */
	uint32_t n_open;    /* requests that the process served then */
	uint8_t how;	    /* enum vprof_link_how */
	uint8_t is_tainted; /* as a visit: calls that may have been made for it are ambiguous */
	float confidence;   /* that `parent` is right */
	float completeness; /* as a visit: that no call was made for it which is linked to another, at a lower
			       confidence than certainty */
};

#define VPROF_LINK_MIN_CONFIDENCE 0.8f /* below, a link is ambiguous */
#define VPROF_LINK_CERTAIN 0.99f       /* from here on, it is called certain */

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
