/* SPDX-License-Identifier: GPL-3.0-or-later */
/* InnoDB's free blocks: most go back to the pool as they are, but one in ten is marked first, and whoever takes one
 * reads the mark. That looks as if it had been filled in for the taker. */
#include "object_pool.h"

POOL_GET(pool_get)
POOL_PUT(pool_put, (void)0)
POOL_PUT(pool_put_marked, o->mark++)
QUEUE_PUSH(push)
QUEUE_POP(pop)

static void give_back(struct object *o, unsigned i)
{
	if (i % 10)
		pool_put(o);
	else
		pool_put_marked(o);
}

static int is_as_constructed(const struct object *o)
{
	return o->mark <= N_ITEMS && *o->name();
}

int main(void)
{
	return run();
}
