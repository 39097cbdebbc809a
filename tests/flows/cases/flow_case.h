/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose threads hand things to each other, or only seem to, and which says what the truth is.
 *
 * truth(from, to, n): n items really went from function `from` to function `to`. A program that hands nothing over says
 * so by truth_none(). What is handed over must be used by whoever took it: the checksum proves it. */
#ifndef FLOW_CASE_H
#define FLOW_CASE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_ITEMS 600
#define NOINLINE __attribute__((noinline))

struct item {
	struct item *next;
	uint64_t value;
	char text[48];
};

static _Atomic uint64_t sum; /* of what was consumed */

static inline struct item *item_new(uint64_t value)
{
	struct item *i = malloc(sizeof *i);

	if (!i)
		abort();
	i->next = NULL;
	i->value = value;
	return i;
}

static inline void item_use(struct item *i)
{
	atomic_fetch_add_explicit(&sum, i->value, memory_order_relaxed);
}

static inline void truth(const char *from, const char *to, unsigned n)
{
	printf("truth %s %s %s %u\n", CASE, from, to, n);
}

static inline void truth_none(void)
{
	printf("truth %s - - 0\n", CASE);
}

/* No run can see it; the code must suggest it: a number, a text or a member. */
static inline void suggested(const char *from, const char *to, const char *type)
{
	printf("suggested %s %s %s %s\n", CASE, from, to, type);
}

/* The sum of 1 .. n was consumed. */
static inline int checked(uint64_t n)
{
	if (atomic_load(&sum) == n * (n + 1) / 2)
		return 0;
	printf("wrong sum in %s\n", CASE);
	return 1;
}

static inline pthread_t start(void *(*entry)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, entry, NULL))
		abort();
	return t;
}

/* One thread gets what this one puts: N_ITEMS items, one by one. */
static inline void *take_all(void *arg)
{
	struct item *(*get)(void) = *(struct item * (**)(void)) arg;

	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item = get();

		item_use(item);
		free(item);
	}
	return NULL;
}

static inline void pass_all(void (*put)(struct item *), struct item *(*get)(void))
{
	pthread_t t;

	if (pthread_create(&t, NULL, take_all, &get))
		abort();
	for (unsigned i = 1; i <= N_ITEMS; i++)
		put(item_new(i));
	pthread_join(t, NULL);
}

#endif
