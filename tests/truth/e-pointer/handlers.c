/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handlers.h"

static NOINLINE void handle_get(struct request *r)
{
	PLANT_SPIN(r->ns[GET], r->took[GET]);
}

static NOINLINE void handle_put(struct request *r)
{
	PLANT_SPIN(r->ns[PUT], r->took[PUT]);
}

static NOINLINE void scan_range(struct request *r)
{
	PLANT_SPIN(r->ns[SCAN_RANGE], r->took[SCAN_RANGE]);
}

static NOINLINE void handle_scan(struct request *r)
{
	scan_range(r);
}

const handler handlers[N_COMMANDS] = { handle_get, handle_put, handle_scan };
