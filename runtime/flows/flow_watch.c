/* SPDX-License-Identifier: Apache-2.0 */
/* When accesses are looked at. While sections and events are recorded, all are; when for a while nothing but sections
 * and events passed of which enough are known, none is, but in short samples. Locks and events are seen throughout, so
 * the next section that is to be recorded switches it on again, before its first access.
 *
 * `vprof_flow_hooks.watches` counts how often that changed, and is odd while they are looked at. A thread knows the
 * count that it is in step with: where it is another one it has missed accesses, so it drops what it was looking for.
 * What it wrote before is not known either: its next sections are BLIND. What is rare would always be so, hence the
 * samples.
 */
#include "runtime/flows/flow_runtime.h"

#include <string.h>
#include <time.h>

/* In sections that were passed over, of all threads. */
#define AFTER_NEW 10000u     /* after a section that is new: what comes next is probably new, too */
#define AFTER_EVENT 2000u    /* after an event or a transfer: its handler */
#define AFTER_OTHERS 200u    /* after other sections that are recorded: the uses of what was taken over */
#define SAMPLED 1000u	     /* in so many accesses are looked at ... */
#define SAMPLED_EVERY 16000u /* ... of so many */
#define OPEN_AT_MOST 100000u /* so long a section that is being recorded keeps it on */
#define LOOKS_NS 20000000u   /* so long what a section took over keeps it on: its thread may be preempted */
#define PASSED_AT_ONCE 64u   /* are counted together */
#define BLIND_SECTIONS 64u   /* of a thread, which may seldom write outside of them */

static struct {
	_Alignas(64) uint64_t n_passed; /* of this process */
	uint64_t quiet_at;		/* when so many have passed it is switched off */
	uint64_t sampled_at;		/* when so many have passed it is switched on */
	uint64_t looked_until;		/* what was taken over last is looked for so long, if anybody still does */
	uint32_t n_looking;		/* threads that do */
	uint32_t n_open;		/* sections of locks that are being recorded */
	uint32_t n_stuck;		/* of these: have been for long, and keep nothing on */
} all = { .quiet_at = AFTER_NEW };

static uint32_t generation(void)
{
	return __atomic_load_n(&vprof_flow_hooks.watches, __ATOMIC_SEQ_CST);
}

