/* SPDX-License-Identifier: Apache-2.0 */
/* Wake edges: the ticket protocol of docs/design/wake-edges.md around libc's locks, and thread creation.
 *
 * Without contention a lock is libc's trylock, an unlock two loads of a slot around libc's unlock; nothing is
 * recorded. An object's memory is not read after its release: it may be gone.
 *
 * A late release (waiters arrived while it ran, none was seen before) carries a time taken after it.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <pthread.h>
#include <semaphore.h>

#if defined(__x86_64__)
#define COND_VERSION "GLIBC_2.3.2" /* the old pthread_cond_t has the same names */
#else
#define COND_VERSION NULL
#endif
#define MUTEX_SHARED 128	    /* PTHREAD_MUTEX_PSHARED_BIT of glibc */
#define N_CREATIONS 256

_Atomic uint64_t *rt_slot(uint64_t object, bool shared)
{
	uint64_t key = shared ? object & 4095u : object ^ (uint64_t)rt_process.seq << 48;

	return &rt_process.slots[key * UINT64_C(0x9e3779b97f4a7c15) >> rt_process.slot_shift];
}

uint32_t rt_arrive(_Atomic uint64_t *slot)
{
	return (uint32_t)(VP_SLOT_ARRIVALS(atomic_fetch_add(slot, VP_SLOT_ARRIVE)) + 1);
}

void rt_wait_record(struct rt_thread *th, unsigned wait, unsigned flags, uint64_t object, uint32_t ticket,
		    uint64_t start, uint64_t end, uint64_t result)
{
	struct vp_unit units[3] = {{start, VP_W(VP_KIND_WAIT, wait | flags << 8)}, {object, ticket}, {end, result}};

	rt_stack(th, VP_STACK_WAIT, NULL);
	rt_write(th, units, 3);
}

void rt_wake_record(struct rt_thread *th, unsigned wait, unsigned flags, uint64_t object, uint64_t before,
		    uint64_t after, uint64_t t)
{
	struct vp_unit units[2] = {{t, VP_W(VP_KIND_WAKE, wait | flags << 8)},
				   {object, (uint32_t)VP_SLOT_ARRIVALS(before) |
						    (uint64_t)(uint32_t)VP_SLOT_ARRIVALS(after) << 32}};

	rt_stack(th, VP_STACK_WAKE, NULL);
	rt_write(th, units, 2);
}

/* One wait, from arrival to record. */

struct wait {
	_Atomic uint64_t *slot;
	uint64_t object, start;
	uint32_t ticket;
	bool shared;
};

static void wait_begin(struct wait *w, const void *object, bool shared)
{
	w->object = (uint64_t)(uintptr_t)object;
	w->shared = shared;
	w->slot = rt_slot(w->object, shared);
	w->start = rt_now();
	w->ticket = rt_arrive(w->slot);
}

static void wait_cancel(struct wait *w)
{
	rt_leave_slot(w->slot);
}

static void wait_end(struct wait *w, unsigned wait, int result, enum vp_call call)
{
	uint64_t end = rt_now_fenced();
	unsigned flags = w->shared ? VP_FLAG_SHARED : 0;
	int saved = errno;
	struct rt_thread *th = rt_thread();

	rt_leave_slot(w->slot);
	if (result == ETIMEDOUT)
		flags |= VP_FLAG_TIMEOUT;
	else if (result && result != EOWNERDEAD)
		flags |= VP_FLAG_FAILED;
	if (th)
		rt_wait_record(th, wait, flags, w->object, w->ticket, w->start, end, call);
	errno = saved;
}

static void wait_cancelled(void *arg)
{
	wait_cancel(arg);
}

/* One release. */

struct release {
	_Atomic uint64_t *slot;
	uint64_t object, before, t; /* t: 0 when nobody waited */
	bool shared;
};

static inline void release_begin(struct release *r, const void *object, bool shared)
{
	r->object = (uint64_t)(uintptr_t)object;
	r->shared = shared;
	r->slot = rt_slot(r->object, shared);
	r->before = atomic_load_explicit(r->slot, memory_order_acquire);
	r->t = RT_UNLIKELY(VP_SLOT_WAITING(r->before)) ? rt_now_fenced() : 0;
}

static __attribute__((noinline)) void release_record(const struct release *r, uint64_t after, unsigned wait,
						     unsigned flags)
{
	uint64_t t = r->t ? r->t : rt_now_fenced();
	int saved = errno;
	struct rt_thread *th = rt_thread();

	flags |= (r->shared ? VP_FLAG_SHARED : 0) | (r->t ? 0 : VP_FLAG_LATE);
	if (th)
		rt_wake_record(th, wait, flags, r->object, r->before, after, t);
	errno = saved;
}

