/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that are switched out: what the timeline makes of the kernel's records, and where the tree puts it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

#define OUT VP_SWITCH_OUT
#define PREEMPTED (VP_SWITCH_OUT | VP_SWITCH_PREEMPTED)
#define IN 0

static const struct vprof_node *child(const struct vprof_results *r, const struct vprof_node *n, const char *name)
{
	const struct vprof_node *found = hand_node(r, name, (uint32_t)(n - r->nodes));

	if (!found)
		fail_msg("%s has no child %s", n->name, name);
	return found;
}

static void live(struct hand_thread *th, uint64_t t0, uint64_t t1)
{
	hand_call(th, F(1), t0, t1);
}

static void assert_off(const struct vprof_off_cpu *off, uint64_t t0, uint64_t t1, int is_preempted, uint32_t by)
{
	assert_int_equal(off->t0, t0);
	assert_int_equal(off->t1, t1);
	assert_int_equal(off->is_preempted, is_preempted);
	assert_int_equal(off->by, by);
}

/* Lost on one processor, gained on another; blocked; who came next; tids that nobody knows. */
static void test_timeline(void **state)
{
	struct hand_thread *a, *b, *cpu0, *cpu1;
	const struct vprof_thread_timeline *line;
	struct hand_steps s;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 2);
	live(a, 1000, 900000);
	live(b, 1000, 900000);
	cpu0 = hand_processor(&h, 0);
	cpu1 = hand_processor(&h, 1);
	hand_switch(cpu0, 500, 1, IN);
	hand_switch(cpu0, 10000, 1, PREEMPTED);
	hand_switch(cpu0, 10500, 2, IN); /* at once: thread 2 had it */
	hand_switch(cpu0, 50000, 2, OUT);
	hand_switch(cpu0, 200000, 77, IN); /* of no thread that records */
	hand_switch(cpu0, 210000, 77, OUT);
	hand_switch(cpu0, 240000, 2, IN);
	hand_switch(cpu1, 30000, 1, IN);
	hand_switch(cpu1, 60000, 1, PREEMPTED);
	hand_switch(cpu1, 100000, 1, IN);	 /* after somebody else, who is not told */
	hand_switch(cpu1, 800000, 1, PREEMPTED); /* gains no processor any more */
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.timeline->n_threads, 2);
	assert_int_equal(s.timeline->has_switches, 1);
	assert_int_equal(s.timeline->n_switches, 11);
	line = &s.timeline->threads[0];
	assert_int_equal(line->off_cpu.n, 2);
	assert_off(&line->off_cpu.v[0], 10000, 30000, 1, 1);
	assert_off(&line->off_cpu.v[1], 60000, 100000, 1, VPROF_NONE);
	line = &s.timeline->threads[1];
	assert_int_equal(line->off_cpu.n, 1);
	assert_off(&line->off_cpu.v[0], 50000, 240000, 0, VPROF_NONE);
	hand_steps_release(&s);
	hand_release(&h);
}

/* What reaches into a gap is left out, on whichever processor the gap is; so are pairs without their other half. */
static void test_lost(void **state)
{
	struct hand_thread *a, *cpu0, *cpu1;
	struct hand_steps s;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	live(a, 10, 100000);
	cpu0 = hand_processor(&h, 0);
	cpu1 = hand_processor(&h, 1);
	h.n_switches_lost = 5;
	hand_switch(cpu0, 1000, 1, PREEMPTED);
	hand_switch(cpu0, 2000, 1, IN);
	hand_switch(cpu0, 3000, 1, PREEMPTED);
	hand_switches_lost(cpu0, 9000, 5);
	hand_switch(cpu0, 9500, 1, IN); /* perhaps of another time */
	hand_switch(cpu0, 20000, 1, PREEMPTED);
	hand_switch(cpu0, 21000, 1, PREEMPTED); /* it never came back, says the record before */
	hand_switch(cpu0, 22000, 1, IN);
	hand_switch(cpu0, 23000, 1, IN);
	hand_switch(cpu1, 30000, 9, IN);
	hand_switches_lost(cpu1, 40000, 1);
	hand_switch(cpu0, 31000, 1, OUT);
	hand_switch(cpu0, 32000, 1, IN);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.timeline->threads[0].off_cpu.n, 2);
	assert_off(&s.timeline->threads[0].off_cpu.v[0], 1000, 2000, 1, VPROF_NONE);
	assert_off(&s.timeline->threads[0].off_cpu.v[1], 21000, 22000, 1, VPROF_NONE);
	hand_steps_release(&s);
	hand_release(&h);
}

