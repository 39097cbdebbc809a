/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (k) The cause is a call that leaves the project: nanosleep, which stands for a device. */
#ifndef RECORDER_H
#define RECORDER_H

#include "plant.h"

enum { NANOSLEEP, PARSE, FORMAT, REPLY, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	uint64_t took[N_FACTORS];
};

void handle_request(struct request *r);
void store_record(struct request *r);

#endif
