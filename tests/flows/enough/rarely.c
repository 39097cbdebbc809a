/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rarely MOST: a lock is taken so often that nothing else happens for long: then accesses are looked at no more.
 * Between two items of a queue it is taken up to MOST times, now more, now less, as soon as the one before was used:
 * who is preempted before that misses nothing. Of each 46 items one is there before the thread that takes it, which
 * otherwise waits for it: that is another place, at which so few are taken that it tells nothing by itself. The
 * objects come from a pool, which is none. */
#define CASE "rarely"
#define BEFORE_POP(i) wait_for(i)
#define AFTER_PUSH(i) atomic_store_explicit(&n_pushed, i, memory_order_relaxed)

#include <sched.h>
#include <stdatomic.h>

static _Atomic unsigned n_pushed;

static void wait_for(unsigned i)
{
	while (i % 46 == 0 && atomic_load_explicit(&n_pushed, memory_order_relaxed) < i)
		sched_yield();
}

#include "object_pool.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_steps;
static unsigned most;
static _Atomic unsigned n_used;

POOL_GET(pool_get)
POOL_PUT(pool_put, (void)0)
QUEUE_PUSH(push)
QUEUE_POP(pop)

static NOINLINE void step(void)
{
	pthread_mutex_lock(&busy);
	n_steps++;
	pthread_mutex_unlock(&busy);
}

static void give_back(struct object *o, unsigned i)
{
	pool_put(o);
	atomic_store_explicit(&n_used, i, memory_order_relaxed);
}

static int is_as_constructed(const struct object *o)
{
	static uint64_t random = 1;
	static unsigned n_before;

	while (atomic_load_explicit(&n_used, memory_order_relaxed) < n_before)
		sched_yield();
	n_before++;

	random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	for (unsigned i = 0; i < (random >> 33) % most; i++)
		step();
	return *o->name() != 0;
}

int main(int argc, char **argv)
{
	most = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	for (unsigned i = 0; i < 20000; i++)
		step();
	return run();
}
