/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers: locks, whose sections are watched. A wait on a condition variable ends a section and begins another. */
#define _GNU_SOURCE
#include "runtime/flows/flow_next.h"
#include "runtime/flows/flow_runtime.h"

#include <pthread.h>
#include <string.h>
#include <threads.h>

#if defined(__x86_64__)
#define COND_VERSION "GLIBC_2.3.2" /* the old pthread_cond_t has the same names */
#else
#define COND_VERSION NULL
#endif
#define PC ((uintptr_t)__builtin_return_address(0))

void flow_acquired(const void *lock, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_thread();
	bool begins;

	if (!t || t->busy)
		return;
	t->busy = true;
	flow_watch_catch_up(t);
	if (!t->depth && t->n_records)
		flow_section_end(t, 0, 0); /* what an atomic load began */
	flow_give_up_full(t);
	flow_candidates_end(t, (uintptr_t)lock);
	begins = !t->depth;
	t->is_inner = t->depth && t->is_inner;
	if (t->depth && !flow_holds(t, (uintptr_t)lock)) {
		if (t->n_records)
			flow_nested(t, (uintptr_t)lock, false, pc, frame);
		else
			begins = t->is_inner = true; /* enough is known of the one that it lies in */
	}
	if (t->depth < (int)VPROF_FLOW_LOCKS)
		t->locks[t->depth] = (uintptr_t)lock;
	else
		flow_count(&flow_header->n_deep);
	t->depth++;
	if (begins)
		flow_section_begin(t, (uintptr_t)lock, 0, pc, frame);
	t->busy = false;
}

void flow_releasing(const void *lock, uintptr_t pc, uintptr_t frame)
{
	struct flow_thread *t = flow_self;
	int known, i;

	if (!t || t->busy || !t->depth)
		return;
	t->busy = true;
	flow_watch_catch_up(t);
	known = t->depth < (int)VPROF_FLOW_LOCKS ? t->depth : (int)VPROF_FLOW_LOCKS;
	for (i = known - 1; i >= 0 && t->locks[i] != (uintptr_t)lock; i--)
		;
	if (i >= 0 || t->depth > (int)VPROF_FLOW_LOCKS) { /* else it was acquired by a way that is not wrapped */
		if (i >= 0 && t->depth <= (int)VPROF_FLOW_LOCKS)
			memmove(&t->locks[i], &t->locks[i + 1], sizeof *t->locks * (size_t)(known - 1 - i));
		if (!--t->depth || (t->is_inner && t->n_records && t->records[0].a == (uintptr_t)lock &&
				    !flow_holds(t, (uintptr_t)lock)))
			flow_section_end(t, pc, frame);
		else if (i >= 0 && !flow_holds(t, (uintptr_t)lock))
			flow_nested(t, (uintptr_t)lock, true, pc, frame);
	}
	t->busy = false;
}

/* What is acquired again and again and never released is no lock, whatever its functions are called: it counts once. */
void flow_own_acquired(uintptr_t lock, uintptr_t pc)
{
	struct flow_thread *t = flow_self;

	if (t && flow_holds(t, lock))
		return;
	flow_acquired((const void *)lock, pc, FLOW_FRAME);
}

void flow_own_releasing(uintptr_t lock, uintptr_t pc)
{
	flow_releasing((const void *)lock, pc, FLOW_FRAME);
}

/* ---- mutexes ---- */

/* Robust mutexes are acquired with EOWNERDEAD, too. */
#define ACQUIRE(result, lock)                                                                                          \
	do {                                                                                                           \
		int r_ = result;                                                                                       \
		if (!r_ || r_ == 130)                                                                                  \
			flow_acquired(lock, PC, FLOW_FRAME);                                                           \
		return r_;                                                                                             \
	} while (0)

FLOW_EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	ACQUIRE(NEXT(pthread_mutex_lock)(m), m);
}

FLOW_EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	ACQUIRE(NEXT(pthread_mutex_trylock)(m), m);
}

FLOW_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	ACQUIRE(NEXT(pthread_mutex_timedlock)(m, until), m);
}

