/* A queue and workers. One request in ten draws a large picture, which keeps its worker busy while others wait in the queue. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define N_WORKERS 2
#define N_REQUESTS 450
#define QUEUE_MAX 1024

struct request {
	int number;
};

static struct request requests[N_REQUESTS];
static struct request *queue[QUEUE_MAX];
static unsigned head, tail;
static int over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static volatile unsigned sink;

static void rest_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static void queue_push(struct request *r)
{
	pthread_mutex_lock(&lock);
	queue[head++ % QUEUE_MAX] = r;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

/* NULL: there will be no more. */
static struct request *queue_pop(void)
{
	struct request *r = NULL;

	pthread_mutex_lock(&lock);
	while (head == tail && !over)
		pthread_cond_wait(&filled, &lock);
	if (head != tail)
		r = queue[tail++ % QUEUE_MAX];
	pthread_mutex_unlock(&lock);
	return r;
}

static void draw_large(void)
{
	rest_us(20000);
}

static void draw_small(void)
{
	for (int i = 0; i < 5000; i++)
		sink = sink * 31 + (unsigned)i;
}

static void run_job(struct request *r)
{
	if (r->number % 10 == 0)
		draw_large();
	else
		draw_small();
}

static void accept_request(struct request *r)
{
	queue_push(r);
}

static void *worker(void *arg)
{
	struct request *r;

	while ((r = queue_pop()))
		run_job(r);
	return arg;
}

int main(void)
{
	pthread_t threads[N_WORKERS];

	for (int i = 0; i < N_WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < N_REQUESTS; i++) {
		requests[i].number = i;
		accept_request(&requests[i]);
		rest_us(1500);
	}
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("served %d\n", N_REQUESTS);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
