/* SPDX-License-Identifier: Apache-2.0 */
/* One wait and one release of the ticket protocol (docs/design/wake-edges.md), for the wrappers of each primitive.
 *
 * Without contention a lock is libc's trylock, an unlock two loads of a slot around libc's unlock and one store of the
 * release's number; nothing is recorded. An object is not read after its release: it may have been freed.
 *
 * A late release (waiters arrived while it ran, none was seen before) carries a time taken after it.
 */
#ifndef VPROF_RUNTIME_SYNC_H
#define VPROF_RUNTIME_SYNC_H

#include "runtime/runtime.h"

#include <pthread.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
extern __typeof__(__libc_single_threaded) __libc_single_threaded __attribute__((weak)); /* since glibc 2.32 */
#define RT_SINGLE_THREADED (&__libc_single_threaded && __libc_single_threaded)
#else
#define RT_SINGLE_THREADED 0
#endif

#if defined(__x86_64__)
#define COND_VERSION "GLIBC_2.3.2" /* the old pthread_cond_t has the same names */
#else
#define COND_VERSION NULL
#endif
#define MUTEX_SHARED 128 /* PTHREAD_MUTEX_PSHARED_BIT of glibc */

struct rt_wait {
	_Atomic uint64_t *slot;
	uint64_t object, start;
	uint32_t ticket, session;
	bool shared;
};

struct rt_release {
	_Atomic uint64_t *slot;
	uint64_t object, before, t; /* t: 0 when nobody waited */
	uint32_t seq;
	bool shared;
};

void rt_wait_begin(struct rt_wait *w, const void *object, bool shared);
/* `seq`: the number of the last release is known, since the caller has the lock now. */
void rt_wait_end(struct rt_wait *w, unsigned wait, int result, enum vp_call call, bool seq);
void rt_wait_cancelled(void *wait);

/* It waits no more. In another session nobody knows that it did. */
static inline void rt_wait_leave(const struct rt_wait *w)
{
	if (RT_LIKELY(w->session == atomic_load_explicit(&rt_session, memory_order_relaxed)))
		rt_leave_slot(w->slot);
}
void rt_release_record(const struct rt_release *r, uint64_t after, unsigned wait, unsigned flags);
/* Of a private object, nobody having waited before. */
void rt_release_late(const void *object, uint64_t before, uint64_t after, uint32_t seq, unsigned wait);

/* The process has one thread: nobody can wait for what is private to it, and libc's own lock and unlock then need no
 * atomic instruction. */
static inline bool rt_alone(void)
{
	return RT_SINGLE_THREADED;
}

static inline uint32_t rt_seq(_Atomic uint64_t *slot)
{
	return (uint32_t)atomic_load_explicit(slot + 1, memory_order_relaxed) & VP_SEQ_MASK;
}

/* Called by the lock's holder, so a store will do; objects that share a slot may lose numbers (see wake-edges.md). */
static inline uint32_t rt_seq_next(_Atomic uint64_t *slot)
{
	uint64_t word = atomic_load_explicit(slot + 1, memory_order_relaxed) + 1;

	if (RT_UNLIKELY(!(word & VP_SEQ_MASK)))
		word -= VP_SEQ_MASK; /* 1, and no carry */
	atomic_store_explicit(slot + 1, word, memory_order_relaxed);
	return (uint32_t)word & VP_SEQ_MASK;
}

static inline void rt_release_begin(struct rt_release *r, const void *object, bool shared)
{
	r->object = (uint64_t)(uintptr_t)object;
	r->shared = shared;
	r->slot = rt_slot(r->object, shared);
	r->seq = 0;
	r->before = atomic_load_explicit(r->slot, memory_order_acquire);
	r->t = RT_UNLIKELY(VP_SLOT_WAITING(r->before)) ? rt_now_fenced() : 0;
}

/* The release of a lock whose only holder is the caller. */
static inline void rt_release_begin_lock(struct rt_release *r, const void *object, bool shared)
{
	rt_release_begin(r, object, shared);
	r->seq = rt_seq_next(r->slot);
}

static inline void rt_release_end(const struct rt_release *r, unsigned wait, unsigned flags)
{
	uint64_t after;

	rt_fence();
	after = atomic_load_explicit(r->slot, memory_order_acquire);
	if (RT_UNLIKELY(r->t || VP_SLOT_ARRIVALS(after) != VP_SLOT_ARRIVALS(r->before)))
		rt_release_record(r, after, wait, flags);
}

