/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

#include "names.h"
PLANTED_MAIN

int work(int n);
int own(int n);
int once(int n);
const char *say(int n);
int resume(const void **at, int n);
int machine(const unsigned char *code, int n);

COUNTER(visit);
COUNTER(begin);

static __attribute__((noinline)) int visit(int n)
{
	PLANTED(visit)
	for (int i = 0; i < 3; i++)
		n ^= n >> 1;
	return n & 3;
}

static void *begin(void *arg)
{
	struct pool p = { 0, 0 };
	long sum = 0;

	PLANTED(begin)
	for (int i = 0; i < 200; i++) {
		sum += walk(i % 5, visit);
		p.n_free++;
	}
	*(long *)arg = sum + p.n_free;
	return NULL;
}

int main(void)
{
	struct pool p = { 0, 0 };
	int (*called)(int) = in_library;
	pthread_t threads[2];
	long sums[2], sum = 0;
	const void *at = NULL;

	atexit(planted_write);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, begin, &sums[i]))
			return 1;
	for (int i = 1; i < 300; i++) {
		const void *before = keep();
		struct both f;

		sum += allocate(&p, i % 17);
		release(&p, i % 3);
		f = first_of(i % 11);
		sum += dispatch(i, i) + f.a + f.b + f.c + work(i) + own(i) + called(i) + once(i);
		sum += resume(&at, i) + machine((const unsigned char[]){ 0, 0, 1, 0, 1, 0, 2 }, i) + say(i)[i % 3];
		if (before != keep() || called != in_library)
			return 2;
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		sum += sums[i];
	}
	printf("%ld %d\n", sum, p.n_refills);
	return 0;
}
