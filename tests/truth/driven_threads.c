/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of a driven program (plant.h): mutexes, condition variables, creation, join and sleep in the order of the
 * threads' own clocks, on as many processors as there are threads. One thread runs at a time. A thread that is about to
 * touch what others may touch lets those whose clocks are earlier go first, so each sees what threads did before its
 * time, and nothing that they do later; that holds for programs which share nothing but under locks. Locks are given in
 * the order of arrival. What the C library would do is not asked: pthread_mutex_t and pthread_cond_t stay as they are.
 *
 * In a library of its own, between vprof's and the C library (measure_coverage), so that vprof's wrappers find it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define LOCKS_MAX 64

extern __thread uint64_t plant_driven_ns; /* of the calling thread; 0: the program has not started */
extern double plant_ticks_per_ns;

enum state { FREE, READY, BLOCKED, OVER };

struct thread {
	enum state state;
	uint64_t now;
	uint64_t order;	   /* of arrival where it is blocked */
	const void *on;	   /* a mutex, a condition variable or a thread */
	const void *mutex; /* to take again after a condition variable */
	uint32_t may_run;
	pthread_t id;
	void *(*run)(void *);
	void *arg;
};

struct lock {
	const void *mutex;
	struct thread *owner;
};

static struct thread threads[THREADS_MAX];
static struct lock locks[LOCKS_MAX];
static uint64_t arrivals;
static __thread struct thread *self;

static _Noreturn void give_up(const char *why)
{
	fprintf(stderr, "driven_threads: %s\n", why);
	abort();
}

static struct thread *new_thread(void)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (threads[i].state == FREE) {
			threads[i] = (struct thread){ .state = READY, .now = plant_driven_ns };
			return &threads[i];
		}
	give_up("too many threads");
}

static struct thread *earliest(void)
{
	struct thread *first = NULL;

	for (int i = 0; i < THREADS_MAX; i++)
		if (threads[i].state == READY && (!first || threads[i].now < first->now))
			first = &threads[i];
	return first;
}

