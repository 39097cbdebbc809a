/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void parse_request(struct request *r)
{
	PLANT_SPIN(r->ns[PARSE_REQUEST], r->took[PARSE_REQUEST]);
}

static NOINLINE void lookup_key(struct request *r)
{
	PLANT_SPIN(r->ns[LOOKUP_KEY], r->took[LOOKUP_KEY]);
}

static NOINLINE void compact_log(struct request *r)
{
	PLANT_SPIN(r->ns[COMPACT_LOG], r->took[COMPACT_LOG]);
}

static NOINLINE void send_reply(struct request *r)
{
	PLANT_SPIN(r->ns[SEND_REPLY], r->took[SEND_REPLY]);
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[PARSE_REQUEST], parse_request(r));
	PLANT_CALL(r->took[LOOKUP_KEY], lookup_key(r));
	PLANT_CALL(r->took[COMPACT_LOG], compact_log(r));
	PLANT_CALL(r->took[SEND_REPLY], send_reply(r));
}