/* From `before` on; whoever was faster has changed it in the same direction. */
static void turn(uint32_t before)
{
	__atomic_compare_exchange_n(&vprof_flow_hooks.watches, &before, before + 1, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

static void switch_on(uint64_t until)
{
	uint64_t end = __atomic_load_n(&all.quiet_at, __ATOMIC_RELAXED);
	uint32_t now;

	while (end < until &&
	       !__atomic_compare_exchange_n(&all.quiet_at, &end, until, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	now = generation();
	if (!(now & 1))
		turn(now);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_looking(void)
{
	return __atomic_load_n(&all.n_looking, __ATOMIC_SEQ_CST) &&
	       now_ns() < __atomic_load_n(&all.looked_until, __ATOMIC_RELAXED);
}

/* Is it time, when n have passed? */
static bool is_over(uint64_t n)
{
	uint64_t end = __atomic_load_n(&all.quiet_at, __ATOMIC_SEQ_CST);
	uint32_t n_open = __atomic_load_n(&all.n_open, __ATOMIC_SEQ_CST), n_stuck;

	if (n < end)
		return false;
	n_stuck = __atomic_load_n(&all.n_stuck, __ATOMIC_RELAXED);
	if (n_stuck > n_open || (n_stuck < n_open && n >= end + OPEN_AT_MOST))
		__atomic_store_n(&all.n_stuck, n_stuck = n_open, __ATOMIC_RELAXED);
	return n_open <= n_stuck && !is_looking();
}

/* Who records says so first and then sees to it that it is on; here it is the other way round, so that one of both
 * notices the other. */
static void switch_off(uint64_t n, uint32_t now)
{
	if (!is_over(n))
		return;
	__atomic_store_n(&all.sampled_at, n + SAMPLED_EVERY - SAMPLED, __ATOMIC_RELAXED);
	turn(now);
	if (!is_over(n))
		turn(now + 1);
}

void flow_watch_recorded(bool is_new)
{
	switch_on(__atomic_load_n(&all.n_passed, __ATOMIC_RELAXED) + (is_new ? AFTER_NEW : AFTER_OTHERS));
}

void flow_watch_events(struct flow_thread *t)
{
	switch_on(__atomic_load_n(&all.n_passed, __ATOMIC_RELAXED) + AFTER_EVENT);
	flow_watch_catch_up(t);
}

void flow_watch_opened(struct flow_thread *t)
{
	t->is_open = true;
	__atomic_add_fetch(&all.n_open, 1, __ATOMIC_SEQ_CST);
}

void flow_watch_closed(struct flow_thread *t)
{
	t->n_records = 0;
	if (!t->is_open)
		return;
	t->is_open = false;
	__atomic_sub_fetch(&all.n_open, 1, __ATOMIC_SEQ_CST);
}

void flow_watch_looks(struct flow_thread *t, bool is)
{
	if (is)
		__atomic_store_n(&all.looked_until, now_ns() + LOOKS_NS, __ATOMIC_RELAXED);
	if (is == t->is_looking)
		return;
	t->is_looking = is;
	__atomic_add_fetch(&all.n_looking, is ? 1u : -1u, __ATOMIC_SEQ_CST);
}

void flow_watch_count(struct flow_thread *t)
{
	uint32_t now = generation();
	uint64_t n;

	if (!t->n_passed)
		return;
	flow_count_of(&flow_header->n_enough, t->n_passed);
	n = __atomic_add_fetch(&all.n_passed, t->n_passed, __ATOMIC_RELAXED);
	t->n_passed = 0;
	if (now & 1)
		switch_off(n, now);
	else if (n >= __atomic_load_n(&all.sampled_at, __ATOMIC_RELAXED))
		switch_on(n + SAMPLED);
}

void flow_watch_passed(struct flow_thread *t, uint32_t n)
{
	t->n_passed += n;
	if (t->n_passed < PASSED_AT_ONCE && t->has_passed)
		return;
	t->has_passed = true; /* that there are any is told by the first */
	flow_watch_count(t);
}

/* Nothing is known of what the thread wrote until now. */
static void go_blind(struct flow_thread *t)
{
	t->blind_until = t->n_recent + FLOW_RECENT;
	t->n_blind_sections = BLIND_SECTIONS;
}

unsigned flow_watch_blind(struct flow_thread *t)
{
	if (!t->n_blind_sections || !flow_is_watching())
		return 0;
	t->n_blind_sections--;
	return t->n_recent < t->blind_until ? VPROF_FLOW_BLIND : 0;
}

void flow_watch_begin(struct flow_thread *t)
{
	t->watch = generation();
	if (t->watch != 1) /* it may have written before it was noticed */
		go_blind(t);
}

void flow_watch_forget(struct flow_thread *t)
{
	t->watch = generation();
	flow_watch_closed(t); /* a section in which accesses were missed would tell half of what it did */
	flow_watch_looks(t, false);
	t->n_candidates = t->n_late = t->n_pending = t->n_changed = 0;
	t->n_accesses = 0;
	t->n_observable = 0;
	t->observed = 0;
	if (t->is_pointer_read)
		memset(t->pointers_read, 0, sizeof t->pointers_read);
	t->is_pointer_read = false;
	t->n_delivered = 0;
	t->hand = 0;
	t->hand_reads = 0;
	memset(t->late_lines, 0, sizeof t->late_lines);
	memset(t->recent, 0, sizeof t->recent);
	t->n_recent_published = t->n_recent;
	go_blind(t);
}

void flow_watch_forked(struct flow_thread *t)
{
	all.n_passed = 0;
	all.quiet_at = AFTER_NEW;
	all.n_stuck = 0;
	all.n_open = t && t->is_open;
	all.n_looking = t && t->is_looking;
	if (t) {
		t->n_passed = 0;
		t->has_passed = false;
	}
	if (!flow_is_watching()) /* the child's sections are counted anew */
		vprof_flow_hooks.watches++;
}
