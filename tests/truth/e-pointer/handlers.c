/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handlers.h"

static NOINLINE void handle_get(struct request *r)
{
	PLANT_SPIN(r->ns[HANDLER + GET], r->took[HANDLER + GET]);
}

static NOINLINE void handle_put(struct request *r)
{
	PLANT_SPIN(r->ns[HANDLER + PUT], r->took[HANDLER + PUT]);
}

static NOINLINE void scan_range(struct request *r)
{
	PLANT_SPIN(r->ns[SCAN_RANGE], r->took[SCAN_RANGE]);
}

static NOINLINE void handle_scan(struct request *r)
{
	PLANT_CALL(r->took[SCAN_RANGE], scan_range(r));
}

const handler handlers[N_COMMANDS] = { handle_get, handle_put, handle_scan };
