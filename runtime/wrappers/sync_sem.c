/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores; named ones are in shared memory. */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

#include <semaphore.h>

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
static inline int sem_try(sem_t *s)
{
	int saved;

#if defined(__GLIBC__) && __SIZEOF_LONG__ == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* struct new_sem: the value in the low 32 bits, waiters above; what sem_trywait does, without its call. */
	_Atomic uint64_t *data = (_Atomic uint64_t *)(void *)s;
	uint64_t value = atomic_load_explicit(data, memory_order_relaxed);

	if ((uint32_t)value &&
	    atomic_compare_exchange_weak_explicit(data, &value, value - 1, memory_order_acquire, memory_order_relaxed))
		return 0;
#endif
	saved = errno;

	if (REAL(sem_trywait)(s) == 0)
		return 0;
	errno = saved;
	return EBUSY;
}

#define SEM_WAIT(s, real, call)                                                                                        \
	do {                                                                                                           \
		struct rt_wait w_;                                                                                     \
		int r_;                                                                                                \
		pthread_testcancel();                                                                                  \
		if (RT_LIKELY(sem_try(s) == 0))                                                                        \
			return 0;                                                                                      \
		rt_wait_begin(&w_, s, sem_shared(s));                                                                  \
		if (sem_try(s) == 0) {                                                                                 \
			rt_wait_leave(&w_);                                                                            \
			return 0;                                                                                      \
		}                                                                                                      \
		pthread_cleanup_push(rt_wait_cancelled, &w_);                                                          \
		r_ = real;                                                                                             \
		pthread_cleanup_pop(0);                                                                                \
		rt_wait_end(&w_, VP_WAIT_SEMAPHORE, r_ ? errno : 0, call, !r_);                                        \
		return r_;                                                                                             \
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

static __attribute__((noinline)) int sem_post_watched(sem_t *s)
{
	WATCHED_RELEASE(s, sem_shared(s), REAL(sem_post)(s), VP_WAIT_SEMAPHORE);
}

RT_EXPORT int sem_post(sem_t *s)
{
	if (!rt_active())
		return REAL(sem_post)(s);
	/* Numbered as if it were used as a lock; otherwise numbers may be lost. */
	TICKET_RELEASE(s, sem_shared(s), REAL(sem_post)(s), VP_WAIT_SEMAPHORE, sem_post_watched(s));
}