/* The release of a lock whose only holder is the caller; `real` is libc's, `watched` a function out of line that is
 * WATCHED_RELEASE. The case without waiters must be cheap: then only the object, the slot, and one word live across
 * libc's call, which is the slot's value with the release's number in place of the number of waiters, and the function
 * needs no other stack. */
#define TICKET_RELEASE(object_, shared_, real, kind, watched)                                                          \
	do {                                                                                                           \
		_Atomic uint64_t *slot_;                                                                               \
		uint64_t known_, after_;                                                                               \
		int r_;                                                                                                \
		if (RT_UNLIKELY(shared_))                                                                              \
			return watched;                                                                                \
		slot_ = rt_slot((uint64_t)(uintptr_t)(object_), false);                                                \
		known_ = atomic_load_explicit(slot_, memory_order_acquire);                                            \
		if (RT_UNLIKELY(VP_SLOT_WAITING(known_)))                                                              \
			return watched;                                                                                \
		known_ |= rt_seq_next(slot_);                                                                          \
		r_ = real;                                                                                             \
		rt_fence();                                                                                            \
		after_ = atomic_load_explicit(slot_, memory_order_acquire);                                            \
		if (RT_LIKELY(VP_SLOT_ARRIVALS(after_) == VP_SLOT_ARRIVALS(known_)) || r_)                             \
			return r_;                                                                                     \
		rt_release_late(object_, known_ & ~(uint64_t)VP_SEQ_MASK, after_, (uint32_t)known_ & VP_SEQ_MASK,      \
				kind);                                                                                 \
		return 0;                                                                                              \
	} while (0)
_Static_assert(VP_SLOT_WAITING(UINT64_MAX) == VP_SEQ_MASK, "a release's number fits where waiters are counted");

/* ... of an object that processes share, or that somebody waits for. */
#define WATCHED_RELEASE(object, shared, real, kind)                                                                    \
	do {                                                                                                           \
		struct rt_release watched_;                                                                            \
		int r_;                                                                                                \
		rt_release_begin_lock(&watched_, object, shared);                                                      \
		r_ = real;                                                                                             \
		if (!r_)                                                                                               \
			rt_release_end(&watched_, kind, 0);                                                            \
		return r_;                                                                                             \
	} while (0)

/* Tries, arrives, tries again; really waits only then. `lock` is the real wait. A lock that the caller has
 * itself (EDEADLK) is no wait. */
#define TICKET_LOCK(object, shared, try, lock, kind, call)                                                             \
	do {                                                                                                           \
		int tried_ = try;                                                                                      \
		if (RT_LIKELY(tried_ != EBUSY))                                                                        \
			return tried_;                                                                                 \
		TICKET_WAIT(object, shared, try, lock, kind, call);                                                    \
	} while (0)

/* The second half: the first try failed. Waiting for the unwinder's lock within our own stack sample is no wait of the
 * program.
 */
#define TICKET_WAIT(object, shared, try, lock, kind, call)                                                             \
	do {                                                                                                           \
		struct rt_wait w_;                                                                                     \
		int r_;                                                                                                \
		if (RT_UNLIKELY(rt_unwinding()))                                                                       \
			return lock;                                                                                   \
		rt_wait_begin(&w_, object, shared);                                                                    \
		r_ = try;                                                                                              \
		if (r_ == EBUSY) {                                                                                     \
			r_ = lock;                                                                                     \
			if (r_ != EDEADLK) {                                                                           \
				rt_wait_end(&w_, kind, r_, call, r_ == 0);                                             \
				return r_;                                                                             \
			}                                                                                              \
		}                                                                                                      \
		rt_wait_leave(&w_);                                                                                    \
		return r_;                                                                                             \
	} while (0)

static inline bool rt_mutex_shared(const pthread_mutex_t *m)
{
	return (m->__data.__kind & MUTEX_SHARED) != 0;
}

/* Locked more than once by its owner: an unlock does not release it. */
static inline bool rt_mutex_nested(const pthread_mutex_t *m)
{
	return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE && m->__data.__count > 1;
}

#endif
