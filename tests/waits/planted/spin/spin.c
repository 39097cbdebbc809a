/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A spin lock. Two threads spend most of their time under it: one of them always spins, which looks like work. It is
 * annotated (vprof.h), and recorded by vprof run --kernel.
 *
 * The knot: the threads, one with another. Remedy: locks=2, one for each.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "planted.h"
#include "vprof.h"

#define N 2
#define LOCKED_NS (1500 * US)
#define ALONE_NS (300 * US)
#define FETCH_NS (300 * US)

static atomic_int locks[N];
static long n_locks;

static void lock(atomic_int *l)
{
	if (!atomic_exchange(l, 1))
		return;
	vprof_spin_begin(l);
	while (atomic_exchange(l, 1))
		while (atomic_load(l))
			;
	vprof_spin_end(l);
}

static void unlock(atomic_int *l)
{
	vprof_wake(l);
	atomic_store(l, 0);
}

void handle_request(atomic_int *l)
{
	planted_sleep(FETCH_NS);
	planted_work(ALONE_NS);
	lock(l);
	planted_work(LOCKED_NS);
	unlock(l);
}

static void *serve(void *arg)
{
	while (planted_goes_on()) {
		handle_request(&locks[(intptr_t)arg % n_locks]);
		planted_done(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[N] = { "server-0", "server-1" };
	pthread_t threads[N];

	planted_start(argc, argv);
	n_locks = planted_option("locks", 1);
	for (long i = 0; i < N; i++)
		threads[i] = planted_thread(names[i], serve, (void *)i);
	for (int i = 0; i < N; i++)
		planted_join(threads[i]);
	return planted_finish();
}
