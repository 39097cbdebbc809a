/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's figure 2: shared state that belongs to no transaction. */
#include "flow_case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count, total;
static struct item *latest; /* a statistic: the item seen last, never used */

static void *worker(void *arg)
{
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct item *item = item_new(i);

		pthread_mutex_lock(&lock);
		count++;
		total += item->value;
		latest = item;
		pthread_mutex_unlock(&lock);
		item_use(item);
	}
	return arg;
}

int main(void)
{
	pthread_t a = start(worker), b = start(worker);

	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth_none();
	return count != 2 * N_ITEMS || !latest;
}
