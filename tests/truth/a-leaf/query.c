/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

static NOINLINE void choose_plan(struct request *r)
{
	PLANT_SPIN(r->ns[CHOOSE_PLAN], r->took[CHOOSE_PLAN]);
}

NOINLINE void execute_query(struct request *r)
{
	PLANT_CALL(r->took[CHOOSE_PLAN], choose_plan(r));
	PLANT_CALL(r->took[SCAN_TABLE], scan_table(r));
}
