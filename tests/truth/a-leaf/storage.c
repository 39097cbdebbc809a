/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void read_block(struct request *r)
{
	PLANT_SPIN(r->ns[READ_BLOCK], r->took[READ_BLOCK]);
}

static NOINLINE void verify_row(struct request *r)
{
	PLANT_SPIN(r->ns[VERIFY_ROW], r->took[VERIFY_ROW]);
}

NOINLINE void fetch_row(struct request *r)
{
	PLANT_CALL(r->took[READ_BLOCK], read_block(r));
}

NOINLINE void scan_table(struct request *r)
{
	PLANT_CALL(r->took[FETCH_ROW], fetch_row(r));
	PLANT_CALL(r->took[VERIFY_ROW], verify_row(r));
}
