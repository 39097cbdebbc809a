/* SPDX-License-Identifier: Apache-2.0 */
/* Wake edges: the ticket protocol's slow half, which the wrappers of all primitives share. See sync.h. */
#define _GNU_SOURCE
#include "runtime/wrappers/sync.h"

RT_HOT uint32_t rt_arrive(_Atomic uint64_t *slot)
{
	uint32_t before = VP_SLOT_ARRIVALS(atomic_fetch_add(slot, VP_SLOT_ARRIVE));

	rt_fence();
	return before + 1;
}

RT_HOT void rt_wait_record(struct rt_thread *th, unsigned wait, unsigned flags, uint64_t object, uint32_t ticket,
			   uint64_t start, uint64_t end, uint64_t result)
{
	struct vp_unit units[3] = { { start, VP_W(VP_KIND_WAIT, wait | (uint64_t)flags << 8) },
				    { object, ticket },
				    { end, result } };

	rt_stack(th, VP_STACK_WAIT, NULL);
	rt_hot_unskip(th, start);
	rt_write(th, units, 3);
}

RT_HOT void rt_wake_record(struct rt_thread *th, unsigned wait, unsigned flags, uint64_t object, uint64_t before,
			   uint64_t after, uint64_t t)
{
	struct vp_unit units[2] = { { t, VP_W(VP_KIND_WAKE, wait | (uint64_t)flags << 8) },
				    { object, (uint32_t)VP_SLOT_ARRIVALS(before) |
						      (uint64_t)(uint32_t)VP_SLOT_ARRIVALS(after) << 32 } };

	rt_stack(th, VP_STACK_WAKE, NULL);
	rt_write(th, units, 2);
}

RT_HOT void rt_wait_begin(struct rt_wait *w, const void *object, bool shared)
{
	w->object = (uint64_t)(uintptr_t)object;
	w->shared = shared;
	w->session = atomic_load_explicit(&rt_session, memory_order_relaxed);
	w->slot = rt_slot(w->object, shared);
	w->start = rt_now();
	w->ticket = rt_arrive(w->slot);
}

RT_HOT void rt_wait_end(struct rt_wait *w, unsigned wait, int result, enum vp_call call, bool seq)
{
	uint32_t number = seq ? rt_seq(w->slot) : 0;
	uint64_t end = rt_now_fenced();
	unsigned flags = w->shared ? VP_FLAG_SHARED : 0;
	int saved = errno;
	struct rt_thread *th = w->session == atomic_load_explicit(&rt_session, memory_order_relaxed) ? rt_thread() :
												       NULL;

	rt_wait_leave(w);
	if (result == ETIMEDOUT)
		flags |= VP_FLAG_TIMEOUT;
	else if (result) /* also EOWNERDEAD: no release woke it, but its owner's death */
		flags |= VP_FLAG_FAILED;
	if (th)
		rt_wait_record(th, wait, flags | RT_SEQ(number), w->object, w->ticket, w->start, end, call);
	errno = saved;
}

void rt_wait_cancelled(void *wait)
{
	rt_wait_leave(wait);
}

void __attribute__((noinline, hot)) rt_release_record(const struct rt_release *r, uint64_t after, unsigned wait,
						      unsigned flags)
{
	uint64_t t = r->t ? r->t : rt_now_fenced();
	int saved = errno;
	struct rt_thread *th = rt_thread();

	flags |= (r->shared ? VP_FLAG_SHARED : 0) | (r->t ? 0 : VP_FLAG_LATE) | RT_SEQ(r->seq);
	if (th)
		rt_wake_record(th, wait, flags, r->object, r->before, after, t);
	errno = saved;
}

void __attribute__((noinline, cold)) rt_release_late(const void *object, uint64_t before, uint64_t after, uint32_t seq,
						     unsigned wait)
{
	struct rt_release r = { .object = (uint64_t)(uintptr_t)object, .before = before, .seq = seq };

	rt_release_record(&r, after, wait, 0);
}
