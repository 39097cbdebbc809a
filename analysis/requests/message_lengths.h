/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which call was made for which request, by the lengths of their messages: a program that passes requests on makes of
 * one of some length mostly a call of the same other length, and likewise of replies. What is known of other calls
 * shows which lengths go together; contents are not looked at.
 *
 * Lengths that tell nothing, since all messages are alike or each is of a length of its own, decide nothing.
 */
#ifndef VPROF_REQUESTS_MESSAGE_LENGTHS_H
#define VPROF_REQUESTS_MESSAGE_LENGTHS_H

#include "analysis/requests/exchanges/exchanges.h"
#include "common/hash/hash_index.h"

struct vprof_length_count { /* of messages, or of pairs of them */
	uint64_t key;
	uint32_t n;
};

struct vprof_message_lengths {
	const struct vprof_exchanges *x;
	struct vprof_hash_index index;
	VPROF_ARRAY(struct vprof_length_count) counts;
};

void vprof_message_lengths_release(struct vprof_message_lengths *l);

/* It is known that a process of the program made this call for that visit. OK or NOMEM. */
int vprof_message_lengths_add(struct vprof_message_lengths *l, uint32_t program, uint32_t visit, uint32_t call);

/* How much more often messages of their lengths go together than by chance, as a logarithm. is_known: it was added
 * itself, and is left out. */
double vprof_message_lengths_fit(const struct vprof_message_lengths *l, uint32_t program, uint32_t visit, uint32_t call,
				 int is_known);

#endif
