/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests as trees of visits: each exchange that enters the recorded programs from outside, or from a program that
 * serves nobody, is a request; below it are the calls made for it, and below these what the called made (vPath, the two
 * loops of algorithm 1).
 */
#ifndef VPROF_REQUESTS_TREES_H
#define VPROF_REQUESTS_TREES_H

#include "analysis/requests/causality.h"
#include "analysis/results/requests_results.h"

struct vprof_request {
	uint32_t root;		      /* exchange */
	uint32_t first_node, n_nodes; /* in `nodes`, the root first */
	uint64_t from, to;	      /* at the client's end if that was recorded, else at the server's */
	float confidence;	      /* that all its links are right: their product */
	uint8_t state;		      /* enum vprof_request_state */
	uint8_t is_whole; /* no bytes are missing, and each call was replied to, but for last messages of connections */
};

struct vprof_request_trees {
	VPROF_ARRAY(struct vprof_request) requests; /* by the time at which they begin */
	VPROF_ARRAY(uint32_t) nodes;		    /* exchanges of each request: parents before their calls */
	VPROF_ARRAY(uint32_t)
	first_call, calls;   /* calls of exchange x: calls[first_call[x] .. first_call[x + 1]), by time */
	uint64_t n_cut;	     /* requests without a reply: the recording ended before, or nobody replies to them */
	uint64_t n_detached; /* visits by ambiguous calls: it is not known to which request they belong */
	uint64_t n_outside;  /* calls by servers while they served no request */
	uint64_t n_circular; /* links that were dropped since they led back to themselves */
};

/* Calls without parent are dropped from `c` where links form a circle. OK or NOMEM; to be released in any case.
 * O(exchanges log exchanges). */
int vprof_request_trees_build(struct vprof_request_trees *t, const struct vprof_exchanges *x,
			      const struct vprof_socket_history *h, struct vprof_causality *c);
void vprof_request_trees_release(struct vprof_request_trees *t);

/* How long an end saw an exchange last, 0 where it was not recorded or there is no reply. */
static inline uint64_t vprof_exchange_ns(const struct vprof_exchange_end *e)
{
	return e->request_thread != VPROF_NONE && e->reply_thread != VPROF_NONE && e->reply_to > e->request_from ?
		       e->reply_to - e->request_from :
		       0;
}

#endif