static void let_run(struct thread *t)
{
	__atomic_store_n(&t->may_run, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &t->may_run, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_turn(void)
{
	while (!__atomic_exchange_n(&self->may_run, 0, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &self->may_run, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	plant_driven_ns = self->now;
}

/* The earliest thread runs on: perhaps the calling one. */
static void give_way(void)
{
	struct thread *next = earliest();

	if (!next)
		give_up("all threads wait");
	if (next == self) {
		plant_driven_ns = self->now;
		return;
	}
	let_run(next);
	await_turn();
}

static int is_over(void)
{
	return !plant_driven_ns || (self && self->state == OVER);
}

/* What follows happens after all that others do before this thread's time. */
static void come_in_turn(void)
{
	if (!self)
		self = new_thread();
	if (self->state == OVER)
		give_up("what a thread does after its end is not driven");
	self->now = plant_driven_ns;
	give_way();
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	double ns = (double)wanted->tv_sec * 1e9 + (double)wanted->tv_nsec;

	(void)left;
	plant_driven_ns += (uint64_t)(ns * plant_ticks_per_ns);
	come_in_turn();
	return 0;
}

static void block(const void *on)
{
	self->state = BLOCKED;
	self->on = on;
	self->order = ++arrivals;
	give_way();
}

static void wake(struct thread *t)
{
	t->state = READY;
	t->on = NULL;
	if (t->now < plant_driven_ns)
		t->now = plant_driven_ns;
}

static struct thread *first_on(const void *on)
{
	struct thread *first = NULL;

	for (int i = 0; i < THREADS_MAX; i++)
		if (threads[i].state == BLOCKED && threads[i].on == on && (!first || threads[i].order < first->order))
			first = &threads[i];
	return first;
}

static struct lock *lock_of(const void *mutex)
{
	for (int i = 0; i < LOCKS_MAX; i++)
		if (!locks[i].mutex || locks[i].mutex == mutex) {
			locks[i].mutex = mutex;
			return &locks[i];
		}
	give_up("too many locks");
}

static void release(struct lock *l)
{
	l->owner = first_on(l->mutex);
	if (l->owner)
		wake(l->owner);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	struct lock *l;

	if (is_over())
		return 0; /* before the program's first line, or after the thread's last one */
	come_in_turn();
	l = lock_of(m);
	if (!l->owner)
		l->owner = self;
	else
		block(m);
	return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	struct lock *l;

	if (is_over())
		return 0;
	come_in_turn();
	l = lock_of(m);
	if (l->owner)
		return EBUSY;
	l->owner = self;
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (is_over())
		return 0;
	come_in_turn();
	release(lock_of(m));
	return 0;
}

/* The condition variable's functions have versions in the C library, and are looked up with them. */
int driven_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int driven_cond_signal(pthread_cond_t *c);
int driven_cond_broadcast(pthread_cond_t *c);
int driven_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
#ifdef __x86_64__
#define COND_VERSION "@@GLIBC_2.3.2"
#else
#define COND_VERSION "@@GLIBC_2.17"
#endif
__asm__(".symver driven_cond_wait, pthread_cond_wait" COND_VERSION);
__asm__(".symver driven_cond_timedwait, pthread_cond_timedwait" COND_VERSION);
__asm__(".symver driven_cond_signal, pthread_cond_signal" COND_VERSION);
__asm__(".symver driven_cond_broadcast, pthread_cond_broadcast" COND_VERSION);

int driven_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	come_in_turn();
	release(lock_of(m));
	self->mutex = m;
	block(c);
	return 0;
}

static int signal_one(pthread_cond_t *c)
{
	struct thread *t = first_on(c);
	struct lock *l;

	if (!t)
		return 0;
	l = lock_of(t->mutex);
	wake(t);
	if (!l->owner) {
		l->owner = t;
	} else {
		t->state = BLOCKED;
		t->on = t->mutex;
		t->order = ++arrivals;
	}
	return 1;
}

int driven_cond_signal(pthread_cond_t *c)
{
	come_in_turn();
	signal_one(c);
	return 0;
}

int driven_cond_broadcast(pthread_cond_t *c)
{
	come_in_turn();
	while (signal_one(c))
		;
	return 0;
}

static void *run_thread(void *arg)
{
	void *result;

	self = arg;
	await_turn();
	result = self->run(self->arg);
	self->now = plant_driven_ns;
	give_way();
	self->state = OVER;
	for (struct thread *t; (t = first_on(self));)
		wake(t);
	if (!earliest())
		give_up("all threads wait");
	let_run(earliest());
	return result; /* what the thread's destructors lock is in nobody's way any more */
}

/* What no driven program uses: the real ones would exclude nobody. */
#define NOT_DRIVEN(name, ...)                                                                                          \
	int name(__VA_ARGS__)                                                                                          \
	{                                                                                                              \
		give_up(#name " is not driven");                                                                       \
	}
NOT_DRIVEN(pthread_mutex_timedlock, pthread_mutex_t *m, const struct timespec *until)
NOT_DRIVEN(pthread_rwlock_rdlock, pthread_rwlock_t *l)
NOT_DRIVEN(pthread_rwlock_wrlock, pthread_rwlock_t *l)
NOT_DRIVEN(pthread_barrier_wait, pthread_barrier_t *b)
NOT_DRIVEN(pthread_spin_lock, pthread_spinlock_t *l)
NOT_DRIVEN(sem_wait, sem_t *s)
NOT_DRIVEN(sem_timedwait, sem_t *s, const struct timespec *until)
NOT_DRIVEN(driven_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
	struct thread *t;
	int error;

	come_in_turn();
	t = new_thread();
	t->run = run;
	t->arg = arg;
	error = real(&t->id, attr, run_thread, t);
	if (error)
		t->state = FREE;
	*id = t->id;
	return error;
}

int pthread_join(pthread_t id, void **result)
{
	int (*real)(pthread_t, void **) = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_join");
	struct thread *t = threads;
	int error;

	while (t < threads + THREADS_MAX && (t->state == FREE || t->id != id || t == self))
		t++;
	if (t == threads + THREADS_MAX)
		return real(id, result);
	come_in_turn();
	if (t->state != OVER)
		block(t);
	error = real(id, result);
	t->state = FREE;
	return error;
}
