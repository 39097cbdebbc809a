/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: who created whom, joins, and exits. A new thread finds its token in a table, since nothing may be
 * allocated. */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

#include <threads.h>

#define N_CREATIONS 256

struct creation {
	_Atomic int taken;
	void *(*run)(void *);
	int (*c11_run)(void *);
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
	rt_attach_new(c.token);
	return c.run(c.arg);
}

/* Null when dormant or when the table is full; then the thread attaches at its first record. */
static struct creation *creation_begin(void *arg)
{
	struct rt_thread *th = rt_active() ? rt_thread() : NULL;
	struct creation *c = NULL;
	struct vp_unit units[2];

	for (int i = 0; th && !c && i < N_CREATIONS; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&creations[i].taken, &none, 1))
			c = &creations[i];
	}
	if (!c)
		return NULL;
	c->arg = arg;
	c->token = rt_token();
	units[0] = (struct vp_unit){ rt_now(), VP_W(VP_KIND_CREATE, 0) };
	units[1] = (struct vp_unit){ c->token, 0 };
	rt_write(th, units, 2);
	return c;
}

void rt_creations_forget(void)
{
	for (int i = 0; i < N_CREATIONS; i++)
		atomic_store_explicit(&creations[i].taken, 0, memory_order_relaxed);
}

RT_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	struct creation *c = creation_begin(arg);
	int result;

	if (!c)
		return REAL(pthread_create)(id, attr, run, arg);
	c->run = run;
	result = REAL(pthread_create)(id, attr, thread_run, c);
	if (result)
		atomic_store_explicit(&c->taken, 0, memory_order_release);
	return result;
}

/* Joining a thread that has ended takes less than RT_ANNOTATED_NS: that is no wait. */
#define JOIN(id, join, call, failed)                                                                                   \
	do {                                                                                                           \
		struct rt_wait w_;                                                                                     \
		int r_;                                                                                                \
		if (!rt_active())                                                                                      \
			return join;                                                                                   \
		rt_wait_begin(&w_, (const void *)(uintptr_t)(id), false);                                              \
		pthread_cleanup_push(rt_wait_cancelled, &w_);                                                          \
		r_ = join;                                                                                             \
		pthread_cleanup_pop(0);                                                                                \
		if (rt_now() - w_.start >= rt_process.annotated_ticks)                                                 \
			rt_wait_end(&w_, VP_WAIT_JOIN, failed, call, false);                                           \
		else                                                                                                   \
			rt_wait_leave(&w_);                                                                            \
		return r_;                                                                                             \
	} while (0)

RT_NEXT(pthread_timedjoin_np);
RT_NEXT(pthread_clockjoin_np);
RT_NEXT(thrd_create);
RT_NEXT(thrd_join);

RT_EXPORT int pthread_join(pthread_t id, void **value)
{
	JOIN(id, REAL(pthread_join)(id, value), VP_CALL_JOIN, r_);
}

RT_EXPORT int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *until)
{
	JOIN(id, REAL(pthread_timedjoin_np)(id, value, until), VP_CALL_JOIN, r_);
}

RT_EXPORT int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock, const struct timespec *until)
{
	JOIN(id, REAL(pthread_clockjoin_np)(id, value, clock, until), VP_CALL_JOIN, r_);
}

/* C11. glibc stores the results of these threads differently, so its own function must create them. */

static int c11_run(void *arg)
{
	struct creation c = *(struct creation *)arg;

	atomic_store_explicit(&((struct creation *)arg)->taken, 0, memory_order_release);
	rt_attach_new(c.token);
	return c.c11_run(c.arg);
}

RT_EXPORT int thrd_create(thrd_t *id, thrd_start_t run, void *arg)
{
	struct creation *c = creation_begin(arg);
	int result;

	if (!c)
		return REAL(thrd_create)(id, run, arg);
	c->c11_run = run;
	result = REAL(thrd_create)(id, c11_run, c);
	if (result != thrd_success)
		atomic_store_explicit(&c->taken, 0, memory_order_release);
	return result;
}

RT_EXPORT int thrd_join(thrd_t id, int *value)
{
	JOIN(id, REAL(thrd_join)(id, value), VP_CALL_THRD_JOIN, r_ == thrd_success ? 0 : EINVAL);
}

/* A joiner that arrives after this hardly has to wait. */
void rt_thread_exit(struct rt_thread *th)
{
	uint64_t self = (uint64_t)(uintptr_t)pthread_self();
	uint64_t slot = atomic_load(rt_slot(self, false));
	struct vp_unit left;

	rt_wake_record(th, VP_WAIT_JOIN, VP_FLAG_ALL, self, slot, slot, rt_now_fenced());
	left = (struct vp_unit){ rt_now(), VP_W(VP_KIND_EXIT, 0) };
	rt_write(th, &left, 1);
}
