/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks. A wait's kind is that of the lock it asks for, a release's that of the lock it gives back. */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

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
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_tryrdlock)(l), REAL(pthread_rwlock_timedrdlock)(l, until),
		    VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK);
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
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_trywrlock)(l), REAL(pthread_rwlock_timedwrlock)(l, until),
		    VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK);
}

RT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until)
{
	if (!rt_active())
		return REAL(pthread_rwlock_clockwrlock)(l, clock, until);
	TICKET_LOCK(l, rwlock_shared(l), REAL(pthread_rwlock_trywrlock)(l),
		    REAL(pthread_rwlock_clockwrlock)(l, clock, until), VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK);
}

/* Every unlock counts, those of readers too: the last one before a writer's turn woke it. Readers release concurrently,
 * so their records carry the time after the release: of those with the same number the last let the writer in. */
RT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct rt_release r;
	bool writer;
	int result;

	if (!rt_active())
		return REAL(pthread_rwlock_unlock)(l);
	writer = l->__data.__cur_writer != 0;
	rt_release_begin(&r, l, rwlock_shared(l));
	r.seq = writer ? rt_seq_next(r.slot) : rt_seq(r.slot);
	result = REAL(pthread_rwlock_unlock)(l);
	if (writer) {
		rt_release_end(&r, VP_WAIT_RWLOCK_WRITE, 0);
	} else {
		uint64_t after;

		rt_fence();
		after = atomic_load_explicit(r.slot, memory_order_acquire);
		r.t = 0;
		if (VP_SLOT_WAITING(r.before) || VP_SLOT_ARRIVALS(after) != VP_SLOT_ARRIVALS(r.before))
			rt_release_record(&r, after, VP_WAIT_RWLOCK_READ, 0);
	}
	return result;
}
