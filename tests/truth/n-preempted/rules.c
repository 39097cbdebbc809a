/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

NOINLINE void match_rules(struct request *r)
{
	uint64_t begin = PLANT_NOW();

	WORK(r, r->match_steps);
	r->took[MATCH_RULES].low += PLANT_NOW() - begin;
}
