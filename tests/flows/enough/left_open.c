/* SPDX-License-Identifier: GPL-3.0-or-later */
/* left_open: after an atomic load nothing ends what is recorded of it, while another thread takes its lock until
 * accesses are looked at no more. What the load read is then freed, and given again. */
#define CASE "left_open"
#include "flow_case.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct item *) latest;
static uint64_t n_steps;

static void *steps(void *arg)
{
	for (unsigned i = 0; i < 40000; i++) {
		pthread_mutex_lock(&busy);
		n_steps++;
		pthread_mutex_unlock(&busy);
	}
	return arg;
}

int main(void)
{
	for (unsigned i = 0; i < 20; i++) {
		struct item *item = item_new(i), *seen;
		pthread_t t;

		atomic_store_explicit(&latest, item, memory_order_release);
		seen = atomic_load_explicit(&latest, memory_order_acquire);
		t = start(steps);
		pthread_join(t, NULL);
		free(seen);
		item = item_new(i);
		pthread_mutex_lock(&lock);
		n_steps += item->value;
		pthread_mutex_unlock(&lock);
		free(item);
	}
	return 0;
}
