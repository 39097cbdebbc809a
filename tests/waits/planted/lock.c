/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lock contention. Eight threads wait for a client (a sleep), then work under a lock.
 *
 * The knot: the threads, one with another. Their longest waits are those for clients. Remedy: locks=8, one for each.
 */
#include <stdio.h>

#include "planted.h"

#define N 8
#define CLIENT_NS (4 * MS)
#define LOCKED_NS (1 * MS)

static pthread_mutex_t locks[N];
static long n_locks;

static void *serve(void *arg)
{
	pthread_mutex_t *lock = &locks[(intptr_t)arg % n_locks];

	while (planted_goes_on()) {
		planted_sleep(CLIENT_NS);
		pthread_mutex_lock(lock);
		planted_work(LOCKED_NS);
		pthread_mutex_unlock(lock);
		planted_done(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N];

	planted_start(argc, argv);
	n_locks = planted_option("locks", 1);
	for (long i = 0; i < N; i++) {
		char name[16];

		pthread_mutex_init(&locks[i], NULL);
		snprintf(name, sizeof name, "server-%ld", i);
		threads[i] = planted_thread(name, serve, (void *)(intptr_t)i);
	}
	for (int i = 0; i < N; i++)
		planted_join(threads[i]);
	return planted_finish();
}
