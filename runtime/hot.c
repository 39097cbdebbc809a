/* SPDX-License-Identifier: Apache-2.0 */
/* Hot calls: functions that one stretch of work calls so often, and for so short a time, that recording every call
 * would distort the run. A stretch of work is a thread's time between two marks of intervals.
 *
 * The first calls of a stretch are recorded. When they came faster than one in RT_HOT_NS, the calls after them are
 * divided into blocks, and of each block two are chosen at random, all pairs with the same chance. The others are
 * skipped, with all that they call. So every call is chosen with the same probability whatever its neighbours do,
 * which makes sums over the chosen calls, weighted by its inverse, unbiased for any part of the run, and two in a
 * block give an unbiased variance of that sum (a block's missing end counts as calls of no length). Blocks grow with
 * the number of calls so far, so the relative error stays the same and the number of records grows with the logarithm
 * of the calls.
 *
 * Within a chosen call every call is recorded. A call is worth recording from its first wait on: waits are long, and
 * rare in hot functions. It then counts once.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <limits.h>

#define RT_HOT_NS 2000u
#define BLOCK_MIN 8u
#define BLOCK_MAX 64u
#define BLOCK_SHARE 8u /* a block is at most this part of the calls before it: an eighth */
#define FRAMES_MAX 64  /* searched for hot ones when an interval begins */

/* A scope's code: 24 bits, VP_SKIPPED, and of a chosen call what its record says. */
#define HOT_PARTIAL (UINT64_C(1) << 25)
#define HOT_CHOSEN_SHIFT 26
#define HOT_BLOCK_MASK UINT64_C(0x3fffff)

#define INSIDE (UINT64_C(1) << 31) /* of a thread's stretch, and so of keys: within a chosen call */

enum stage { ALL, BEFORE_FIRST, BEFORE_SECOND, BEFORE_END };

static uint32_t draw(struct rt_thread *th, uint32_t below)
{
	uint64_t x = th->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	th->random = x;
	return (uint32_t)(((x * UINT64_C(0x2545f4914f6cdd1d)) >> 32) * below >> 32);
}

static uint64_t chosen(struct rt_thread *th, struct vp_hot *hot, uint32_t represented, bool second)
{
	uint64_t payload = hot->size / 2 | (uint64_t)second << 7 | (uint64_t)represented << 8 |
			   ((uint64_t)hot->block & HOT_BLOCK_MASK) << 16;

	hot->pending = 0;
	th->probe.stretch |= INSIDE;
	rt_now_fenced(); /* our own work must not overlap the call's time, which is weighted */
	return payload << HOT_CHOSEN_SHIFT;
}

/* `gap` calls from this one on to the next decision. */
static void wait_for(struct vp_hot *hot, enum stage stage, uint32_t gap)
{
	hot->stage = (unsigned char)stage;
	hot->gap = (unsigned char)gap;
	hot->left = 0;
}

/* This call is a block's first. */
static uint64_t block_begin(struct rt_thread *th, struct vp_hot *hot, uint64_t now)
{
	uint32_t size = BLOCK_MIN, first, second;

	while (size < BLOCK_MAX && 2 * size * BLOCK_SHARE <= hot->n)
		size *= 2;
	first = draw(th, size);
	second = draw(th, size - 1);
	second += second >= first;
	if (second < first) {
		uint32_t swap = first;

		first = second;
		second = swap;
	}
	hot->since = now;
	hot->size = (unsigned short)size;
	hot->second = (unsigned char)(second - first);
	hot->rest = (unsigned char)(size - second);
	hot->block++;
	if (!first) {
		wait_for(hot, BEFORE_SECOND, hot->second);
		return chosen(th, hot, hot->pending + 1u, false);
	}
	hot->pending++;
	wait_for(hot, BEFORE_FIRST, first);
	return VP_SKIPPED;
}

static void record_all(struct rt_thread *th, struct vp_hot *hot, uint64_t now)
{
	hot->stage = ALL;
	hot->gap = 0;
	hot->left = th->probe.hot_after;
	hot->since = now;
}

/* Writes how many calls were skipped after the last chosen one. `n`: since the last decision. The time is that of
 * their block's begin, since this stretch of work may be over. */
static void count_write(struct rt_thread *th, struct vp_hot *hot, uint32_t n)
{
	struct vp_unit unit = { hot->since,
				VP_W(VP_KIND_COUNT, (hot->key & VP_CODE_MASK) | (uint64_t)(hot->pending + n) << 24) };

	hot->pending = 0;
	hot->gap = 0;
	hot->stage = ALL;
	if (hot->key < th->hot_first)
		return; /* of another thread, or of this one before it forked */
	if (VP_PAYLOAD(unit.w) >> 24)
		rt_write(th, &unit, 1);
	th->n_hot--;
}

