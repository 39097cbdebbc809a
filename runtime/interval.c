/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations: intervals, types, work, queues, hand-written waits; and the strings that they name.
 *
 * A begin takes its time last and an end takes it first, so that our own work is not part of the interval.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <string.h>

#define N_STRINGS 16384u
#define N_PLACES 64u /* in which a string may be */
#define WATCH_EVERY 16u

/* Hashes of the strings that this process has defined. When the table is full, strings are defined at each use. */
static _Atomic uint64_t strings[N_STRINGS];

RT_HOT static uint64_t hash_text(const char *text, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return h;
}

void rt_strings_forget(void)
{
	for (unsigned i = 0; i < N_STRINGS; i++)
		if (atomic_load_explicit(&strings[i], memory_order_relaxed))
			atomic_store_explicit(&strings[i], 0, memory_order_relaxed);
}

/* Which of the places of a string, from its hash on, has it (*is_defined) or is free; N_PLACES: none. */
static unsigned string_place(uint64_t hash, bool *is_defined)
{
	unsigned i = 0;

	*is_defined = false;
	for (; i < N_PLACES; i++) {
		uint64_t seen = atomic_load_explicit(&strings[(hash + i) % N_STRINGS], memory_order_relaxed);

		*is_defined = seen == hash;
		if (!seen || *is_defined)
			break;
	}
	return i;
}

RT_HOT uint64_t rt_string(struct rt_thread *th, const char *text)
{
	size_t n = text ? strnlen(text, VP_STRING_MAX) : 0;
	uint64_t hash = hash_text(text, n);
	struct vp_unit head = { hash, VP_W(VP_KIND_STRING, n) };
	bool is_defined;
	unsigned i = string_place(hash, &is_defined);

	if (is_defined || !rt_write_long(th, &head, 1, text, n))
		return hash;
	for (; i < N_PLACES; i++) { /* only now: a definition that was dropped must be repeated */
		uint64_t entry = 0;

		if (atomic_compare_exchange_strong(&strings[(hash + i) % N_STRINGS], &entry, hash) || entry == hash)
			break;
	}
	return hash;
}

/* As rt_string(), sooner for the name of the thread's first interval, which most threads' others share. Compared by its
 * text: the address may be a buffer's. Filled once, since a handler's interval may come in between. */
RT_HOT static uint64_t interval_name(struct rt_thread *th, const char *name)
{
	struct rt_known_name *known = &th->known_name;
	bool is_defined;
	uint64_t hash;
	size_t i = 0;

	if (known->hash && name)
		for (; i < RT_KNOWN_NAME_MAX && name[i] == known->text[i]; i++)
			if (!name[i])
				return known->hash;
	hash = rt_string(th, name);
	if (known->is_filled || !name || strnlen(name, RT_KNOWN_NAME_MAX) == RT_KNOWN_NAME_MAX)
		return hash;
	string_place(hash, &is_defined);
	if (!is_defined) /* its definition was dropped, or the table is full */
		return hash;
	known->is_filled = true;
	atomic_signal_fence(memory_order_seq_cst);
	for (i = 0; (known->text[i] = name[i]); i++)
		;
	known->hash = hash;
	return hash;
}

