/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns: what a thread that works for several requests at once receives, and what it sends because of that.
 *
 * An event loop receives what is there, then sends what follows from it. Both together are a turn, once replies that
 * were sent to requests received in it are left out, and what was received and led to nothing waits for a later one.
 * Where a loop receives on while it works, so that this does not add up, the turns count as one.
 *
 * A connection that is asked for without waiting counts as its first call, since that is what its reason led to; it is
 * used later, when the thread has received other things.
 */
#ifndef VPROF_REQUESTS_TURNS_H
#define VPROF_REQUESTS_TURNS_H

#include "analysis/requests/agreement.h"

#define VPROF_TURN_MOST 64 /* received, or sent: longer ones tell nothing */

struct vprof_turn_message {
	uint32_t exchange;
	uint32_t nth;	 /* of its thread: what was received later than something was sent is not its reason */
	uint8_t is_call; /* of the thread's: which visit it is for is to be found; else the exchange is the visit */
};

struct vprof_turn {
	uint32_t thread, first; /* first: of its messages, those received before those sent */
	uint8_t n_received, n_sent;
	uint8_t is_joined; /* some was received after some was sent */
	uint8_t is_part;   /* other things that were received led to nothing yet, or so it is thought */
	uint32_t ended_by; /* transfer; their number: the end of the recording */
};

struct vprof_turns {
	VPROF_ARRAY(struct vprof_turn) v;
	VPROF_ARRAY(struct vprof_turn_message) messages;
};

/* The turns whose reasons are known, of threads that are not synchronous. joins[transfers + 1]: the turn that it ended
 * is not to be taken for one of which other things received led to nothing, but to be joined with those after it.
 * at_end[exchanges]: see vprof_reply_ends_find(). The history must be sorted. OK or NOMEM; to be released in any case.
 * O(transfers). */
int vprof_turns_find(struct vprof_turns *turns, const struct vprof_socket_history *h,
		     const struct vprof_connections *connections, const struct vprof_exchanges *x,
		     const struct vprof_agreement *a, const unsigned char *joins, const unsigned char *at_end);
void vprof_turns_release(struct vprof_turns *turns);

#endif
