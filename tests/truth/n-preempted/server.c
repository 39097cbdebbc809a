/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void parse_request(struct request *r)
{
	uint64_t begin = PLANT_NOW();

	WORK(r, r->parse_steps);
	r->took[PARSE_REQUEST].low += PLANT_NOW() - begin;
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[PARSE_REQUEST], parse_request(r));
	PLANT_CALL(r->took[MATCH_RULES], match_rules(r));
}
