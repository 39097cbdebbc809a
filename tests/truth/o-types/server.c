/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void decode_body(struct request *r)
{
	PLANT_SPIN(r->ns[DECODE_BODY], r->took[DECODE_BODY]);
}

static NOINLINE void apply_change(struct request *r)
{
	PLANT_SPIN(r->ns[APPLY_CHANGE], r->took[APPLY_CHANGE]);
}

NOINLINE void handle_request(struct request *r)
{
	PLANT_CALL(r->took[DECODE_BODY], decode_body(r));
	PLANT_CALL(r->took[APPLY_CHANGE], apply_change(r));
}
