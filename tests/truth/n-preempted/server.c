/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void parse_request(struct request *r)
{
	WORK(r, r->parse_steps);
}

NOINLINE void handle_request(struct request *r)
{
	parse_request(r);
	match_rules(r);
}
