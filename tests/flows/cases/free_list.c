/* SPDX-License-Identifier: GPL-3.0-or-later */
/* InnoDB's free blocks: most go back to the pool as they are, but one in ten is marked first, and whoever takes one
 * reads the mark. That looks as if it had been filled in for the taker. The queue is a flow, the pool is none. */
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

static NOINLINE struct object *pool_get(void)
{
	struct object *o;

	pthread_mutex_lock(&pool_lock);
	while (!pool)
		pthread_cond_wait(&freed, &pool_lock);
	o = pool;
	pool = o->next;
	pthread_mutex_unlock(&pool_lock);
	return o;
}

static NOINLINE void pool_put(struct object *o)
{
	pthread_mutex_lock(&pool_lock);
	o->next = pool;
	pool = o;
	pthread_cond_signal(&freed);
	pthread_mutex_unlock(&pool_lock);
}

static NOINLINE void pool_put_marked(struct object *o)
{
	o->mark++;
	pthread_mutex_lock(&pool_lock);
	o->next = pool;
	pool = o;
	pthread_cond_signal(&freed);
	pthread_mutex_unlock(&pool_lock);
}

static NOINLINE void push(struct object *o)
{
	pthread_mutex_lock(&lock);
	o->next = NULL;
	*last = o;
	last = &o->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

static NOINLINE struct object *pop(void)
{
	struct object *o;

	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&filled, &lock);
	o = first;
	first = o->next;
	if (!first)
		last = &first;
	pthread_mutex_unlock(&lock);
	return o;
}

static void *consumer(void *arg)
{
	for (unsigned i = 1; i <= N_ITEMS; i++) {
		struct object *o = pop();

		atomic_fetch_add(&sum, o->value);
		if (i % 10)
			pool_put(o);
		else
			pool_put_marked(o);
	}
	return arg;
}

int main(void)
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

		if (o->mark > N_ITEMS || !*o->name())
			abort();
		o->value = i;
		push(o);
	}
	pthread_join(t, NULL);
	truth("push", "pop", N_ITEMS);
	return checked(N_ITEMS);
}