/* A tid that is used again belongs to whoever lived then. */
static void test_tid_again(void **state)
{
	struct hand_thread *a, *b, *cpu;
	struct hand_steps s;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	live(a, 1000, 2000);
	hand_units(a, &(struct vp_unit){ 2100, VP_W(VP_KIND_EXIT, 0) }, 1);
	b = hand_thread(&h, 2);
	live(b, 10000, 20000);
	hand_write(&h);
	h.threads[1].thread_seq = 1; /* its tid, that is; the sequence of its process tells them apart */
	cpu = hand_processor(&h, 0);
	hand_switch(cpu, 1500, 1, PREEMPTED);
	hand_switch(cpu, 1600, 1, IN);
	hand_switch(cpu, 2200, 1, OUT); /* gone */
	hand_switch(cpu, 9000, 1, IN);	/* the other one's first */
	hand_switch(cpu, 15000, 1, OUT);
	hand_switch(cpu, 16000, 1, IN);
	hand_write(&h);
	hand_steps(&s, &h);
	assert_int_equal(s.timeline->n_threads, 2);
	assert_int_equal(s.timeline->threads[0].off_cpu.n, 1);
	assert_off(&s.timeline->threads[0].off_cpu.v[0], 1500, 1600, 1, VPROF_NONE);
	assert_int_equal(s.timeline->threads[1].off_cpu.n, 1);
	assert_off(&s.timeline->threads[1].off_cpu.v[0], 15000, 16000, 0, VPROF_NONE);
	hand_steps_release(&s);
	hand_release(&h);
}

#define N 40

/* 600 of f2 in every interval, beside 100 of f1 before it; from the fourth on, f2 is preempted for 1000 i. */
static void fill(struct hand_trace *h, struct hand_thread *th, struct hand_thread *cpu)
{
	(void)h;
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000000 * (i + 1), off = 1000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(2), t + 110, t + 710 + off);
		hand_call(th, F(1), t + 10, t + 720 + off);
		hand_mark(th, VP_KIND_END, i, t + 730 + off);
		if (cpu && off) {
			hand_switch(cpu, t + 300, 1, PREEMPTED);
			hand_switch(cpu, t + 300 + off, 1, IN);
		}
	}
}

