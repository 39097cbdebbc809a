/* SPDX-License-Identifier: Apache-2.0 */
/* Where several threads wait together: condition variables, barriers and pthread_once. */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

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

/* The unlock happens inside libc, so waiters that arrive until then are not counted: they find the release's number.
 * LATE with equal arrivals marks such a release; its time is before the unlock nevertheless. */
RT_HOT static void cond_release_mutex(const pthread_mutex_t *m)
{
	struct rt_release r;

	if (rt_mutex_nested(m))
		return;
	rt_release_begin_lock(&r, m, rt_mutex_shared(m));
	if (!r.t)
		r.t = rt_now_fenced();
	rt_release_record(&r, r.before, VP_WAIT_MUTEX, VP_FLAG_LATE);
}

#define COND_WAIT(c, m, real, call)                                                                                    \
	do {                                                                                                           \
		struct rt_wait w_;                                                                                     \
		int r_;                                                                                                \
		cond_release_mutex(m);                                                                                 \
		rt_wait_begin(&w_, c, cond_shared(c));                                                                 \
		pthread_cleanup_push(rt_wait_cancelled, &w_);                                                          \
		r_ = real;                                                                                             \
		pthread_cleanup_pop(0);                                                                                \
		rt_wait_end(&w_, VP_WAIT_COND, r_, call, false);                                                       \
		return r_;                                                                                             \
	} while (0)

RT_HOT RT_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (!rt_active())
		return REAL(pthread_cond_wait)(c, m);
	COND_WAIT(c, m, REAL(pthread_cond_wait)(c, m), VP_CALL_COND_WAIT);
}

RT_HOT RT_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
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

RT_HOT RT_EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	struct rt_release r;
	int result;

	if (!rt_active())
		return REAL(pthread_cond_signal)(c);
	rt_release_begin(&r, c, cond_shared(c));
	result = REAL(pthread_cond_signal)(c);
	rt_release_end(&r, VP_WAIT_COND, 0);
	return result;
}

RT_EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	struct rt_release r;
	int result;

	if (!rt_active())
		return REAL(pthread_cond_broadcast)(c);
	rt_release_begin(&r, c, cond_shared(c));
	result = REAL(pthread_cond_broadcast)(c);
	rt_release_end(&r, VP_WAIT_COND, VP_FLAG_ALL);
	return result;
}

/* Barriers. glibc calls the last arriver the serial thread: it never waits and wakes all others. */

RT_NEXT(pthread_barrier_wait);

RT_EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct rt_release r;
	struct rt_wait w;
	bool shared;
	int result;

	if (!rt_active())
		return REAL(pthread_barrier_wait)(b);
	shared = ((const int *)b)[3] != 0; /* struct pthread_barrier: in, current_round, count, shared, out */
	rt_wait_begin(&w, b, shared);
	r = (struct rt_release){ .slot = w.slot,
				 .object = w.object,
				 .shared = shared,
				 .t = rt_now_fenced(),
				 /* of its own arrival: it tells which round */
				 .before = VP_SLOT_OF_ARRIVALS(w.ticket - 1) };
	result = REAL(pthread_barrier_wait)(b);
	if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
		rt_wait_leave(&w);
		rt_release_end(&r, VP_WAIT_BARRIER, VP_FLAG_ALL);
	} else {
		rt_wait_end(&w, VP_WAIT_BARRIER, result, VP_CALL_BARRIER_WAIT, false);
	}
	return result;
}

/* pthread_once: a thread that finds the initialization under way waits for it. */

struct once {
	void (*init)(void);
	struct rt_wait wait;
	uint64_t t; /* end of the initialization, 0: it was another thread's */
};
static __thread struct once *once_current __attribute__((tls_model("initial-exec")));

static void once_run(void)
{
	struct once *o = once_current; /* read before init, which may use pthread_once itself */

	rt_wait_leave(&o->wait); /* init may leave by an exception */
	o->init();
	o->t = rt_now_fenced();
}

RT_NEXT(pthread_once);

static bool once_done(const pthread_once_t *control)
{
	return __atomic_load_n(control, __ATOMIC_ACQUIRE) == 2; /* __PTHREAD_ONCE_DONE */
}

RT_EXPORT int pthread_once(pthread_once_t *control, void (*init)(void))
{
	struct once o = { .init = init };
	struct rt_release r = { .object = (uint64_t)(uintptr_t)control };
	int result;

	if (!rt_active() || once_done(control))
		return REAL(pthread_once)(control, init);
	r.before = atomic_load(rt_slot(r.object, false));
	rt_wait_begin(&o.wait, control, false);
	if (once_done(control)) {
		rt_wait_leave(&o.wait);
		return 0;
	}
	once_current = &o;
	result = REAL(pthread_once)(control, once_run);
	if (o.t) {
		uint64_t after;

		atomic_thread_fence(memory_order_seq_cst);
		after = atomic_load(o.wait.slot);
		r.t = o.t;
		if (VP_SLOT_WAITING(r.before) || VP_SLOT_ARRIVALS(after) - VP_SLOT_ARRIVALS(r.before) > 1)
			rt_release_record(&r, after, VP_WAIT_ONCE, VP_FLAG_ALL);
	} else {
		rt_wait_end(&o.wait, VP_WAIT_ONCE, result, VP_CALL_ONCE, false);
	}
	return result;
}
