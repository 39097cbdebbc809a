/* Serves requests under a lock that another thread takes now and then and sleeps with: waits with a waker, calls within calls. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_over;
static volatile unsigned sink;

static void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink = sink * 31 + (unsigned)i;
}

static void nap(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static void tidy(void)
{
	pthread_mutex_lock(&lock);
	nap(800);
	pthread_mutex_unlock(&lock);
}

static void *housekeeper(void *arg)
{
	while (!is_over) {
		nap(1500);
		tidy();
	}
	return arg;
}

static void parse(int number)
{
	spin(3000 + number % 7 * 500);
}

static void update(int number)
{
	pthread_mutex_lock(&lock);
	spin(2000 + number % 3 * 1000);
	pthread_mutex_unlock(&lock);
}

static void serve(int number)
{
	parse(number);
	update(number);
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, housekeeper, NULL);
	for (int i = 0; i < 400; i++) {
		serve(i);
		nap(100);
	}
	is_over = 1;
	pthread_join(thread, NULL);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
