/* SPDX-License-Identifier: Apache-2.0 */
/* C11's mutexes and condition variables, which are POSIX's under other names; glibc's own would bypass the
 * wrappers. */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

#include <threads.h>

static int c11_result(int result)
{
	switch (result) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

RT_EXPORT int mtx_lock(mtx_t *m)
{
	return c11_result(pthread_mutex_lock((pthread_mutex_t *)m));
}

RT_EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
	return c11_result(pthread_mutex_timedlock((pthread_mutex_t *)m, until));
}

RT_EXPORT int mtx_unlock(mtx_t *m)
{
	return c11_result(pthread_mutex_unlock((pthread_mutex_t *)m));
}

RT_EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return c11_result(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}

RT_EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until)
{
	return c11_result(pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, until));
}

RT_EXPORT int cnd_signal(cnd_t *c)
{
	return c11_result(pthread_cond_signal((pthread_cond_t *)c));
}

RT_EXPORT int cnd_broadcast(cnd_t *c)
{
	return c11_result(pthread_cond_broadcast((pthread_cond_t *)c));
}

RT_EXPORT void call_once(once_flag *flag, void (*init)(void))
{
	pthread_once((pthread_once_t *)flag, init);
}
