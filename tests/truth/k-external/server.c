/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder.h"

static NOINLINE void parse(struct request *r)
{
	PLANT_SPIN(r->ns[PARSE], r->took[PARSE]);
}

static NOINLINE void reply(struct request *r)
{
	PLANT_SPIN(r->ns[REPLY], r->took[REPLY]);
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[PARSE], parse(r));
	PLANT_CALL(r->took[STORE_RECORD], store_record(r));
	PLANT_CALL(r->took[REPLY], reply(r));
}
