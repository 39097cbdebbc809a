/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes of every kind and spin locks as waits and releases. Results are libc's, unchanged (EOWNERDEAD too). */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

RT_NEXT(pthread_mutex_trylock);
RT_NEXT(pthread_mutex_lock);
RT_NEXT(pthread_mutex_timedlock);
RT_NEXT(pthread_mutex_clocklock);
RT_NEXT(pthread_mutex_unlock);

/* Out of line, so that a free lock needs no stack frame for the wait. */
static __attribute__((noinline)) int mutex_wait(pthread_mutex_t *m)
{
	TICKET_WAIT(m, rt_mutex_shared(m), REAL(pthread_mutex_trylock)(m), REAL(pthread_mutex_lock)(m), VP_WAIT_MUTEX,
		    VP_CALL_MUTEX_LOCK);
}

RT_HOT RT_EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	int result;

	if (!rt_active() || (rt_alone() && !rt_mutex_shared(m)))
		return REAL(pthread_mutex_lock)(m);
	/* for the unlock: many locks' slots are not in the cache */
	__builtin_prefetch(rt_slot((uint64_t)(uintptr_t)m, false), 1);
	result = REAL(pthread_mutex_trylock)(m);
	return RT_LIKELY(result != EBUSY) ? result : mutex_wait(m);
}

RT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_mutex_timedlock)(m, until);
	TICKET_LOCK(m, rt_mutex_shared(m), REAL(pthread_mutex_trylock)(m), REAL(pthread_mutex_timedlock)(m, until),
		    VP_WAIT_MUTEX, VP_CALL_MUTEX_TIMEDLOCK);
}

RT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_mutex_clocklock)(m, clock, until);
	TICKET_LOCK(m, rt_mutex_shared(m), REAL(pthread_mutex_trylock)(m),
		    REAL(pthread_mutex_clocklock)(m, clock, until), VP_WAIT_MUTEX, VP_CALL_MUTEX_TIMEDLOCK);
}

static __attribute__((noinline)) int mutex_unlock_watched(pthread_mutex_t *m)
{
	WATCHED_RELEASE(m, rt_mutex_shared(m), REAL(pthread_mutex_unlock)(m), VP_WAIT_MUTEX);
}

RT_HOT RT_EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (!rt_active() || rt_mutex_nested(m) || (rt_alone() && !rt_mutex_shared(m)))
		return REAL(pthread_mutex_unlock)(m);
	TICKET_RELEASE(m, rt_mutex_shared(m), REAL(pthread_mutex_unlock)(m), VP_WAIT_MUTEX, mutex_unlock_watched(m));
}

/* Spin locks. Their unlock is a plain store, which our load of the slot must not overtake: either the release sees that
 * a waiter has arrived, or the waiter's second try finds the lock free. */

RT_NEXT(pthread_spin_trylock);
RT_NEXT(pthread_spin_lock);
RT_NEXT(pthread_spin_unlock);

RT_EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
	struct rt_wait w;
	int result;

	if (!rt_active())
		return REAL(pthread_spin_lock)(l);
	if (RT_LIKELY(REAL(pthread_spin_trylock)(l) == 0))
		return 0;
	rt_wait_begin(&w, (const void *)l, rt_address_shared((const void *)l));
	if (REAL(pthread_spin_trylock)(l) == 0) { /* its release did not see us */
		rt_wait_leave(&w);
		return 0;
	}
	result = REAL(pthread_spin_lock)(l);
	if (rt_now() - w.start >= rt_process.annotated_ticks)
		rt_wait_end(&w, VP_WAIT_SPIN, result, VP_CALL_SPIN_LOCK, true);
	else
		rt_wait_leave(&w);
	return result;
}

RT_EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
	struct rt_release r;
	int result;

	if (!rt_active())
		return REAL(pthread_spin_unlock)(l);
	rt_release_begin_lock(&r, (const void *)l, rt_address_shared((const void *)l));
	result = REAL(pthread_spin_unlock)(l);
	atomic_thread_fence(memory_order_seq_cst);
	rt_release_end(&r, VP_WAIT_SPIN, 0);
	return result;
}
