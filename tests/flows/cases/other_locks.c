/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same list under other locks: read-write, spin, robust, recursive, C11, timed, and a spin lock of its own. */
#include "flow_case.h"

#include <semaphore.h>
#include <threads.h>

static struct item *list;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t robust, recursive;
static mtx_t c11;
static atomic_int own;
static sem_t filled;
static int kind;

static inline void push(struct item *item)
{
	item->next = list;
	list = item;
}

static inline struct item *pop(void)
{
	struct item *item = list;

	list = item->next;
	return item;
}

#define KIND(name, lock, unlock)                                                                                       \
	static NOINLINE void name##_push(struct item *item)                                                            \
	{                                                                                                              \
		lock;                                                                                                  \
		push(item);                                                                                            \
		unlock;                                                                                                \
	}                                                                                                              \
	static NOINLINE struct item *name##_pop(void)                                                                  \
	{                                                                                                              \
		struct item *item;                                                                                     \
		lock;                                                                                                  \
		item = pop();                                                                                          \
		unlock;                                                                                                \
		return item;                                                                                           \
	}

static inline void own_lock(void)
{
	while (atomic_exchange_explicit(&own, 1, memory_order_acquire))
		usleep(1);
}

static const struct timespec late = { INT32_MAX, 0 };

KIND(rwlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
KIND(spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
KIND(robust, pthread_mutex_timedlock(&robust, &late), pthread_mutex_unlock(&robust))
KIND(recursive, pthread_mutex_lock(&recursive); pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive);
     pthread_mutex_unlock(&recursive))
KIND(c11, mtx_lock(&c11), mtx_unlock(&c11))
KIND(own, own_lock(), atomic_store_explicit(&own, 0, memory_order_release))

static void (*const pushes[])(struct item *) = {
	rwlock_push, spin_push, robust_push, recursive_push, c11_push, own_push
};
static struct item *(*const pops[])(void) = { rwlock_pop, spin_pop, robust_pop, recursive_pop, c11_pop, own_pop };

static void *consumer(void *arg)
{
	for (unsigned i = 0; i < N_ITEMS; i++) {
		struct item *item;

		while (sem_wait(&filled))
			;
		item = pops[kind]();
		item_use(item);
		free(item);
	}
	return arg;
}

static void make_locks(void)
{
	pthread_mutexattr_t a;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &a);
	mtx_init(&c11, mtx_plain);
	sem_init(&filled, 0, 0);
}

int main(void)
{
	static const char *const names[] = { "rwlock", "spin", "robust", "recursive", "c11", "own" };

	make_locks();
	for (kind = 0; kind < 6; kind++) {
		char from[32], to[32];
		pthread_t t = start(consumer);

		atomic_store(&sum, 0);
		for (unsigned i = 1; i <= N_ITEMS; i++) {
			pushes[kind](item_new(i));
			sem_post(&filled);
		}
		pthread_join(t, NULL);
		snprintf(from, sizeof from, "%s_push", names[kind]);
		snprintf(to, sizeof to, "%s_pop", names[kind]);
		truth(from, to, N_ITEMS);
		if (checked(N_ITEMS))
			return 1;
	}
	return 0;
}
