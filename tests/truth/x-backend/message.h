/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (x) Requests to a front with probes, which asks two tiers behind it that have none: a backend, which asks a store.
 * How long each takes is in the message, and how long it took in the reply. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

enum { BACKEND, STORE, N_TIERS };

struct message {
	uint64_t id;
	uint32_t ns[N_TIERS]; /* to sleep */
	/* readings: a tier has the request from `in` to `out`, and asks the next one from `asked` to `answered` */
	uint64_t in[N_TIERS], out[N_TIERS], asked[N_TIERS], answered[N_TIERS];
};

#endif
