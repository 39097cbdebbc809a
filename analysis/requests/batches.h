/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of threads that work for several requests at once, such as event loops: matched by what such a thread receives
 * and sends in turn.
 *
 * Of each of its turns (turns.h) each message received is the reason of one that is sent, and the requests that they
 * are for are the same ones; which goes with which is not known at first. But to whom a reply is sent is known, and a
 * call is sent in one turn and its reply received in another: so candidates are struck out until mostly one is left.
 *
 * Where several are left, the lengths of the messages decide, if those of known calls show that they tell
 * (message_lengths.h); then the order decides, if the program mostly makes calls in the order in which it received
 * their requests, or replies in the order in which the replies to its calls came, as those that are known show. The two
 * fail for different reasons: a call may wait for a connection that is made first, or a request for the setting up of
 * its session, which replies do not.
 */
#ifndef VPROF_REQUESTS_BATCHES_H
#define VPROF_REQUESTS_BATCHES_H

#include "analysis/requests/agreement.h"

#define VPROF_CANDIDATES_UNKNOWN 255 /* any visit */

struct vprof_candidates { /* visits that a call may be for */
	uint32_t first;	  /* in `visits` */
	uint8_t n_first;  /* as many as there were at first: those that were struck out come after the others */
	uint8_t n;	  /* VPROF_CANDIDATES_UNKNOWN; 0: all were struck out, or its thread is no such thread */
};

enum vprof_order {
	VPROF_ORDER_CALLS,   /* calls are sent in the order in which their requests were received */
	VPROF_ORDER_REPLIES, /* replies are sent in the order in which the replies to their calls were received */
	VPROF_ORDERS
};

struct vprof_batches {
	struct vprof_candidates *of; /* of each exchange */
	VPROF_ARRAY(uint32_t) visits;
	uint32_t *by_order[VPROF_ORDERS]; /* of each exchange that has several candidates left: the one that each order
					     names; VPROF_NONE */
	unsigned char *is_doubtful; /* of each exchange: a call of one of its turns is contradicted, so that one of
				       them was understood wrongly; it is not known which */
	unsigned char *by_length;   /* of each exchange: that one candidate is left is by the lengths of messages */
	uint64_t *n_fits,
		*n_fits_right; /* by program: known calls of which lengths tell the request; and tell it right */
	/* by order and program: known calls that were together in a turn; those that were at their place in it */
	uint64_t *n_ordered[VPROF_ORDERS], *n_in_order[VPROF_ORDERS];
	uint64_t *n_tests, *n_agree; /* by program: replies that might have contradicted what was known; that did not */
};

/* The history must be sorted, and the agreement know which threads are synchronous. OK or NOMEM; to be released in any
 * case. O(transfers), times the length of chains of candidates. */
int vprof_batches_match(struct vprof_batches *b, const struct vprof_socket_history *h,
			const struct vprof_connections *connections, const struct vprof_exchanges *x,
			const struct vprof_agreement *a);
void vprof_batches_release(struct vprof_batches *b);

/* Of links of a thread's program that stand on turns, 0 to 1; 0 where nothing tested them. */
double vprof_batches_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread);
/* Of those that stand on lengths, too. */
double vprof_batches_length_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread);
/* The visit that orders name for a call of which several candidates are left, and how sure that is; VPROF_NONE. */
uint32_t vprof_batches_by_order(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread,
				uint32_t call, double *confidence);

#endif
