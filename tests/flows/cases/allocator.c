/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's figure 3: every thread allocates and frees. */
#include "flow_case.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *free_list;

static NOINLINE struct item *mem_alloc(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	item = free_list;
	if (item)
		free_list = item->next;
	pthread_mutex_unlock(&lock);
	return item ? item : malloc(sizeof *item);
}

static NOINLINE void mem_free(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = free_list;
	free_list = item;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct item *one = mem_alloc(), *two = mem_alloc();

		one->value = i;
		two->value = 2 * i;
		item_use(one);
		item_use(two);
		mem_free(one);
		mem_free(two);
	}
	return arg;
}

int main(void)
{
	pthread_t a = start(worker), b = start(worker), c = start(worker);

	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	truth_none();
	return 0;
}
