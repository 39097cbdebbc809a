/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (a) The cause is read_block, four calls below handle_request, among noisy siblings on every level. */
#ifndef REQUEST_H
#define REQUEST_H

#include "plant.h"

enum {
	REQUEST,
	PARSE_REQUEST,
	EXECUTE_QUERY,
	SEND_REPLY,
	CHOOSE_PLAN,
	SCAN_TABLE,
	FETCH_ROW,
	VERIFY_ROW,
	READ_BLOCK,
	N_FACTORS
};

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS]; /* how long each function shall take */
	struct plant_time took[N_FACTORS];
};

void handle_request(struct request *r);
void execute_query(struct request *r);
void scan_table(struct request *r);
void fetch_row(struct request *r);

#endif