/* Tells the collector how long intervals take: one in WATCH_EVERY of each thread. */
static void watch(struct rt_thread *th, unsigned kind, uint64_t id, uint64_t t)
{
	struct vp_shm *shm = rt_process.shm;
	uint32_t i = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) % VP_WATCHED_COUNT;
	uint64_t begin, longest;

	if (kind == VP_KIND_BEGIN) {
		if (th->n_begun++ % WATCH_EVERY)
			return;
		atomic_store_explicit(&shm->watched[i].id, id, memory_order_relaxed);
		atomic_store_explicit(&shm->watched[i].begin, t, memory_order_relaxed);
		return;
	}
	begin = atomic_load_explicit(&shm->watched[i].begin, memory_order_relaxed);
	if (!begin || atomic_load_explicit(&shm->watched[i].id, memory_order_relaxed) != id)
		return;
	atomic_store_explicit(&shm->watched[i].begin, 0, memory_order_relaxed);
	longest = atomic_load_explicit(&shm->longest_ticks, memory_order_relaxed);
	while (t > begin && t - begin > longest &&
	       !atomic_compare_exchange_weak_explicit(&shm->longest_ticks, &longest, t - begin, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

/* The time at which an interval begins, and whether it is in a recording window then. Between the time and the look at
 * `closed` this thread may be preempted while a window opens or closes: so `closed` is read on both sides of the time.
 * It numbers the pauses, so equal numbers mean that no window opened and closed again in between. (A whole pause
 * between two zeros does no harm: what is recorded of an interval that began in it is not used.) */
RT_HOT static uint64_t begin_time(bool *in_window)
{
	uint32_t before, after = atomic_load_explicit(&rt_process.shm->closed, memory_order_relaxed);
	uint64_t t;

	do {
		before = after;
		atomic_signal_fence(memory_order_seq_cst);
		t = rt_now();
		atomic_signal_fence(memory_order_seq_cst);
		after = atomic_load_explicit(&rt_process.shm->closed, memory_order_relaxed);
	} while (RT_UNLIKELY(before != after));
	*in_window = !after;
	return t;
}

/* An interval that began in a window is recorded to its end by the thread that began it. */
static void window_turn(struct rt_thread *th, unsigned kind, bool in_window)
{
	static const unsigned open;

	th->probe.closed = in_window ? &open : (const unsigned *)&rt_process.shm->closed;
	th->probe.beneath_closed = kind == VP_KIND_BEGIN || kind == VP_KIND_RESUME ? 0 : ~UINT64_C(0);
}

RT_HOT static void interval(struct rt_thread *th, unsigned kind, const char *name, uint64_t id, const void *caller,
			    uintptr_t frame)
{
	bool begins = kind == VP_KIND_BEGIN || kind == VP_KIND_RESUME, in_window = false;
	struct vp_unit units[2] = { { begins ? 0 : rt_now(), 0 }, { id, 0 } };

	units[1].w = interval_name(th, name);
	rt_stack(th, VP_STACK_INTERVAL, caller);
	units[0].w = VP_W(kind, rt_path(th, frame, caller));
	if (begins)
		units[0].t = kind == VP_KIND_BEGIN ? begin_time(&in_window) : rt_now();
	window_turn(th, kind, in_window);
	if (rt_process.shm->watches_intervals && (kind == VP_KIND_BEGIN || kind == VP_KIND_END))
		watch(th, kind, id, units[0].t);
	rt_hot_stretch(th, begins, units[0].t);
	rt_write(th, units, 2);
}

static void pair(struct rt_thread *th, unsigned kind, uint64_t payload, uint64_t t, uint64_t w)
{
	struct vp_unit units[2] = { { rt_now(), VP_W(kind, payload) }, { t, w } };

	rt_write(th, units, 2);
}

static bool is_shared(uint64_t object)
{
	return rt_address_shared((const void *)(uintptr_t)object);
}

RT_HOT static void queue_event(struct rt_thread *th, unsigned kind, uint64_t item, uintptr_t frame, const void *caller)
{
	struct vp_unit units[2] = { { rt_now(), VP_W(kind, is_shared(item) ? VP_FLAG_SHARED << 8 : 0) }, { item, 0 } };

	if (kind == VP_KIND_ENQUEUE) /* what takes the item says by its later marks what it did with it */
		units[1].w = rt_path(th, frame, caller);
	rt_write(th, units, 2);
}

static void spin_begin(struct rt_thread *th, uint64_t object)
{
	struct rt_spin *s;

	if (th->n_spins == RT_SPINS) { /* begins without ends: forget the oldest */
		rt_leave_slot(rt_slot(th->spins[0].object, is_shared(th->spins[0].object)));
		memmove(th->spins, th->spins + 1, (RT_SPINS - 1) * sizeof(th->spins[0]));
		th->n_spins--;
	}
	s = &th->spins[th->n_spins++];
	s->object = object;
	s->ticket = rt_arrive(rt_slot(object, is_shared(object)));
	s->start = rt_now_fenced();
}

static void spin_end(struct rt_thread *th, uint64_t object)
{
	uint64_t end = rt_now_fenced();
	bool shared = is_shared(object);
	int i = th->n_spins;

	while (i > 0 && th->spins[i - 1].object != object)
		i--;
	if (!i)
		return;
	struct rt_spin s = th->spins[i - 1];
	memmove(th->spins + i - 1, th->spins + i, (size_t)(th->n_spins - i) * sizeof(s));
	th->n_spins--;
	rt_leave_slot(rt_slot(object, shared));
	if (end - s.start >= rt_process.annotated_ticks)
		rt_wait_record(th, VP_WAIT_SPIN, shared ? VP_FLAG_SHARED : 0, object, s.ticket, s.start, end,
			       VP_CALL_SPIN_WAIT);
}

/* A release that is about to happen. */
static void release_now(struct rt_thread *th, unsigned wait, uint64_t object)
{
	bool shared = is_shared(object);
	uint64_t slot = atomic_load(rt_slot(object, shared));

	if (VP_SLOT_WAITING(slot))
		rt_wake_record(th, wait, shared ? VP_FLAG_SHARED : 0, object, slot, slot, rt_now_fenced());
}

RT_HOT static void hook(struct vp_thread *thread, unsigned int kind, const char *name, vp_u64 value, const void *caller)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct rt_thread *th = (struct rt_thread *)thread;
	int saved = errno;

	if (atomic_load_explicit(&th->state, memory_order_relaxed) != RT_THREAD_LIVE ||
	    (!rt_thread_is_current(th) && !rt_attach(0))) {
		errno = saved;
		return;
	}
	switch (kind) {
	case VP_HOOK_BEGIN:
	case VP_HOOK_RESUME:
	case VP_HOOK_SUSPEND:
	case VP_HOOK_END:
		interval(th, kind, name, value, caller, frame);
		break;
	case VP_HOOK_TYPE:
		pair(th, VP_KIND_TYPE, 0, value, 0);
		break;
	case VP_HOOK_TYPE_TEXT:
		pair(th, VP_KIND_TYPE, 1, rt_string(th, name), 0);
		break;
	case VP_HOOK_WORK:
		pair(th, VP_KIND_WORK, 0, rt_string(th, name), value);
		break;
	case VP_HOOK_ENQUEUE:
	case VP_HOOK_DEQUEUE:
		queue_event(th, kind, value, frame, caller);
		break;
	case VP_HOOK_SPIN_BEGIN:
		spin_begin(th, value);
		break;
	case VP_HOOK_SPIN_END:
		spin_end(th, value);
		break;
	case VP_HOOK_WAKE:
		release_now(th, VP_WAIT_SPIN, value);
		break;
	case VP_HOOK_RELEASE:
		release_now(th, VP_WAIT_ANNOTATED, value);
		break;
	case VP_HOOK_FALSE_WAKE: {
		struct vp_unit unit = { rt_now(), VP_W(VP_KIND_FALSE_WAKE, 0) };

		rt_write(th, &unit, 1);
		break;
	}
	default: /* of a later probe.h */
		break;
	}
	errno = saved;
}

/* An annotated acquire function is a wait from its entry to its exit; a release function releases at its entry. */

/* Of what an acquire function leaves unused `before` holds the session, of a release function `ticket` does. */
static void hook_enter(struct vp_thread *thread, struct vp_hook *h)
{
	uint32_t session = ((const struct rt_thread *)thread)->session;
	_Atomic uint64_t *slot;

	h->start = 0;
	if (session == RT_RESTING)
		return;
	slot = rt_slot(h->value, is_shared(h->value));
	if (h->kind == VP_HOOK_ACQUIRE) {
		h->ticket = rt_arrive(slot);
		h->before = session;
	} else {
		h->before = atomic_load(slot);
		h->ticket = session;
	}
	h->start = rt_now_fenced();
}

static void hook_leave(struct vp_thread *thread, struct vp_hook *h, const void *caller)
{
	struct rt_thread *th = (struct rt_thread *)thread;
	uint64_t end = rt_now_fenced();
	bool shared = is_shared(h->value);
	unsigned flags = shared ? VP_FLAG_SHARED : 0;
	int saved = errno;
	_Atomic uint64_t *slot;

	(void)caller;
	if (!h->start || atomic_load(&rt_session) != (h->kind == VP_HOOK_ACQUIRE ? (uint32_t)h->before : h->ticket))
		return; /* it began in another session, or in none */
	slot = rt_slot(h->value, shared);
	if (h->kind == VP_HOOK_ACQUIRE)
		rt_leave_slot(slot);
	if (atomic_load_explicit(&th->state, memory_order_relaxed) != RT_THREAD_LIVE)
		return;
	if (h->kind == VP_HOOK_ACQUIRE) {
		if (end - h->start >= rt_process.annotated_ticks)
			rt_wait_record(th, VP_WAIT_ANNOTATED, flags, h->value, h->ticket, h->start, end,
				       rt_string(th, h->name));
	} else {
		uint64_t after;
		bool moved;

		rt_fence();
		after = atomic_load(slot);
		moved = VP_SLOT_ARRIVALS(after) != VP_SLOT_ARRIVALS(h->before);

		if (VP_SLOT_WAITING(h->before) || moved)
			rt_wake_record(th, VP_WAIT_ANNOTATED, flags | (moved ? VP_FLAG_LATE : 0), h->value, h->before,
				       after, h->start);
	}
	errno = saved;
}

const struct vp_api rt_api = {
	.full = rt_full,
	.hook = hook,
	.enter = hook_enter,
	.leave = hook_leave,
	.hot_enter = rt_hot_enter,
	.hot_leave = rt_hot_leave,
};
