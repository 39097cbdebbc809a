/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (o) Two types of requests, and decode_body takes its time by the type: nearly all variance lies between them. */
#ifndef REQUEST_H
#define REQUEST_H

#include "plant.h"

enum { REQUEST, DECODE_BODY, APPLY_CHANGE, N_FACTORS };

struct request {
	uint64_t id;
	int is_write;
	uint32_t ns[N_FACTORS]; /* how long each function shall take */
	struct plant_time took[N_FACTORS];
};

void handle_request(struct request *r);

#endif
