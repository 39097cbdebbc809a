/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (q) One request in a hundred compacts the log for milliseconds, and its reply is sent twice: that is the tail. The
 * mean is made by lookup_key, which tells nothing about the tail. */
#ifndef REQUEST_H
#define REQUEST_H

#include "plant.h"

enum { REQUEST, PARSE_REQUEST, LOOKUP_KEY, COMPACT_LOG, SEND_REPLY, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS]; /* how long each function shall take */
	struct plant_time took[N_FACTORS];
};

void handle_request(struct request *r);

#endif
