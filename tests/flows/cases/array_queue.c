/* SPDX-License-Identifier: GPL-3.0-or-later */
/* httpd's fd queue (the paper's figure 1): two pointers go into an element of an array, and out through parameters. */
#include "flow_case.h"

#define CAPACITY 16

struct element {
	struct item *sd, *p;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct element data[CAPACITY];
	unsigned n, in, out;
	int closed;
} queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };

static NOINLINE void queue_push(struct item *sd, struct item *p)
{
	struct element *element;

	pthread_mutex_lock(&queue.lock);
	while (queue.n == CAPACITY)
		pthread_cond_wait(&queue.not_full, &queue.lock);
	element = &queue.data[queue.in];
	queue.in = (queue.in + 1) % CAPACITY;
	element->sd = sd;
	element->p = p;
	queue.n++;
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

static NOINLINE int queue_pop(struct item **sd, struct item **p)
{
	struct element *element;

	pthread_mutex_lock(&queue.lock);
	while (!queue.n && !queue.closed)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	if (!queue.n) {
		pthread_mutex_unlock(&queue.lock);
		return 0;
	}
	element = &queue.data[queue.out];
	queue.out = (queue.out + 1) % CAPACITY;
	*sd = element->sd;
	*p = element->p;
	element->sd = NULL;
	element->p = NULL;
	queue.n--;
	pthread_cond_signal(&queue.not_full);
	pthread_mutex_unlock(&queue.lock);
	return 1;
}

static void *worker(void *arg)
{
	struct item *sd, *p;

	while (queue_pop(&sd, &p)) {
		item_use(sd);
		p->value++;
		free(sd);
		free(p);
	}
	return arg;
}

int main(void)
{
	pthread_t a = start(worker), b = start(worker);

	for (unsigned i = 1; i <= N_ITEMS; i++)
		queue_push(item_new(i), item_new(0));
	pthread_mutex_lock(&queue.lock);
	queue.closed = 1;
	pthread_cond_broadcast(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	truth("queue_push", "queue_pop", N_ITEMS);
	return checked(N_ITEMS);
}