/* Told by the plan: to be recorded however often it is called. */
static bool is_never_sampled(uint32_t code)
{
	const struct vp_shm *shm = rt_process.shm;
	uint32_t n = atomic_load_explicit(&shm->n_every_call, memory_order_acquire);
	uint32_t low = 0, high = n < VP_EVERY_CALL_MAX ? n : VP_EVERY_CALL_MAX;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2,
			 there = atomic_load_explicit(&shm->every_call[middle], memory_order_relaxed);

		if (there == code)
			return true;
		if (there < code)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static uint64_t decide(struct rt_thread *th, struct vp_hot *hot, uint64_t now)
{
	uint32_t n_skipped = hot->gap ? (uint32_t)hot->gap - 1 : 0, n_before, code = (uint32_t)hot->key & VP_CODE_MASK;
	bool is_hot;

	switch ((enum stage)hot->stage) {
	case BEFORE_FIRST:
		wait_for(hot, BEFORE_SECOND, hot->second);
		return chosen(th, hot, hot->pending + n_skipped + 1, false);
	case BEFORE_SECOND:
		wait_for(hot, BEFORE_END, hot->rest);
		return chosen(th, hot, hot->pending + n_skipped + 1, true);
	case BEFORE_END:
		n_before = hot->size;
		hot->pending += (unsigned short)n_skipped;
		/* in a live session it may be told so between two blocks */
		is_hot = now - hot->since < 2 * th->hot_ticks * n_before && !is_never_sampled(code);
		break;
	default:
		n_before = (uint32_t)th->probe.hot_after;
		is_hot = n_before < INT_MAX && now - hot->since < th->hot_ticks * n_before;
		if (is_hot && is_never_sampled(code)) {
			hot->left = INT_MAX;
			return 0;
		}
		th->n_hot += is_hot;
	}
	if (hot->n < UINT_MAX / 2)
		hot->n += n_before;
	if (is_hot)
		return block_begin(th, hot, now);
	if (hot->stage != ALL)
		count_write(th, hot, 0);
	record_all(th, hot, now);
	return 0;
}

vp_u64 rt_hot_enter(struct vp_thread *thread, struct vp_hot *hot, vp_u64 key)
{
	struct rt_thread *th = (struct rt_thread *)thread;
	uint64_t now;

	if (hot->key != key && hot->key >> 32 == key >> 32)
		return 0; /* another hot function of this stretch has the slot */
	now = rt_now();
	if (hot->key == key && !(key & INSIDE))
		return decide(th, hot, now);
	if (hot->key == key) {
		hot->left = INT_MAX;
		return 0;
	}
	count_write(th, hot, (uint32_t)-hot->left);
	hot->key = key;
	hot->n = 0;
	record_all(th, hot, now);
	return 0;
}

/* Was the call that was skipped in a pause under way when a window opened: is the pause over? */
static bool is_under_way(const struct vp_scope *s)
{
	unsigned pause = VP_PAUSE(s->code);

	return pause && pause != atomic_load_explicit(&rt_process.shm->closed, memory_order_relaxed);
}

static void frame_write(struct rt_thread *th, const struct vp_scope *s, uint64_t now)
{
	uint64_t duration = now > s->start ? now - s->start : 0;
	uint64_t payload = s->code & (HOT_PARTIAL | VP_SKIPPED) ? 0 : s->code >> HOT_CHOSEN_SHIFT;
	struct vp_unit units[2] = { { s->start, VP_W(VP_KIND_SAMPLE, payload) }, { duration, s->code & VP_CODE_MASK } };

	rt_write(th, units, 2);
}

void rt_hot_leave(struct vp_thread *thread, struct vp_scope *s, vp_u64 now)
{
	bool is_paused = s->code & VP_SKIPPED;

	if (!is_paused && !(s->code & HOT_PARTIAL))
		thread->stretch &= ~INSIDE;
	thread->gate = s->gate;
	thread->top = s->outer;
	if (!is_paused || is_under_way(s))
		frame_write((struct rt_thread *)thread, s, now);
}

/* The gate that a skipped call would have opened. */
static uint64_t skipped_gate(const struct vp_scope *s)
{
	return VP_PAUSE(s->code) ? UINT64_C(1) << (s->code >> VP_PAUSED_GATE_SHIFT) : s->start;
}

void rt_hot_unskip(struct rt_thread *th, uint64_t t)
{
	struct vp_scope *s = th->probe.top;

	if (!s || !(s->code & VP_SKIPPED))
		return;
	th->probe.gate = skipped_gate(s);
	if (!VP_PAUSE(s->code))
		s->start = t;
	s->code = (s->code & VP_CODE_MASK) | HOT_PARTIAL;
}

void rt_hot_stretch(struct rt_thread *th, bool begins, uint64_t t)
{
	struct vp_scope *s = th->probe.top;

	th->probe.stretch += UINT64_C(1) << 32;
	if (!begins)
		return;
	th->probe.stretch &= ~INSIDE;
	if (!rt_window_closed(th))
		rt_hot_unskip(th, t);
	else if (s && s->code & VP_SKIPPED)
		th->probe.gate = skipped_gate(s);
	if (!th->n_hot)
		return;
	for (int i = 0; s && i < FRAMES_MAX; i++, s = s->outer)
		if (!(s->code & (VP_SKIPPED | HOT_PARTIAL)))
			s->code &= VP_CODE_MASK;
}

void rt_hot_elsewhere(struct rt_thread *th)
{
	th->probe.stretch &= ~INSIDE;
}

void rt_hot_forget(struct rt_thread *th)
{
	th->probe.stretch = (th->probe.stretch & ~INSIDE) + (UINT64_C(1) << 32);
	th->hot_first = th->probe.stretch;
	th->n_hot = 0;
}

void rt_hot_start(struct rt_thread *th)
{
	th->probe.hot = th->hot;
	th->probe.closed = (const unsigned *)&rt_process.shm->closed;
	th->probe.beneath_closed = ~UINT64_C(0);
	th->probe.hot_after = rt_process.shm->sample_after - 1 < INT_MAX - 1 ? (int)rt_process.shm->sample_after :
									       INT_MAX;
	rt_hot_forget(th); /* another thread may have had these counters */
	th->hot_ticks = rt_process.io_ticks * RT_HOT_NS / RT_IO_NS;
	th->random = (th->start_ticks * UINT64_C(0x9e3779b97f4a7c15) ^ th->thread_seq) | 1;
}

void rt_hot_end(struct rt_thread *th)
{
	for (unsigned i = 0; th->n_hot > 0 && i < VP_HOT_SLOTS; i++)
		if (th->hot[i].gap)
			count_write(th, &th->hot[i], (uint32_t)-th->hot[i].left);
}
