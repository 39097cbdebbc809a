/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (k) The cause is a call that leaves the project: nanosleep, which stands for a device. */
#ifndef RECORDER_H
#define RECORDER_H

#include "plant.h"

enum { REQUEST, PARSE, STORE_RECORD, REPLY, FORMAT, WRITE_DEVICE, NANOSLEEP, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
};

void handle_request(struct request *r);
void store_record(struct request *r);

#endif
