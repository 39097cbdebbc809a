/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transaction contexts: stages from recorded call paths, the paper's pruning, and that times of all contexts together
 * are those of the variance tree, node by node, to the tick. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/transactions/call_paths.h"
#include "common/text.h"
#include "tests/unit/analysis/hand_trace.h"

/* Of no module: a function is called by its address. */
static void path(struct hand_thread *th, uint32_t id, const uint64_t *outermost_first, unsigned n)
{
	struct vp_unit u[1 + VP_STACK_MAX / 2] = { { 1, VP_W(VP_KIND_STACK, n | (uint64_t)VP_STACK_PATH << 8 |
										    (uint64_t)id << VP_PATH_SHIFT) } };

	for (unsigned i = 0; i < n; i++) {
		uint64_t address = outermost_first[n - 1 - i];

		if (i % 2)
			u[1 + i / 2].w = address;
		else
			u[1 + i / 2].t = address;
	}
	hand_units(th, u, 1 + (n + 1) / 2);
}

static void mark_of(struct hand_thread *th, enum vp_kind kind, const char *name, uint64_t id, uint64_t t,
		    uint32_t path_id)
{
	hand_mark_of(th, kind, name, id, t);
	th->units[th->n - 2].w = VP_W(kind, path_id);
}

static void mark(struct hand_thread *th, enum vp_kind kind, uint64_t id, uint64_t t, uint32_t path_id)
{
	mark_of(th, kind, INTERVAL, id, t, path_id);
}

static void enqueue(struct hand_thread *th, uint64_t item, uint64_t t, uint32_t path_id)
{
	hand_queue(th, VP_KIND_ENQUEUE, item, t);
	th->units[th->n - 1].w = path_id;
}

static const struct vprof_context *context(const struct vprof_results *r, const char *name)
{
	for (size_t i = 0; i < r->n_contexts; i++)
		if (!strcmp(r->contexts[i].name, name))
			return &r->contexts[i];
	fail_msg("no context %s; the first is %s", name, r->n_contexts ? r->contexts[0].name : "missing");
	return NULL;
}

struct times {
	double own_ns, total_ns;
};

static struct times times_of(const struct vprof_context *x, const char *name)
{
	struct times sum = { 0, 0 };

	for (size_t i = 0; i < x->n_profile; i++)
		if (!strcmp(x->profile[i].name, name)) {
			sum.own_ns += x->profile[i].own_ns;
			sum.total_ns += x->profile[i].total_ns;
		}
	return sum;
}

static void expect(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6)
		fail_msg("%g, not %g", value, wanted);
}

static void expect_stages(const uint32_t *given, uint32_t n_given, const uint32_t *wanted, uint32_t n_wanted)
{
	uint32_t stages[VPROF_STAGES_MAX], n = 0;

	for (uint32_t i = 0; i < n_given; i++)
		n = vprof_stages_append(stages, n, given[i]);
	assert_int_equal(n, n_wanted);
	assert_memory_equal(stages, wanted, n * sizeof *stages);
}

/* Section 4.1 of the paper. */
static void test_pruning(void **state)
{
	enum { ACCEPT = 1, READ, WRITE };
	uint32_t many[VPROF_STAGES_MAX + 9];

	(void)state;
	expect_stages((uint32_t[]){ ACCEPT, READ, READ, READ, WRITE }, 5, (uint32_t[]){ ACCEPT, READ, WRITE }, 3);
	expect_stages((uint32_t[]){ ACCEPT, READ, WRITE, READ }, 4, (uint32_t[]){ ACCEPT, READ }, 2);
	expect_stages((uint32_t[]){ ACCEPT, READ, WRITE, READ, WRITE, READ, WRITE }, 7,
		      (uint32_t[]){ ACCEPT, READ, WRITE }, 3);
	expect_stages((uint32_t[]){ ACCEPT, READ, ACCEPT }, 3, (uint32_t[]){ ACCEPT }, 1);
	for (uint32_t i = 0; i < VPROF_STAGES_MAX + 9; i++)
		many[i] = 100 + i;
	expect_stages(many, VPROF_STAGES_MAX + 9, many, VPROF_STAGES_MAX);
}

