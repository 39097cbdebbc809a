/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forked_later TIMES: a queue that its process uses alone so often (what is done more than 5,000 times is not
 * recorded); then a child hands 600 items from thread to thread in it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ITEMS 600
#define NOINLINE __attribute__((noinline))

struct item {
	struct item *next;
	unsigned value;
};

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

static NOINLINE struct item *make(unsigned value)
{
	struct item *item = malloc(sizeof *item);

	if (!item)
		abort();
	item->value = value;
	return item;
}

static void *consumer(void *sum)
{
	for (int i = 0; i < N_ITEMS; i++)
		*(unsigned *)sum += pop()->value;
	return NULL;
}

static int child_main(void)
{
	unsigned sum = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, consumer, &sum))
		abort();
	for (unsigned i = 1; i <= N_ITEMS; i++)
		push(make(i));
	pthread_join(t, NULL);
	return sum != N_ITEMS * (N_ITEMS + 1) / 2;
}

int main(int argc, char **argv)
{
	unsigned sum = 0, n_alone = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	int status;
	pid_t child;

	for (unsigned i = 0; i < n_alone; i++) {
		push(make(i));
		sum += pop()->value;
	}
	printf("%u\n", sum);
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(child_main());
	return waitpid(child, &status, 0) != child || status;
}
