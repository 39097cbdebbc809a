/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void parse_request(struct request *r)
{
	struct plant_time spent = { 0, 0, 0 };

	PLANT_WORK(r->parse_ns, spent);
	r->took[PARSE_REQUEST].low += spent.low;
	r->parse_gaps = spent.away;
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[PARSE_REQUEST], parse_request(r));
	PLANT_CALL(r->took[MATCH_RULES], match_rules(r));
}