static inline void release_end(const struct release *r, unsigned wait, unsigned flags)
{
	uint64_t after = atomic_load_explicit(r->slot, memory_order_acquire);

	if (RT_UNLIKELY(r->t || VP_SLOT_ARRIVALS(after) != VP_SLOT_ARRIVALS(r->before)))
		release_record(r, after, wait, flags);
}

/* Mutexes. */

static bool mutex_shared(const pthread_mutex_t *m)
{
	return (m->__data.__kind & MUTEX_SHARED) != 0;
}

RT_NEXT(pthread_mutex_trylock);
RT_NEXT(pthread_mutex_lock);
RT_NEXT(pthread_mutex_timedlock);
RT_NEXT(pthread_mutex_clocklock);
RT_NEXT(pthread_mutex_unlock);

/* Tries, arrives, tries again; really waits only then. `lock` is the real wait. */
#define TICKET_LOCK(object, shared, try, lock, kind, call)                                                   \
	do {                                                                                                 \
		struct wait w_;                                                                              \
		int r_ = try;                                                                                \
		if (RT_LIKELY(r_ != EBUSY))                                                                  \
			return r_;                                                                           \
		wait_begin(&w_, object, shared);                                                             \
		r_ = try;                                                                                    \
		if (r_ != EBUSY) {                                                                           \
			wait_cancel(&w_);                                                                    \
			return r_;                                                                           \
		}                                                                                            \
		r_ = lock;                                                                                   \
		wait_end(&w_, kind, r_, call);                                                               \
		return r_;                                                                                   \
	} while (0)

RT_EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (!rt_active())
		return REAL(pthread_mutex_lock)(m);
	TICKET_LOCK(m, mutex_shared(m), REAL(pthread_mutex_trylock)(m), REAL(pthread_mutex_lock)(m), VP_WAIT_MUTEX,
		    VP_CALL_MUTEX_LOCK);
}

RT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_mutex_timedlock)(m, until);
	TICKET_LOCK(m, mutex_shared(m), REAL(pthread_mutex_trylock)(m), REAL(pthread_mutex_timedlock)(m, until),
		    VP_WAIT_MUTEX, VP_CALL_MUTEX_TIMEDLOCK);
}

RT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_mutex_clocklock)(m, clock, until);
	TICKET_LOCK(m, mutex_shared(m), REAL(pthread_mutex_trylock)(m),
		    REAL(pthread_mutex_clocklock)(m, clock, until), VP_WAIT_MUTEX, VP_CALL_MUTEX_TIMEDLOCK);
}

RT_EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct release r;
	int result;

	if (!rt_active())
		return REAL(pthread_mutex_unlock)(m);
	release_begin(&r, m, mutex_shared(m));
	result = REAL(pthread_mutex_unlock)(m);
	release_end(&r, VP_WAIT_MUTEX, 0);
	return result;
}

/* Read-write locks. */

static bool rwlock_shared(const pthread_rwlock_t *l)
{
	return l->__data.__shared != 0;
}

RT_NEXT(pthread_rwlock_tryrdlock);
RT_NEXT(pthread_rwlock_rdlock);
RT_NEXT(pthread_rwlock_timedrdlock);
RT_NEXT(pthread_rwlock_clockrdlock);
RT_NEXT(pthread_rwlock_trywrlock);
RT_NEXT(pthread_rwlock_wrlock);
RT_NEXT(pthread_rwlock_timedwrlock);
RT_NEXT(pthread_rwlock_clockwrlock);
RT_NEXT(pthread_rwlock_unlock);

RT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	if (!rt_active())
		return REAL(pthread_rwlock_rdlock)(l);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_tryrdlock)(l), REAL(pthread_rwlock_rdlock)(l),
		    VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK);
}

RT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_rwlock_timedrdlock)(l, until);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_tryrdlock)(l),
		    REAL(pthread_rwlock_timedrdlock)(l, until), VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK);
}

RT_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_rwlock_clockrdlock)(l, clock, until);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_tryrdlock)(l),
		    REAL(pthread_rwlock_clockrdlock)(l, clock, until), VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK);
}

RT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	if (!rt_active())
		return REAL(pthread_rwlock_wrlock)(l);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_trywrlock)(l), REAL(pthread_rwlock_wrlock)(l),
		    VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK);
}

RT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_rwlock_timedwrlock)(l, until);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_trywrlock)(l),
		    REAL(pthread_rwlock_timedwrlock)(l, until), VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK);
}

