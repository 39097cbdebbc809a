/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (a) The cause is read_block, four calls below handle_request, among noisy siblings on every level. */
#ifndef REQUEST_H
#define REQUEST_H

#include "plant.h"

enum { READ_BLOCK, PARSE_REQUEST, CHOOSE_PLAN, VERIFY_ROW, SEND_REPLY, N_FACTORS };

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS];	  /* how long each function shall take */
	uint64_t took[N_FACTORS]; /* ticks that it took */
};

void handle_request(struct request *r);
void execute_query(struct request *r);
void scan_table(struct request *r);
void fetch_row(struct request *r);

#endif
