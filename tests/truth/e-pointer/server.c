/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handlers.h"

static NOINLINE void decode(struct request *r)
{
	PLANT_SPIN(r->ns[DECODE], r->took[DECODE]);
}

static NOINLINE void encode(struct request *r)
{
	PLANT_SPIN(r->ns[ENCODE], r->took[ENCODE]);
}

NOINLINE void serve_request(struct request *r)
{
	PLANT_CALL(r->took[DECODE], decode(r));
	PLANT_CALL(r->took[HANDLER + r->command], handlers[r->command](r));
	PLANT_CALL(r->took[ENCODE], encode(r));
}
