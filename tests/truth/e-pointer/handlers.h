/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (e) The cause is called through a table of function pointers only. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include "plant.h"

enum { GET, PUT, SCAN, N_COMMANDS };
enum { REQUEST, DECODE, HANDLER, ENCODE = HANDLER + N_COMMANDS, SCAN_RANGE, N_FACTORS }; /* HANDLER + command */

struct request {
	uint64_t id;
	int command;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
};

typedef void (*handler)(struct request *r);
extern const handler handlers[N_COMMANDS];

void serve_request(struct request *r);

#endif
