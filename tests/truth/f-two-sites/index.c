/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

static NOINLINE void match_key(struct request *r)
{
	PLANT_SPIN(r->ns[MATCH_KEY], r->took[MATCH_KEY]);
}

NOINLINE void search_index(struct request *r)
{
	PLANT_CALL(r->took[DECOMPRESS_INDEX], decompress(r, DECOMPRESS_INDEX));
	PLANT_CALL(r->took[MATCH_KEY], match_key(r));
}
