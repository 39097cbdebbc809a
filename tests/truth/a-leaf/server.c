/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void parse_request(struct request *r)
{
	PLANT_SPIN(r->ns[PARSE_REQUEST], r->took[PARSE_REQUEST]);
}

static NOINLINE void send_reply(struct request *r)
{
	PLANT_SPIN(r->ns[SEND_REPLY], r->took[SEND_REPLY]);
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[PARSE_REQUEST], parse_request(r));
	PLANT_CALL(r->took[EXECUTE_QUERY], execute_query(r));
	PLANT_CALL(r->took[SEND_REPLY], send_reply(r));
}