RT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_rwlock_clockwrlock)(l, clock, until);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_trywrlock)(l),
		    REAL(pthread_rwlock_clockwrlock)(l, clock, until), VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK);
}

/* Every unlock counts, of readers too: the last before a writer's turn is the one that woke it. */
RT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct release r;
	int result;

	if (!rt_active())
		return REAL(pthread_rwlock_unlock)(l);
	release_begin(&r, l, rwlock_shared(l));
	result = REAL(pthread_rwlock_unlock)(l);
	release_end(&r, VP_WAIT_RWLOCK_WRITE, 0);
	return result;
}

/* Condition variables. libc unlocks and relocks the mutex inside: entry is a release of it. */

RT_NEXT_VERSION(pthread_cond_wait, COND_VERSION);
RT_NEXT_VERSION(pthread_cond_timedwait, COND_VERSION);
RT_NEXT(pthread_cond_clockwait);
RT_NEXT_VERSION(pthread_cond_signal, COND_VERSION);
RT_NEXT_VERSION(pthread_cond_broadcast, COND_VERSION);

static bool cond_shared(const pthread_cond_t *c)
{
	return c->__data.__wrefs & 1;
}

static void cond_release_mutex(pthread_mutex_t *m)
{
	struct release r;

	release_begin(&r, m, mutex_shared(m));
	if (r.t)
		release_record(&r, r.before, VP_WAIT_MUTEX, 0);
}

#define COND_WAIT(c, m, real, call)                                                                          \
	do {                                                                                                 \
		struct wait w_;                                                                              \
		int r_;                                                                                      \
		cond_release_mutex(m);                                                                       \
		wait_begin(&w_, c, cond_shared(c));                                                          \
		pthread_cleanup_push(wait_cancelled, &w_);                                                   \
		r_ = real;                                                                                   \
		pthread_cleanup_pop(0);                                                                      \
		wait_end(&w_, VP_WAIT_COND, r_, call);                                                       \
		return r_;                                                                                   \
	} while (0)

RT_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (!rt_active())
		return REAL(pthread_cond_wait)(c, m);
	COND_WAIT(c, m, REAL(pthread_cond_wait)(c, m), VP_CALL_COND_WAIT);
}

RT_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_cond_timedwait)(c, m, until);
	COND_WAIT(c, m, REAL(pthread_cond_timedwait)(c, m, until), VP_CALL_COND_TIMEDWAIT);
}

RT_EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				     const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_cond_clockwait)(c, m, clock, until);
	COND_WAIT(c, m, REAL(pthread_cond_clockwait)(c, m, clock, until), VP_CALL_COND_TIMEDWAIT);
}

RT_EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	struct release r;
	int result;

	if (!rt_active())
		return REAL(pthread_cond_signal)(c);
	release_begin(&r, c, cond_shared(c));
	result = REAL(pthread_cond_signal)(c);
	release_end(&r, VP_WAIT_COND, 0);
	return result;
}

RT_EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	struct release r;
	int result;

	if (!rt_active())
		return REAL(pthread_cond_broadcast)(c);
	release_begin(&r, c, cond_shared(c));
	result = REAL(pthread_cond_broadcast)(c);
	release_end(&r, VP_WAIT_COND, VP_FLAG_ALL);
	return result;
}

/* Barriers. glibc calls the last arriver the serial thread: it never waits and wakes all others. */

RT_NEXT(pthread_barrier_wait);

RT_EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct release r;
	struct wait w;
	bool shared;
	int result;

	if (!rt_active())
		return REAL(pthread_barrier_wait)(b);
	shared = ((const int *)b)[3] != 0; /* struct pthread_barrier: in, current_round, count, shared, out */
	release_begin(&r, b, shared);
	if (!r.t)
		r.t = rt_now_fenced();
	wait_begin(&w, b, shared);
	result = REAL(pthread_barrier_wait)(b);
	if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
		wait_cancel(&w);
		release_end(&r, VP_WAIT_BARRIER, VP_FLAG_ALL);
	} else {
		wait_end(&w, VP_WAIT_BARRIER, result, VP_CALL_BARRIER_WAIT);
	}
	return result;
}

/* Semaphores. */

RT_NEXT(sem_trywait);
RT_NEXT(sem_wait);
RT_NEXT(sem_timedwait);
RT_NEXT(sem_clockwait);
RT_NEXT(sem_post);

static bool sem_shared(const sem_t *s)
{
	return ((const int *)s)[2] != 0; /* struct new_sem: value and waiters, private, pad */
}

