/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks.h"

NOINLINE void decompress(struct request *r, int place)
{
	PLANT_SPIN(r->ns[place], r->took[place]);
}