FLOW_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	ACQUIRE(NEXT(pthread_mutex_clocklock)(m, clock, until), m);
}

FLOW_EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	flow_releasing(m, PC, FLOW_FRAME);
	return NEXT(pthread_mutex_unlock)(m);
}

FLOW_EXPORT int mtx_lock(mtx_t *m)
{
	int r = NEXT(mtx_lock)(m);

	if (r == thrd_success)
		flow_acquired(m, PC, FLOW_FRAME);
	return r;
}

FLOW_EXPORT int mtx_trylock(mtx_t *m)
{
	int r = NEXT(mtx_trylock)(m);

	if (r == thrd_success)
		flow_acquired(m, PC, FLOW_FRAME);
	return r;
}

FLOW_EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
	int r = NEXT(mtx_timedlock)(m, until);

	if (r == thrd_success)
		flow_acquired(m, PC, FLOW_FRAME);
	return r;
}

FLOW_EXPORT int mtx_unlock(mtx_t *m)
{
	flow_releasing(m, PC, FLOW_FRAME);
	return NEXT(mtx_unlock)(m);
}

/* ---- condition variables ---- */

/* A thread that is cancelled within has the mutex again, but no section: its cleanup unlocks what was not acquired. */
#define COND_WAIT(m, real)                                                                                             \
	do {                                                                                                           \
		int r_;                                                                                                \
		flow_releasing(m, PC, FLOW_FRAME);                                                                     \
		r_ = real;                                                                                             \
		flow_acquired(m, PC, FLOW_FRAME);                                                                      \
		return r_;                                                                                             \
	} while (0)

FLOW_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	COND_WAIT(m, NEXT_VERSION(pthread_cond_wait, COND_VERSION)(c, m));
}

FLOW_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	COND_WAIT(m, NEXT_VERSION(pthread_cond_timedwait, COND_VERSION)(c, m, until));
}

FLOW_EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				       const struct timespec *until)
{
	COND_WAIT(m, NEXT(pthread_cond_clockwait)(c, m, clock, until));
}

FLOW_EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	COND_WAIT(m, NEXT(cnd_wait)(c, m));
}

FLOW_EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until)
{
	COND_WAIT(m, NEXT(cnd_timedwait)(c, m, until));
}

/* ---- read-write and spin locks ---- */

#define RWLOCK(name)                                                                                                   \
	FLOW_EXPORT int pthread_rwlock_##name(pthread_rwlock_t *l)                                                     \
	{                                                                                                              \
		ACQUIRE(NEXT(pthread_rwlock_##name)(l), l);                                                            \
	}
#define RWLOCK_TIMED(name)                                                                                             \
	FLOW_EXPORT int pthread_rwlock_##name(pthread_rwlock_t *l, const struct timespec *until)                       \
	{                                                                                                              \
		ACQUIRE(NEXT(pthread_rwlock_##name)(l, until), l);                                                     \
	}
#define RWLOCK_CLOCK(name)                                                                                             \
	FLOW_EXPORT int pthread_rwlock_##name(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until)      \
	{                                                                                                              \
		ACQUIRE(NEXT(pthread_rwlock_##name)(l, clock, until), l);                                              \
	}

RWLOCK(rdlock)
RWLOCK(wrlock)
RWLOCK(tryrdlock)
RWLOCK(trywrlock)
RWLOCK_TIMED(timedrdlock)
RWLOCK_TIMED(timedwrlock)
RWLOCK_CLOCK(clockrdlock)
RWLOCK_CLOCK(clockwrlock)

FLOW_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	flow_releasing(l, PC, FLOW_FRAME);
	return NEXT(pthread_rwlock_unlock)(l);
}

FLOW_EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
	ACQUIRE(NEXT(pthread_spin_lock)(l), (const void *)l);
}

FLOW_EXPORT int pthread_spin_trylock(pthread_spinlock_t *l)
{
	ACQUIRE(NEXT(pthread_spin_trylock)(l), (const void *)l);
}

FLOW_EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
	flow_releasing((const void *)l, PC, FLOW_FRAME);
	return NEXT(pthread_spin_unlock)(l);
}
