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
	decode(r);
	handlers[r->command](r);
	encode(r);
}
