/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of constructed objects: what was constructed is read by whoever takes one. */
#include "object_pool.h"

POOL_GET(pool_get)
POOL_PUT(pool_put, (void)0)
QUEUE_PUSH(push)
QUEUE_POP(pop)

static void give_back(struct object *o, unsigned i)
{
	(void)i;
	pool_put(o);
}

static int is_as_constructed(const struct object *o)
{
	return *o->name() != 0;
}

int main(void)
{
	return run();
}
