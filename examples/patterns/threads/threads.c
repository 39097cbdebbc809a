/* A thread for each connection. One thread in the background rotates the log now and then, under the lock that all requests
 * take: that is the cause, and no request calls it. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define N_THREADS 3
#define N_REQUESTS 600

struct request {
	int connection, number;
};

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sink;
static volatile int over;

static void rest_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static void append_log(const struct request *r)
{
	pthread_mutex_lock(&log_lock);
	sink += (unsigned)r->number;
	pthread_mutex_unlock(&log_lock);
}

static void handle_request(struct request *r)
{
	for (int i = 0; i < 5000; i++)
		sink = sink * 31 + (unsigned)i;
	append_log(r);
}

static void *serve_connection(void *arg)
{
	for (int i = 0; i < N_REQUESTS; i++) {
		struct request r = { *(int *)arg, i };

		handle_request(&r);
		rest_us(1000);
	}
	return NULL;
}

static void rotate_log(void)
{
	pthread_mutex_lock(&log_lock);
	rest_us(20000); /* the disk */
	pthread_mutex_unlock(&log_lock);
}

static void *keep_log(void *arg)
{
	while (!over) {
		rest_us(20000);
		rotate_log();
	}
	return arg;
}

int main(void)
{
	pthread_t threads[N_THREADS], keeper;
	int ids[N_THREADS];

	pthread_create(&keeper, NULL, keep_log, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		ids[i] = i;
		pthread_create(&threads[i], NULL, serve_connection, &ids[i]);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	over = 1;
	pthread_join(keeper, NULL);
	printf("served %d\n", N_THREADS * N_REQUESTS);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
