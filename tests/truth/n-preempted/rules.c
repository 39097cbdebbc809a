/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "request.h"

NOINLINE void match_rules(struct request *r)
{
	struct plant_time spent = { 0, 0, 0 };

	PLANT_WORK(r->match_ns, spent); /* CPU time, however long others have the CPU meanwhile */
	r->took[MATCH_RULES].low += spent.low;
	r->match_gaps = spent.away;
}
