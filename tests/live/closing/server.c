/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server that serves itself until it gets SIGTERM. Each request waits for a while at random, and in part() it weighs:
 * these two are all that varies by the program. part() also calls twelve small functions 60 times each, always with the
 * same work: recording these takes more than any of them could explain. At the end the program writes, into TRUTH_OUT,
 * which share of the latencies' variance the CPU time of weighing has, and the wait. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_THREADS 2
#define N_TURNS 60
#define WAIT_NS 1000000
#define WEIGH_TURNS 600000 /* at most, of some ns each, in all */
#define APART __attribute__((noinline))

static atomic_int is_over;
static _Thread_local volatile uint64_t sink;

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

APART static uint64_t fold(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 20) * 0x9e3779b97f4a7c15u + 0;
	sink = x;
	return x;
}

APART static uint64_t spread(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 21) * 0x9e3779b97f4a7c15u + 1;
	sink = x;
	return x;
}

APART static uint64_t rotate(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 22) * 0x9e3779b97f4a7c15u + 2;
	sink = x;
	return x;
}

APART static uint64_t blend(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 23) * 0x9e3779b97f4a7c15u + 3;
	sink = x;
	return x;
}

APART static uint64_t scatter(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 24) * 0x9e3779b97f4a7c15u + 4;
	sink = x;
	return x;
}

APART static uint64_t gather(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 25) * 0x9e3779b97f4a7c15u + 5;
	sink = x;
	return x;
}

APART static uint64_t shift(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 26) * 0x9e3779b97f4a7c15u + 6;
	sink = x;
	return x;
}

APART static uint64_t twist(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 27) * 0x9e3779b97f4a7c15u + 7;
	sink = x;
	return x;
}

APART static uint64_t carry(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 28) * 0x9e3779b97f4a7c15u + 8;
	sink = x;
	return x;
}

APART static uint64_t mask(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + 9;
	sink = x;
	return x;
}

APART static uint64_t swap(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 30) * 0x9e3779b97f4a7c15u + 10;
	sink = x;
	return x;
}

APART static uint64_t stir(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u + 11;
	sink = x;
	return x;
}

APART static uint64_t weigh(uint64_t x, unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u + i;
	sink = x;
	return x;
}

APART static uint64_t part(uint64_t x, unsigned turns)
{
	for (int i = 0; i < N_TURNS; i++) {
		x = fold(x);
		x = spread(x);
		x = rotate(x);
		x = blend(x);
		x = scatter(x);
		x = gather(x);
		x = shift(x);
		x = twist(x);
		x = carry(x);
		x = mask(x);
		x = swap(x);
		x = stir(x);
		x += weigh(x, turns / N_TURNS);
	}
	return x;
}

APART static void await_reply(unsigned ns)
{
	struct timespec t = { 0, (long)ns };

	nanosleep(&t, NULL);
}

struct sums {
	double n, latency, latency2, weighing, weighing2, waiting, waiting2;
};

static _Thread_local struct sums *own;

APART static uint64_t handle_request(uint64_t id, unsigned wait_ns, unsigned turns)
{
	double from = now_ns(CLOCK_MONOTONIC), x;
	uint64_t y;

	await_reply(wait_ns);
	x = now_ns(CLOCK_MONOTONIC) - from;
	own->waiting += x;
	own->waiting2 += x * x;
	from = now_ns(CLOCK_THREAD_CPUTIME_ID);
	y = part(id, turns);
	x = now_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	own->weighing += x;
	own->weighing2 += x * x;
	return y;
}

static void *serve(void *arg)
{
	uint64_t x = 0;

	own = arg;
	for (uint64_t id = (uint64_t)(uintptr_t)arg; !is_over; id++) {
		uint64_t random = (id ^ id >> 15) * 0x9e3779b97f4a7c15u;
		double latency = now_ns(CLOCK_MONOTONIC);

		x += handle_request(id, (unsigned)(random >> 40) % WAIT_NS, (unsigned)(random >> 16) % WEIGH_TURNS);
		latency = now_ns(CLOCK_MONOTONIC) - latency;
		own->n++;
		own->latency += latency;
		own->latency2 += latency * latency;
	}
	sink = x;
	return NULL;
}

static double variance(double n, double sum, double squares)
{
	return squares / n - sum / n * (sum / n);
}

static void stop(int signal)
{
	(void)signal;
	is_over = 1;
}

int main(void)
{
	static struct sums sums[N_THREADS];
	struct sums all = { 0 };
	pthread_t threads[N_THREADS];
	const char *path = getenv("TRUTH_OUT");
	FILE *f;

	signal(SIGTERM, stop);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, serve, &sums[i]);
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(threads[i], NULL);
		for (size_t k = 0; k < sizeof all / sizeof(double); k++)
			((double *)&all)[k] += ((double *)&sums[i])[k];
	}
	f = fopen(path ? path : "truth", "w");
	if (!f)
		return 1;
	all.latency2 = variance(all.n, all.latency, all.latency2);
	fprintf(f, "weigh %.9f\nawait_reply %.9f\n", variance(all.n, all.weighing, all.weighing2) / all.latency2,
		variance(all.n, all.waiting, all.waiting2) / all.latency2);
	return fclose(f) != 0;
}
