/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forked_later TIMES: a queue that its process uses alone so often (what is done more than 3,000 times is not
 * recorded); then a child hands 600 items from thread to thread in it. */
#define CASE "forked_later"
#include "flow_case.h"

#include <sys/wait.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item *first, **last = &first;

static NOINLINE void push(struct item *item)
{
	pthread_mutex_lock(&lock);
	item->next = NULL;
	*last = item;
	last = &item->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct item *pop(void)
{
	struct item *item;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&filled, &lock);
	item = first;
	first = item->next;
	if (!first)
		last = &first;
	pthread_mutex_unlock(&lock);
	return item;
}

static void *consumer(void *arg)
{
	for (int i = 0; i < N_ITEMS; i++)
		item_use(pop());
	return arg;
}

static int child_main(void)
{
	pthread_t t;

	atomic_store(&sum, 0);
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++)
		push(item_new(i));
	pthread_join(t, NULL);
	return checked(N_ITEMS);
}

int main(int argc, char **argv)
{
	int n_alone = argc > 1 ? atoi(argv[1]) : 0, status;
	pid_t child;

	for (int i = 0; i < n_alone; i++) {
		push(item_new(1));
		item_use(pop());
	}
	child = fork();
	if (!child)
		_exit(child_main());
	return waitpid(child, &status, 0) != child || status;
}