static void test_tree(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *f1, *f2, *off;
	const struct vprof_factor *factor;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	fill(&h, th, hand_processor(&h, 3));
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = child(r, r->nodes, "f1");
	f2 = child(r, f1, "f2");
	off = child(r, f2, "preempted");
	assert_int_equal(off->kind, VPROF_NODE_PREEMPTED);
	assert_int_equal(off->n_calls, N - 1);
	assert_true(fabs(off->mean_ns - 19500) < 1e-6);
	assert_true(fabs(off->preempted_ns - 19500) < 1e-6);
	assert_true(fabs(off->share - 1) < 1e-9);
	assert_true(fabs(f2->preempted_ns - 19500) < 1e-6);
	assert_true(fabs(f1->preempted_ns - 19500) < 1e-6);
	assert_true(fabs(r->nodes[0].preempted_ns - 19500) < 1e-6);
	assert_true(fabs(child(r, f2, "body of f2")->mean_ns - 600) < 1e-6);
	assert_true(child(r, f2, "body of f2")->var_ns2 < 1e-6);
	assert_true(child(r, f1, "body of f1")->preempted_ns == 0);
	assert_true(fabs(r->preempted_share - 19500.0 / 20230) < 1e-9);
	assert_true(fabs(r->running_share - 730.0 / 20230) < 1e-9);
	assert_true(r->preempted_by_own == 0);
	assert_string_equal(r->no_switches, "");
	factor = hand_factor(r, "v:preempted");
	assert_non_null(factor);
	assert_true(factor == r->factors); /* the cause comes before the function that it hits */
	assert_int_equal(factor->can_break_down, 0);
	assert_int_equal(factor->height, 0);
	assert_true(fabs(hand_factor(r, "v:f2")->preempted_share - 19500.0 / 20100) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* The same run where the kernel told nothing: the same times and factors, but for preempted ones. */
static void test_unknown(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *f2;
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	fill(&h, th, NULL);
	h.no_switches = "kernel.perf_event_paranoid is 4";
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f2 = child(r, child(r, r->nodes, "f1"), "f2");
	assert_true(fabs(f2->mean_ns - 20100) < 1e-6);
	assert_true(isnan(f2->preempted_ns) && isnan(r->preempted_share) && isnan(r->preempted_by_own));
	assert_true(isnan(r->factors[0].preempted_share));
	assert_true(fabs(r->running_share - 1) < 1e-9);
	assert_string_equal(r->no_switches, "kernel.perf_event_paranoid is 4");
	assert_null(hand_factor(r, "v:preempted"));
	assert_string_equal(r->factors[0].name, "f2");
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Preempted now and then: a leaf stays a leaf. Blocked without a recorded wait: not running. A holder that is preempted
 * while another waits for its lock is blamed for it. */
static void test_small_blocked_and_blame(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *f1, *wait;
	struct hand_thread *th, *holder, *cpu;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	holder = hand_thread(&h, 1);
	live(holder, 10, 20);
	cpu = hand_processor(&h, 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000000 * (i + 1), d = 1000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(2), t + 100, t + 5000 + d);
		hand_switch(cpu, t + 200, 1, PREEMPTED);
		hand_switch(cpu, t + 210, 1, IN);
		hand_switch(cpu, t + 300, 1, OUT);
		hand_switch(cpu, t + 700, 1, IN);
		hand_wait(th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x40, 1, t + 100000, t + 103000);
		hand_wake(holder, VP_WAIT_MUTEX, 0, 0x40, 1, 1, t + 102900);
		hand_switch(cpu, t + 101000, 2, PREEMPTED);
		hand_switch(cpu, t + 102000, 2, IN);
		hand_call(th, F(1), t + 50, t + 110000);
		hand_mark(th, VP_KIND_END, i, t + 120000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = child(r, r->nodes, "f1");
	assert_true(fabs(child(r, child(r, f1, "f2"), "preempted")->mean_ns - 10) < 1e-9);
	assert_true(fabs(child(r, f1, "f2")->blocked_ns - 400) < 1e-9);
	assert_int_equal(hand_factor(r, "v:f2")->height, 0);
	assert_null(hand_factor(r, "v:body of f2")); /* all of f2 but the times when it was preempted */
	assert_int_equal(child(r, child(r, f1, "f2"), "body of f2")->factor, child(r, f1, "f2")->factor);
	assert_non_null(hand_factor(r, "v:body of f1"));
	assert_true(fabs(r->nodes[0].blocked_ns - 3400) < 1e-9);
	assert_true(fabs(r->nodes[0].preempted_ns - 10) < 1e-9);
	wait = child(r, f1, "pthread_mutex_lock");
	assert_true(fabs(child(r, wait, "preempted")->mean_ns - 1000) < 1e-9);
	assert_int_equal(child(r, wait, "preempted")->is_blame, 1);
	assert_non_null(hand_factor(r, "v:beneath:preempted"));
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Of a chosen call that stands for four, the preempted time counts once and the rest four times. */
static void test_within_sampled(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *f1, *f2;
	struct hand_thread *th, *cpu;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	cpu = hand_processor(&h, 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000000 * (i + 1);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		for (uint64_t k = 0; k < 2; k++)
			hand_units(
				th,
				(struct vp_unit[]){ { t + 1000 + 8000 * k,
						      VP_W(VP_KIND_SAMPLE, 4 | k << 7 | 4 << 8 | (uint64_t)1 << 16) },
						    { k ? 100 : 2100, F(2) } },
				2);
		hand_switch(cpu, t + 1050, 1, PREEMPTED);
		hand_switch(cpu, t + 3050, 1, IN);
		hand_call(th, F(1), t + 100, t + 20000 + i);
		hand_mark(th, VP_KIND_END, i, t + 20100 + i);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = child(r, r->nodes, "f1");
	f2 = child(r, f1, "f2");
	assert_true(fabs(f2->mean_ns - (8 * 100 + 2000)) < 1e-6);
	assert_true(fabs(child(r, f2, "preempted")->mean_ns - 2000) < 1e-6);
	assert_true(fabs(f1->mean_ns - 19919.5) < 1e-6);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void assert_cpu_unknown(const struct vprof_thread_timeline *line, size_t i, uint64_t t0, uint64_t t1)
{
	assert_true(i < line->cpu_unknown.n);
	assert_int_equal(line->cpu_unknown.v[i].t0, t0);
	assert_int_equal(line->cpu_unknown.v[i].t1, t1);
}

/* When nobody knows: lost switches, from the turn that they may have ended and to the one that they may have begun; a
 * turn without its other half; a thread that no processor tells of. */
static void test_cpu_unknown(void **state)
{
	struct hand_thread *a, *b, *cpu0, *cpu1;
	const struct vprof_thread_timeline *line;
	struct hand_steps s;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	live(a, 10, 100000);
	live(b, 10, 100000);
	cpu0 = hand_processor(&h, 0);
	cpu1 = hand_processor(&h, 1);
	hand_switch(cpu0, 5, 1, IN);
	hand_switch(cpu0, 1000, 1, OUT);
	hand_switches_lost(cpu0, 2000, 5); /* blocked from 1000 on, until some time after 1000 */
	hand_switch(cpu0, 3000, 1, IN);
	hand_switch(cpu1, 4000, 9, IN);
	hand_switches_lost(cpu1, 5000, 5); /* ran at 3000; on which processor it was in between is not known */
	hand_switch(cpu0, 6000, 1, OUT);
	hand_switch(cpu0, 7000, 1, IN);
	hand_switch(cpu0, 8000, 1, IN); /* it went unseen */
	hand_write(&h);
	hand_steps(&s, &h);
	line = &s.timeline->threads[0];
	assert_int_equal(line->off_cpu.n, 1);
	assert_off(&line->off_cpu.v[0], 6000, 7000, 0, VPROF_NONE);
	assert_int_equal(line->cpu_unknown.n, 3); /* what was before its first record is nobody's concern */
	assert_cpu_unknown(line, 0, 1000, 3000);
	assert_cpu_unknown(line, 1, 4000, 5000);
	assert_cpu_unknown(line, 2, 7000, 8000);
	assert_int_equal(s.timeline->threads[1].cpu_unknown.n, 1);
	assert_cpu_unknown(&s.timeline->threads[1], 0, 0, UINT64_MAX);
	hand_steps_release(&s);
	hand_release(&h);
}

/* A send that works, is preempted and blocks; a lock's waiter that spins waits all the same. */
static void test_io(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	const struct vprof_node *f1, *send, *lock, *off;
	const struct vprof_factor *factor;
	struct hand_thread *th, *cpu;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	cpu = hand_processor(&h, 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t t = 1000000 * (i + 1), d = 1000 * i;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_switch(cpu, t - 10, 1, IN);
		hand_switch(cpu, t + 1000, 1, PREEMPTED);
		hand_switch(cpu, t + 1200, 1, IN);
		hand_switch(cpu, t + 2000, 1, OUT);
		hand_switch(cpu, t + 2300, 1, IN);
		hand_switch(cpu, t + 900000, 1, OUT);
		hand_wait(th, VP_WAIT_SOCKET, VP_CALL_SENDMSG, 3, 0, t + 500, t + 3000 + d);
		hand_wait(th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x40, 1, t + 100000 + d, t + 103000 + d);
		hand_call(th, F(1), t + 50, t + 110000 + d);
		hand_mark(th, VP_KIND_END, i, t + 120000 + d);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	f1 = child(r, r->nodes, "f1");
	send = child(r, f1, "sendmsg");
	off = child(r, send, "preempted");
	assert_true(fabs(send->mean_ns - 22000) < 1e-6);
	assert_true(fabs(send->blocked_ns - 300) < 1e-6);
	assert_true(fabs(send->kernel_ns - (22000 - 500)) < 1e-6);
	assert_true(send->io_ns == 0);
	assert_true(fabs(off->mean_ns - 200) < 1e-6);
	assert_true(fabs(send->preempted_ns - 200) < 1e-6);
	assert_int_equal(off->n_calls, N);
	assert_int_equal(off->is_blame, 0);
	assert_int_equal(child(r, send, "body of sendmsg")->factor, send->factor);
	lock = child(r, f1, "pthread_mutex_lock");
	assert_true(fabs(lock->blocked_ns - 3000) < 1e-6 && lock->kernel_ns == 0);
	factor = hand_factor(r, "v:sendmsg");
	assert_true(factor->share > 0.99);
	assert_true(fabs(factor->blocked_share - 300.0 / 22000) < 1e-9);
	assert_true(fabs(factor->kernel_share - 21500.0 / 22000) < 1e-9);
	assert_true(fabs(r->blocked_share - 3300.0 / 139500) < 1e-9);
	assert_true(fabs(r->kernel_share - 21500.0 / 139500) < 1e-9);
	assert_true(r->io_share == 0);
	assert_true(fabs(r->running_share + r->kernel_share + r->blocked_share + r->preempted_share - 1) < 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Records that cannot be: the analysis ends, and sums stay sums. */
static void test_nonsense(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	uint64_t random = 5;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct hand_thread *th, *cpu;
		struct vprof_results *r;
		struct hand_trace h;

		hand_init(&h);
		th = hand_thread(&h, 1);
		fill(&h, th, NULL);
		cpu = hand_processor(&h, 0);
		for (int i = 0; i < 300; i++) {
			uint64_t t = hand_random(&random) % (round % 2 ? UINT64_MAX : 50000000);

			if (i % 50 == 49)
				hand_switches_lost(cpu, t + 1, hand_random(&random) & VP_PAYLOAD_MAX);
			else
				hand_switch(cpu, t + 1, (uint32_t)(hand_random(&random) % 3),
					    (uint32_t)hand_random(&random) & 0xff);
		}
		hand_write(&h);
		r = hand_analyze(&h, plan);
		assert_int_equal(r->n_complete, N);
		assert_true(fabs(r->nodes[0].mean_ns - 20230) < 1e-6);
		assert_true(r->preempted_share >= 0 && r->preempted_share <= 1);
		vprof_results_free(r);
		hand_release(&h);
	}
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline),       cmocka_unit_test(test_lost),
		cmocka_unit_test(test_tid_again),      cmocka_unit_test(test_tree),
		cmocka_unit_test(test_unknown),	       cmocka_unit_test(test_small_blocked_and_blame),
		cmocka_unit_test(test_within_sampled), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_cpu_unknown),    cmocka_unit_test(test_io),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
