/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

NOINLINE void load_page(struct request *r)
{
	PLANT_CALL(r->took[DECOMPRESS_PAGE], decompress(r, DECOMPRESS_PAGE));
}
