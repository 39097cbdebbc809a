/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of objects beside a queue: one thread takes an object, fills it in and pushes it to the queue, the other pops
 * it, uses it and gives it back. The queue is a flow, the pool is none. The case says how an object is given back, and
 * what whoever takes one from the pool reads of it. */
#ifndef OBJECT_POOL_H
#define OBJECT_POOL_H

#include "flow_case.h"

struct object {
	struct object *next;
	const char *(*name)(void); /* constructed once */
	uint64_t value, mark;
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER, filled = PTHREAD_COND_INITIALIZER;
static struct object *pool, *first, **last = &first;

static const char *name(void)
{
	return CASE;
}

/* The functions are the case's own, since flows are told by file and function. */
#define POOL_GET(function)                                                                                             \
	static NOINLINE struct object *function(void)                                                                  \
	{                                                                                                              \
		struct object *o;                                                                                      \
                                                                                                                       \
		pthread_mutex_lock(&pool_lock);                                                                        \
		while (!pool)                                                                                          \
			pthread_cond_wait(&freed, &pool_lock);                                                         \
		o = pool;                                                                                              \
		pool = o->next;                                                                                        \
		pthread_mutex_unlock(&pool_lock);                                                                      \
		return o;                                                                                              \
	}

/* A function that gives an object back. */
#define POOL_PUT(function, before)                                                                                     \
	static NOINLINE void function(struct object *o)                                                                \
	{                                                                                                              \
		before;                                                                                                \
		pthread_mutex_lock(&pool_lock);                                                                        \
		o->next = pool;                                                                                        \
		pool = o;                                                                                              \
		pthread_cond_signal(&freed);                                                                           \
		pthread_mutex_unlock(&pool_lock);                                                                      \
	}

#define QUEUE_PUSH(function)                                                                                           \
	static NOINLINE void function(struct object *o)                                                                \
	{                                                                                                              \
		pthread_mutex_lock(&lock);                                                                             \
		o->next = NULL;                                                                                        \
		*last = o;                                                                                             \
		last = &o->next;                                                                                       \
		pthread_cond_signal(&filled);                                                                          \
		pthread_mutex_unlock(&lock);                                                                           \
	}

#define QUEUE_POP(function)                                                                                            \
	static NOINLINE struct object *function(void)                                                                  \
	{                                                                                                              \
		struct object *o;                                                                                      \
                                                                                                                       \
		pthread_mutex_lock(&lock);                                                                             \
		while (!first)                                                                                         \
			pthread_cond_wait(&filled, &lock);                                                             \
		o = first;                                                                                             \
		first = o->next;                                                                                       \
		if (!first)                                                                                            \
			last = &first;                                                                                 \
		pthread_mutex_unlock(&lock);                                                                           \
		return o;                                                                                              \
	}

static struct object *pool_get(void);
static void push(struct object *o);
static struct object *pop(void);
static void give_back(struct object *o, unsigned i);
static int is_as_constructed(const struct object *o);

/* What the threads do in addition, of the i-th item. */
#ifndef BEFORE_POP
#define BEFORE_POP(i)
#define AFTER_PUSH(i)
#endif

static void *consumer(void *arg)
{
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct object *o;

		BEFORE_POP(i);
		o = pop();

		atomic_fetch_add(&sum, o->value);
		give_back(o, i);
	}
	return arg;
}

static inline int run(void)
{
	pthread_t t;

	for (unsigned i = 0; i < 8; i++) {
		struct object *o = malloc(sizeof *o);

		if (!o)
			abort();
		o->name = name;
		o->mark = 0;
		o->next = pool;
		pool = o;
	}
	t = start(consumer);
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct object *o = pool_get();

		if (!is_as_constructed(o))
			abort();
		o->value = i;
		push(o);
		AFTER_PUSH(i);
	}
	pthread_join(t, NULL);
	truth("push", "pop", N_ITEMS);
	return checked(N_ITEMS);
}

#endif
