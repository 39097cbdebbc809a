/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is handed to several threads: each message goes to every subscriber's queue, and one task is queued again and
 * again, as a loop does whose iterations threads share. By the time it is taken, others have used it; but they were
 * given it, too, by the same thread. One subscriber, one worker after the other, so that this is so each time. */
#include "flow_case.h"

#define N_THREADS 4
#define N_MESSAGES (N_ITEMS / N_THREADS)

struct queue {
	pthread_mutex_t lock;
	unsigned first, last;
	struct item *items[N_ITEMS];
};

static struct queue subscribers[N_THREADS] = { { .lock = PTHREAD_MUTEX_INITIALIZER },
					       { .lock = PTHREAD_MUTEX_INITIALIZER },
					       { .lock = PTHREAD_MUTEX_INITIALIZER },
					       { .lock = PTHREAD_MUTEX_INITIALIZER } };
static struct queue tasks = { .lock = PTHREAD_MUTEX_INITIALIZER };

static NOINLINE void publish(struct queue *q, struct item *item)
{
	pthread_mutex_lock(&q->lock);
	q->items[q->last++] = item;
	pthread_mutex_unlock(&q->lock);
}

static NOINLINE struct item *fetch(struct queue *q)
{
	struct item *item = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->first < q->last)
		item = q->items[q->first++];
	pthread_mutex_unlock(&q->lock);
	return item;
}

static NOINLINE void queue_again(struct item *task)
{
	pthread_mutex_lock(&tasks.lock);
	tasks.items[tasks.last++] = task;
	pthread_mutex_unlock(&tasks.lock);
}

static NOINLINE struct item *take_task(void)
{
	struct item *task;

	pthread_mutex_lock(&tasks.lock);
	task = tasks.items[tasks.first++];
	pthread_mutex_unlock(&tasks.lock);
	return task;
}

static void *subscriber(void *arg)
{
	struct item *item;

	while ((item = fetch(arg)))
		item_use(item);
	return NULL;
}

static void *worker(void *arg)
{
	for (unsigned i = 0; i < N_MESSAGES; i++)
		item_use(take_task());
	return arg;
}

static void run(void *(*entry)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, entry, arg) || pthread_join(t, NULL))
		abort();
}

int main(void)
{
	struct item *task = item_new(1);
	uint64_t published = 0;

	for (unsigned i = 1; i <= N_MESSAGES; i++) {
		struct item *message = item_new(i);

		for (unsigned k = 0; k < N_THREADS; k++) {
			publish(&subscribers[k], message);
			queue_again(task);
			published += i;
		}
	}
	for (unsigned k = 0; k < N_THREADS; k++) {
		run(subscriber, &subscribers[k]);
		run(worker, NULL);
	}
	truth("publish", "fetch", N_ITEMS);
	truth("queue_again", "take_task", N_ITEMS);
	if (atomic_load(&sum) == published + N_ITEMS)
		return 0;
	printf("wrong sum in %s\n", CASE);
	return 1;
}