/* As libc's trylock: EBUSY when a wait is due, else 0; errno as before. */
static int sem_try(sem_t *s)
{
	int saved = errno;

	if (REAL(sem_trywait)(s) == 0)
		return 0;
	errno = saved;
	return EBUSY;
}

#define SEM_WAIT(s, real, call)                                                                              \
	do {                                                                                                 \
		struct wait w_;                                                                              \
		int r_;                                                                                      \
		if (RT_LIKELY(sem_try(s) == 0))                                                              \
			return 0;                                                                            \
		wait_begin(&w_, s, sem_shared(s));                                                           \
		if (sem_try(s) == 0) {                                                                       \
			wait_cancel(&w_);                                                                    \
			return 0;                                                                            \
		}                                                                                            \
		pthread_cleanup_push(wait_cancelled, &w_);                                                   \
		r_ = real;                                                                                   \
		pthread_cleanup_pop(0);                                                                      \
		wait_end(&w_, VP_WAIT_SEMAPHORE, r_ ? errno : 0, call);                                      \
		return r_;                                                                                   \
	} while (0)

RT_EXPORT int sem_wait(sem_t *s)
{
	if (!rt_active())
		return REAL(sem_wait)(s);
	SEM_WAIT(s, REAL(sem_wait)(s), VP_CALL_SEM_WAIT);
}

RT_EXPORT int sem_timedwait(sem_t *s, const struct timespec *until)
{
	if (!rt_active())
		return REAL(sem_timedwait)(s, until);
	SEM_WAIT(s, REAL(sem_timedwait)(s, until), VP_CALL_SEM_TIMEDWAIT);
}

RT_EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	if (!rt_active())
		return REAL(sem_clockwait)(s, clock, until);
	SEM_WAIT(s, REAL(sem_clockwait)(s, clock, until), VP_CALL_SEM_TIMEDWAIT);
}

RT_EXPORT int sem_post(sem_t *s)
{
	struct release r;
	int result;

	if (!rt_active())
		return REAL(sem_post)(s);
	release_begin(&r, s, sem_shared(s));
	result = REAL(sem_post)(s);
	release_end(&r, VP_WAIT_SEMAPHORE, 0);
	return result;
}

/* Threads. A new thread learns its token through a table: nothing may be allocated. */

struct creation {
	_Atomic int taken;
	void *(*run)(void *);
	void *arg;
	uint64_t token;
};
static struct creation creations[N_CREATIONS];

RT_NEXT(pthread_create);
RT_NEXT(pthread_join);

static void *thread_run(void *arg)
{
	struct creation c = *(struct creation *)arg;

	atomic_store_explicit(&((struct creation *)arg)->taken, 0, memory_order_release);
	rt_attach(c.token);
	return c.run(c.arg);
}

RT_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	struct rt_thread *th = rt_active() ? rt_thread() : NULL;
	struct creation *c = NULL;
	struct vp_unit units[2];
	int result;

	for (int i = 0; th && !c && i < N_CREATIONS; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&creations[i].taken, &none, 1))
			c = &creations[i];
	}
	if (!c) /* dormant, or many creations under way: the thread attaches at its first record */
		return REAL(pthread_create)(id, attr, run, arg);
	c->run = run;
	c->arg = arg;
	c->token = rt_token();
	units[0] = (struct vp_unit){rt_now(), VP_W(VP_KIND_CREATE, 0)};
	units[1] = (struct vp_unit){c->token, 0};
	rt_write(th, units, 2);
	result = REAL(pthread_create)(id, attr, thread_run, c);
	if (result)
		atomic_store_explicit(&c->taken, 0, memory_order_release);
	return result;
}

RT_EXPORT int pthread_join(pthread_t id, void **value)
{
	struct wait w;
	int result;

	if (!rt_active())
		return REAL(pthread_join)(id, value);
	wait_begin(&w, (const void *)(uintptr_t)id, false);
	pthread_cleanup_push(wait_cancelled, &w);
	result = REAL(pthread_join)(id, value);
	pthread_cleanup_pop(0);
	wait_end(&w, VP_WAIT_JOIN, result, VP_CALL_JOIN);
	return result;
}

/* A joiner that arrives after this finds the thread all but gone. */
void rt_thread_exit(struct rt_thread *th)
{
	uint64_t self = (uint64_t)(uintptr_t)pthread_self();
	uint64_t slot = atomic_load(rt_slot(self, false));
	struct vp_unit left;

	rt_wake_record(th, VP_WAIT_JOIN, VP_FLAG_ALL, self, slot, slot, rt_now_fenced());
	left = (struct vp_unit){rt_now(), VP_W(VP_KIND_EXIT, 0)};
	rt_write(th, &left, 1);
}