/* An event loop: a hit is answered in its first handler; a miss asks, and is answered in another, after one that read
 * in two turns. Both go through dispatch (0x20) of loop (0x10). */
static void test_event_loop(void **state)
{
	static const uint64_t on_request[] = { 0x10, 0x20, 0x30 }, hit[] = { 0x10, 0x20, 0x30, 0x31 },
			      on_read[] = { 0x10, 0x20, 0x40 }, on_reply[] = { 0x10, 0x20, 0x50 };
	struct vprof_plan *plan = hand_plan(4);
	const struct vprof_context *x;
	struct hand_thread *loop;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	loop = hand_thread(&h, 1);
	path(loop, 1, on_request, 3);
	path(loop, 2, hit, 4);
	path(loop, 3, on_read, 3);
	path(loop, 4, on_reply, 3);
	for (uint64_t i = 1; i <= 40; i++) {
		uint64_t t = 100000 * i;

		mark(loop, VP_KIND_BEGIN, i, t, 1);
		hand_call(loop, F(1), t + 10, t + 100);
		if (i % 4) { /* a hit */
			mark(loop, VP_KIND_END, i, t + 200, 2);
			continue;
		}
		mark(loop, VP_KIND_SUSPEND, i, t + 150, 1);
		hand_call(loop, F(4), t + 200, t + 900); /* somebody else's */
		for (uint64_t turn = 0; turn < 2; turn++) {
			mark(loop, VP_KIND_RESUME, i, t + 1000 + 1000 * turn, 3);
			hand_call(loop, F(2), t + 1010 + 1000 * turn, t + 1110 + 1000 * turn);
			mark(loop, VP_KIND_SUSPEND, i, t + 1500 + 1000 * turn, 3);
		}
		mark(loop, VP_KIND_RESUME, i, t + 3000, 4);
		hand_call(loop, F(3), t + 3001, t + 3301);
		mark(loop, VP_KIND_END, i, t + 4000, 4);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_contexts, 2);
	x = context(r, "0x30 -> 0x40 -> 0x50");
	assert_ptr_equal(x, &r->contexts[0]);
	assert_int_equal(x->n, 10);
	assert_int_equal(x->n_stages, 3);
	assert_string_equal(x->stages[1].path, "0x10 > 0x20 > 0x40");
	expect(x->total_ns, 10 * 4000);
	expect(x->share, 40000. / (40000 + 30 * 200));
	expect(x->queued_ns, 10 * (850 + 500 + 500));
	expect(x->running_ns, 10 * (150 + 1000 + 1000));
	expect(x->waiting_ns + x->preempted_ns, 0);
	expect(times_of(x, "f2").total_ns, 10 * 200);
	expect(times_of(x, "0x40").own_ns, 10 * 800); /* the second turn is the same stage */
	expect(times_of(x, "0x50").own_ns, 10 * 700);
	expect(times_of(x, "0x30").total_ns, 10 * 4000); /* a tree from the first stage on */
	expect(times_of(x, "f4").total_ns, 10 * 700);	 /* what it was queued behind */
	x = context(r, "0x31");
	assert_int_equal(x->n, 30);
	expect(x->total_ns, 30 * 200);
	expect(times_of(x, "f1").total_ns, 30 * 90);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Stages with queues, in two processes: the front (0x1) enqueues in two places for the pool (0x2), which asks a
 * database (0x3) in another process and goes on. */
static void test_staged(void **state)
{
	static const uint64_t get[] = { 0x1, 0x11, 0x19 }, put[] = { 0x1, 0x12, 0x19 }, pool[] = { 0x2, 0x21 },
			      database[] = { 0x3, 0x31 };
	struct vprof_plan *plan = hand_plan(4);
	struct hand_thread *front, *worker, *server;
	const struct vprof_context *x;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	front = hand_thread(&h, 1);
	worker = hand_thread(&h, 1);
	server = hand_thread(&h, 2);
	path(front, 1, get, 3);
	path(front, 2, put, 3);
	path(worker, 1, pool, 2);
	path(server, 1, database, 2);
	for (uint64_t i = 1; i <= 40; i++) {
		uint64_t t = 100000 * i;

		mark(front, VP_KIND_BEGIN, i, t, 0);
		enqueue(front, i, t + 100, i % 2 ? 1 : 2);
		hand_queue(worker, VP_KIND_DEQUEUE, i, t + 300);
		mark(worker, VP_KIND_RESUME, i, t + 310, 1);
		if (i % 2 == 0) {
			mark(worker, VP_KIND_SUSPEND, i, t + 400, 1);
			mark(server, VP_KIND_RESUME, i, t + 500, 1);
			hand_call(server, F(2), t + 510, t + 710);
			mark(server, VP_KIND_SUSPEND, i, t + 800, 1);
			mark(worker, VP_KIND_RESUME, i, t + 900, 1);
		}
		mark(worker, VP_KIND_END, i, t + 1000, 1);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_contexts, 2);
	x = context(r, "0x11 -> 0x21");
	assert_int_equal(x->n, 20);
	assert_int_equal(x->is_unknown, 0);
	x = context(r, "0x12 -> 0x21 -> 0x31");
	assert_int_equal(x->n, 20);
	expect(times_of(x, "f2").total_ns, 20 * 200);
	expect(times_of(x, "0x31").own_ns, 20 * 100);
	/* the response returns to the stage that asked */
	expect(times_of(x, "0x21").own_ns, 20 * (90 + 100));
	expect(times_of(x, "0x12").own_ns, 20 * 100);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

static void move_bytes(struct hand_thread *th, enum vp_kind kind, uint64_t channel, uint64_t n, uint64_t t)
{
	hand_units(th, (struct vp_unit[]){ { t, VP_W(kind, 2) }, { channel, n } }, 2);
}

static void move(struct hand_thread *th, enum vp_kind kind, uint64_t channel, uint64_t t)
{
	move_bytes(th, kind, channel, 1, t);
}

/* Messages carry the context: another process works for whatever its data was sent for, without knowing an id; the
 * response returns. Some are received in two parts, the head first. One request is sent by a thread that works for
 * none. */
static void test_received(void **state)
{
	static const uint64_t hit[] = { 0x1, 0x11 }, miss[] = { 0x1, 0x12 }, serve[] = { 0x3, 0x31 };
	struct vprof_plan *plan = hand_plan(4);
	struct hand_thread *front, *server;
	const struct vprof_context *x;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	front = hand_thread(&h, 1);
	server = hand_thread(&h, 2);
	path(front, 1, hit, 2);
	path(front, 2, miss, 2);
	path(server, 1, serve, 2);
	for (uint64_t i = 1; i <= 40; i++) {
		uint64_t t = 100000 * i;
		int is_taken_before = i % 8 < 4;

		mark(front, VP_KIND_BEGIN, i, t, 0);
		if (i % 2) {
			move_bytes(front, VP_KIND_SEND, 0x1002, 5, t + 100);
			mark(front, VP_KIND_SUSPEND, i, t + 150, 2);
			if (is_taken_before) {
				move_bytes(server, VP_KIND_RECEIVE, 0x1002, i % 16 < 8 ? 5 : 2, t + 190);
				if (i % 16 >= 8)
					move_bytes(server, VP_KIND_RECEIVE, 0x1002, 3, t + 200);
			}
			mark(server, VP_KIND_RESUME, VP_ID_RECEIVED, t + 210, 1);
			if (!is_taken_before)
				move_bytes(server, VP_KIND_RECEIVE, 0x1002, 5, t + 220);
			hand_call(server, F(2), t + 230, t + 330);
			move(server, VP_KIND_SEND, 0x2002, t + 400);
			mark(server, VP_KIND_SUSPEND, VP_ID_RECEIVED, t + 410, 1);
			move(front, VP_KIND_RECEIVE, 0x2002, t + 500);
			mark(front, VP_KIND_RESUME, VP_ID_RECEIVED, t + 510, 2);
		}
		mark(front, VP_KIND_END, i % 4 ? i : VP_ID_RECEIVED, t + 1000, i % 2 ? 2 : 1);
		move(front, VP_KIND_SEND, 0x1002, t + 2000); /* of no request */
		move(server, VP_KIND_RECEIVE, 0x1002, t + 2100);
		mark(server, VP_KIND_RESUME, VP_ID_RECEIVED, t + 2110, 1);
		hand_call(server, F(3), t + 2200, t + 2300);
		mark(server, VP_KIND_SUSPEND, VP_ID_RECEIVED, t + 2400, 1);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_complete, 40);
	assert_int_equal(r->n_contexts, 2);
	x = context(r, "0x12 -> 0x31");
	assert_int_equal(x->n, 20);
	expect(times_of(x, "f2").total_ns, 20 * 100);
	expect(times_of(x, "0x31").own_ns, 20 * (190 - 100)); /* from the resume to the response */
	expect(times_of(x, "f3").total_ns, 0);
	assert_int_equal(context(r, "0x11")->n, 20);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* A measured call of the library's that waits is the wait: beneath it others worked. */
static void test_waiting_call(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	const struct vprof_context *x;
	struct hand_thread *a, *b;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	path(a, 1, (uint64_t[]){ 0x1 }, 1);
	for (uint32_t i = 1; i <= 10; i++) {
		uint64_t t = 10000 * (uint64_t)i;

		mark(a, VP_KIND_BEGIN, i, t, 1);
		hand_call(b, F(3), t + 120, t + 480);
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, i, i, t + 500);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, i, t + 100, t + 500);
		hand_call(a, S(2), t + 90, t + 510);
		hand_call(a, F(1), t + 50, t + 550);
		mark(a, VP_KIND_END, i, t + 600, 1);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	x = context(r, "0x1");
	assert_int_equal(x->n_profile, 4);
	assert_string_equal(x->profile[2].name, "pthread_mutex_lock");
	assert_int_equal(x->profile[2].kind, VPROF_NODE_WAIT);
	assert_int_equal(x->profile[2].line, 5);
	assert_int_equal(x->profile[2].is_blame, 0);
	assert_string_equal(x->profile[3].name, "f3");
	assert_int_equal(x->profile[3].is_blame, 1);
	expect(x->waiting_ns, 10 * 420);
	expect(x->running_ns, 10 * 180);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* Two stages that name each other again and again; a stage without a call path; many stages. */
static void test_odd(void **state)
{
	struct vprof_plan *plan = hand_plan(2);
	struct hand_thread *a, *b;
	struct vprof_results *r;
	struct hand_trace h;
	uint64_t t = 1000;

	(void)state;
	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	for (uint32_t i = 1; i <= 40; i++)
		path(a, i, (uint64_t[]){ 0x100 + i }, 1);
	path(b, 1, (uint64_t[]){ 0x500, 0x501, 0x500, 0x502 }, 4);
	path(b, 1, (uint64_t[]){ 0x666 }, 1); /* damage: the number is taken */
	for (uint64_t i = 1; i <= 10; i++) {
		mark(a, VP_KIND_BEGIN, 3 * i, t, 1);
		for (uint64_t k = 0; k < 50; k++, t += 20) {
			mark(a, VP_KIND_SUSPEND, 3 * i, t + 5, 1);
			mark(b, VP_KIND_RESUME, 3 * i, t + 6, 1);
			mark(b, VP_KIND_SUSPEND, 3 * i, t + 15, 1);
			mark(a, VP_KIND_RESUME, 3 * i, t + 16, 1);
		}
		mark(a, VP_KIND_END, 3 * i, t + 20, 1);
		mark(a, VP_KIND_BEGIN, 3 * i + 1, t + 100, 0);
		mark(a, VP_KIND_END, 3 * i + 1, t + 1100, 99); /* a number that was never defined */
		mark(a, VP_KIND_BEGIN, 3 * i + 2, t + 2000, 1);
		for (uint32_t k = 1; k <= 40; k++) {
			mark(a, VP_KIND_SUSPEND, 3 * i + 2, t + 2000 + 20 * k, k);
			mark(a, VP_KIND_RESUME, 3 * i + 2, t + 2010 + 20 * k, k);
		}
		mark(a, VP_KIND_END, 3 * i + 2, t + 3000, 40);
		t += 10000;
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_int_equal(r->n_contexts, 3);
	expect(context(r, "0x101 -> 0x502")->total_ns, 10 * 1020);
	assert_string_equal(context(r, "0x101 -> 0x502")->stages[1].path, "0x500 > 0x502");
	assert_int_equal(context(r, "?")->is_unknown, 1);
	assert_int_equal(context(r, "?")->is_cut, 0);
	for (size_t i = 0; i < r->n_contexts; i++)
		if (r->contexts[i].n_stages == VPROF_STAGES_MAX) {
			assert_int_equal(r->contexts[i].is_cut, 1);
			expect(r->contexts[i].total_ns, 10 * 1000);
		}
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* As many stages as are told apart, and one more. */
static void test_many_stages(void **state)
{
	struct vprof_plan *plan = hand_plan(1);

	(void)state;
	for (uint32_t n = VPROF_STAGES_MAX; n <= VPROF_STAGES_MAX + 1; n++) {
		struct vprof_results *r;
		struct hand_thread *a;
		struct hand_trace h;

		hand_init(&h);
		a = hand_thread(&h, 1);
		for (uint32_t k = 1; k <= n; k++)
			path(a, k, (uint64_t[]){ 0x100 + k }, 1);
		for (uint64_t i = 1; i <= 10; i++) {
			uint64_t t = 10000 * i;

			mark(a, VP_KIND_BEGIN, i, t, 1);
			for (uint32_t k = 1; k < n; k++) {
				mark(a, VP_KIND_SUSPEND, i, t + 20 * k, k);
				mark(a, VP_KIND_RESUME, i, t + 20 * k + 10, k + 1);
			}
			mark(a, VP_KIND_END, i, t + 2000, n);
		}
		hand_write(&h);
		r = hand_analyze(&h, plan);
		assert_int_equal(r->n_contexts, 1);
		assert_int_equal(r->contexts[0].n_stages, VPROF_STAGES_MAX);
		assert_int_equal(r->contexts[0].is_cut, n > VPROF_STAGES_MAX);
		vprof_results_free(r);
		hand_release(&h);
	}
	vprof_plan_free(plan);
}

/* Threads that work for requests, or for none, take two locks in turn; those who hold one wait for the other; items go
 * through a queue; call paths are some of a few, or none. */
static void make(struct hand_trace *h, uint64_t seed)
{
	struct hand_thread *a, *b, *c, *cpu;
	uint64_t t = 1000;

	hand_init(h);
	a = hand_thread(h, 1);
	b = hand_thread(h, 1);
	c = hand_thread(h, 1 + seed % 2);
	cpu = hand_processor(h, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		path(a, i, (uint64_t[]){ 0x1, 0x10 + i }, 2);
		path(c, i, (uint64_t[]){ 0x2, 0x20 + i }, 2);
	}
	for (uint32_t i = 1; i <= 80; i++, t += 10000) {
		uint64_t p = 100 + hand_random(&seed) % 400, q = p + 100 + hand_random(&seed) % 900,
			 w = q + 100 + hand_random(&seed) % 900, again = hand_random(&seed) % 2;

		mark(a, VP_KIND_BEGIN, i, t, (uint32_t)(hand_random(&seed) % 5));
		hand_wait(b, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x20, i, t + p + 50, t + q);
		hand_wake(c, VP_WAIT_MUTEX, 0, 0x20, i, i, t + q - 20);
		hand_call(c, F(4), t + p + 60, t + q - 30);
		if (hand_random(&seed) % 2) {
			hand_switch(cpu, t + q + 15, 2, VP_SWITCH_OUT | VP_SWITCH_PREEMPTED);
			hand_switch(cpu, t + q + 45, 2, 0);
			hand_switch(cpu, t + w + 22, 1, VP_SWITCH_OUT | VP_SWITCH_PREEMPTED);
			hand_switch(cpu, t + w + 27, 1, 0);
		}
		hand_call(b, F(3), t + q + 10, t + w - 30);
		if (hand_random(&seed) % 2)
			hand_call(b, F(2), t + p + 10, t + w - 10);
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, i, i, t + w);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, i, t + p, t + w + 9);
		hand_call(a, F(1), t + 20, t + w + 20);
		enqueue(a, i, t + w + 30, (uint32_t)(hand_random(&seed) % 5));
		mark(a, VP_KIND_SUSPEND, i, t + w + 31, (uint32_t)(hand_random(&seed) % 5));
		hand_call(c, F(3), t + w + 40, t + w + 140);
		hand_queue(c, VP_KIND_DEQUEUE, i, t + w + 200);
		mark(c, VP_KIND_RESUME, i, t + w + 201, (uint32_t)(hand_random(&seed) % 5));
		hand_call(c, F(2), t + w + 205, t + w + 250);
		if (again) {
			mark(c, VP_KIND_SUSPEND, i, t + w + 260, (uint32_t)(hand_random(&seed) % 5));
			mark(a, VP_KIND_RESUME, i, t + w + 300, 1);
			hand_call(a, F(1), t + w + 310, t + w + 390);
			mark(a, VP_KIND_END, i, t + w + 400, (uint32_t)(hand_random(&seed) % 5));
		} else {
			mark(c, VP_KIND_END, i, t + w + 400, (uint32_t)(hand_random(&seed) % 5));
		}
	}
	hand_write(h);
}

/* "f1/pthread_mutex_lock/f3" of a node of the variance tree. */
static void tree_path(const struct vprof_results *r, size_t node, struct vprof_text *t)
{
	if (!node)
		return;
	tree_path(r, r->nodes[node].parent, t);
	vprof_text_addf(t, "/%s", r->nodes[node].display);
}

/* The time of all nodes of all contexts with this path; stages are left out of it. */
static uint64_t sum_profiles(const struct vprof_results *r, const char *wanted)
{
	double sum = 0;

	for (size_t c = 0; c < r->n_contexts; c++) {
		const struct vprof_context *x = &r->contexts[c];
		const char *names[64] = { NULL };

		for (size_t i = 0; i < x->n_profile; i++) {
			struct vprof_text t = VPROF_TEXT_INIT;

			assert_true(x->profile[i].depth < 64);
			names[x->profile[i].depth] = x->profile[i].kind == VPROF_NODE_INTERVAL ? NULL :
												 x->profile[i].name;
			for (uint32_t k = 0; k <= x->profile[i].depth; k++)
				if (names[k])
					vprof_text_addf(&t, "/%s", names[k]);
			if (names[x->profile[i].depth] && !strcmp(t.s, wanted))
				sum += x->profile[i].total_ns;
			vprof_text_release(&t);
		}
	}
	return (uint64_t)llround(sum);
}

static void test_equals_the_tree(void **state)
{
	struct vprof_plan *plan = hand_plan(4);

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct vprof_results *r;
		struct hand_trace h;
		double all = 0, parts = 0;
		uint64_t n = 0, n_nodes = 0;

		make(&h, seed);
		r = hand_analyze(&h, plan);
		for (size_t i = 1; i < r->n_nodes; i++) {
			struct vprof_text t = VPROF_TEXT_INIT;
			uint64_t in_tree = (uint64_t)llround(r->nodes[i].mean_ns * (double)r->n_complete), found;

			if (r->nodes[i].kind == VPROF_NODE_BODY)
				continue;
			tree_path(r, i, &t);
			found = sum_profiles(r, t.s);
			if (found != in_tree)
				fail_msg("seed %d: %s: %d in contexts, %d in the tree", (int)seed, t.s, (int)found,
					 (int)in_tree);
			n_nodes++;
			vprof_text_release(&t);
		}
		assert_true(n_nodes > 8);
		assert_true(r->n_contexts > 10);
		for (size_t i = 0; i < r->n_contexts; i++) {
			const struct vprof_context *x = &r->contexts[i];

			n += x->n;
			all += x->total_ns;
			parts += x->running_ns + x->waiting_ns + x->queued_ns + x->preempted_ns;
		}
		assert_int_equal(n, r->n_complete);
		expect(all, llround(r->mean_ns * (double)r->n_complete));
		expect(parts, all);
		vprof_results_free(r);
		hand_release(&h);
	}
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pruning),	     cmocka_unit_test(test_event_loop),
		cmocka_unit_test(test_staged),	     cmocka_unit_test(test_received),
		cmocka_unit_test(test_odd),	     cmocka_unit_test(test_many_stages),
		cmocka_unit_test(test_waiting_call), cmocka_unit_test(test_equals_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
