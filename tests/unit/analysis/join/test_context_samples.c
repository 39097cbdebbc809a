/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples by context: a history and stretches of work, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/join/context_samples.h"

enum function { START, MAIN, READ_IT, WRITE_IT, PROBE, SYS_WRITE, N_FUNCTIONS };
enum stack { IN_MAIN, IN_READ, IN_WRITE, IN_PROBE, IN_KERNEL, N_STACKS };

static void add_stack(struct vprof_latency_history *h, uint32_t n_user, const enum function *functions, uint32_t n)
{
	struct vprof_latency_stack *s = VPROF_PUSH(&h->stacks);

	assert_non_null(s);
	*s = (struct vprof_latency_stack){ h->frames.n, n, n_user };
	for (uint32_t i = 0; i < n; i++) {
		struct vprof_latency_frame *f = VPROF_PUSH(&h->frames);

		assert_non_null(f);
		*f = (struct vprof_latency_frame){ functions[i], i };
	}
}

static void add_event(struct vprof_latency_history *h, uint64_t t, enum stack stack, uint32_t flags)
{
	struct vprof_latency_event *e = VPROF_PUSH(&h->events);

	assert_non_null(e);
	*e = (struct vprof_latency_event){ t, stack, flags };
	h->threads.v[h->threads.n - 1].n_events++;
}

static void add_thread(struct vprof_latency_history *h, uint32_t tid, uint64_t from, uint64_t to)
{
	struct vprof_latency_thread *t = VPROF_PUSH(&h->threads);

	assert_non_null(t);
	*t = (struct vprof_latency_thread){ "worker", 1, tid, from, to, 1, 1, 0, 0, h->events.n, 0 };
}

static void make(struct vprof_latency_history *h)
{
	static const struct vprof_latency_function functions[] = {
		[START] = { "_start", "server", VPROF_LATENCY_PROGRAM, 1, 0, NULL },
		[MAIN] = { "main", "server", VPROF_LATENCY_PROGRAM, 1, 0, NULL },
		[READ_IT] = { "read_it", "server", VPROF_LATENCY_PROGRAM, 0, 0, NULL },
		[WRITE_IT] = { "write_it", "server", VPROF_LATENCY_PROGRAM, 0, 0, NULL },
		[PROBE] = { "vprof_enter", "libvprof.so", VPROF_LATENCY_LIBRARY, 0, 0, NULL },
		[SYS_WRITE] = { "ksys_write", "", VPROF_LATENCY_KERNEL, 0, 0, NULL },
	};

	*h = (struct vprof_latency_history){ .begin = 0, .end = 1000 };
	for (int i = 0; i < N_FUNCTIONS; i++) {
		struct vprof_latency_function *f = VPROF_PUSH(&h->functions);

		assert_non_null(f);
		*f = functions[i];
	}
	add_stack(h, 2, (const enum function[]){ START, MAIN }, 2);
	add_stack(h, 3, (const enum function[]){ START, MAIN, READ_IT }, 3);
	add_stack(h, 3, (const enum function[]){ START, MAIN, WRITE_IT }, 3);
	add_stack(h, 4, (const enum function[]){ START, MAIN, WRITE_IT, PROBE }, 4);
	add_stack(h, 3, (const enum function[]){ START, MAIN, WRITE_IT, SYS_WRITE }, 4);
}

static void expect(const struct vprof_context *x, size_t i, const char *name, uint32_t depth, uint64_t n, uint64_t own)
{
	assert_true(i < x->n_sampled);
	assert_string_equal(x->sampled[i].name, name);
	assert_int_equal(x->sampled[i].depth, depth);
	assert_int_equal(x->sampled[i].n, n);
	assert_int_equal(x->sampled[i].n_own, own);
}

/* Two windows of thread 7, and thread 8, which works for nobody. Stretches end before their last instant. */
static void test_by_hand(void **state)
{
	struct vprof_latency_history h;
	struct vprof_results *r = vprof_results_new();
	const struct vprof_worked worked[] = {
		{ 7, 0, 100, 200 }, { 7, 1, 200, 300 }, { 7, 0, 380, 620 }, { 9, 0, 0, 1000 }
	};

	(void)state;
	assert_non_null(r);
	r->contexts = calloc(3, sizeof *r->contexts);
	r->n_contexts = 3;
	make(&h);
	add_thread(&h, 8, 0, 1000);
	add_event(&h, 150, IN_READ, VPROF_LATENCY_TIMER);
	add_thread(&h, 7, 0, 400);
	add_event(&h, 99, IN_READ, VPROF_LATENCY_TIMER);
	add_event(&h, 100, IN_READ, VPROF_LATENCY_TIMER);
	add_event(&h, 150, IN_READ, 0); /* a system call's */
	add_event(&h, 199, IN_MAIN, VPROF_LATENCY_TIMER);
	add_event(&h, 200, IN_WRITE, VPROF_LATENCY_TIMER);
	add_event(&h, 250, IN_PROBE, VPROF_LATENCY_TIMER);
	add_event(&h, 299, IN_KERNEL, VPROF_LATENCY_TIMER | VPROF_LATENCY_NEW_CALL);
	add_event(&h, 300, IN_WRITE, VPROF_LATENCY_TIMER);
	add_event(&h, 390, IN_READ, VPROF_LATENCY_TIMER);
	add_thread(&h, 7, 600, 1000);
	add_event(&h, 610, IN_WRITE, VPROF_LATENCY_TIMER);
	add_event(&h, 620, IN_WRITE, VPROF_LATENCY_TIMER);
	assert_int_equal(vprof_latency_history_check(&h, NULL), VPROF_OK);

	assert_int_equal(vprof_context_samples_fill(r, worked, sizeof worked / sizeof *worked, &h), VPROF_OK);
	assert_int_equal(r->contexts[0].n_sampled, 3);
	expect(&r->contexts[0], 0, "main", 0, 4, 1);
	expect(&r->contexts[0], 1, "read_it", 1, 2, 2);
	expect(&r->contexts[0], 2, "write_it", 1, 1, 1);
	assert_int_equal(r->contexts[1].n_sampled, 3);
	expect(&r->contexts[1], 0, "main", 0, 3, 0);
	expect(&r->contexts[1], 1, "write_it", 1, 3, 2);
	expect(&r->contexts[1], 2, "ksys_write", 2, 1, 1);
	assert_int_equal(r->contexts[2].n_sampled, 0);
	vprof_latency_history_release(&h);
	vprof_results_free(r);
}

/* Of very many samples, functions with one in 500 or more. */
static void test_least(void **state)
{
	struct vprof_latency_history h;
	struct vprof_results *r = vprof_results_new();
	const struct vprof_worked worked = { 7, 0, 0, 10000 };

	(void)state;
	assert_non_null(r);
	r->contexts = calloc(1, sizeof *r->contexts);
	r->n_contexts = 1;
	make(&h);
	h.end = 10000;
	add_thread(&h, 7, 0, 10000);
	for (uint64_t t = 0; t < 2000; t++)
		add_event(&h, t, t < 4 ? IN_READ : t < 9 ? IN_WRITE : IN_MAIN, VPROF_LATENCY_TIMER);
	assert_int_equal(vprof_context_samples_fill(r, &worked, 1, &h), VPROF_OK);
	assert_int_equal(r->contexts[0].n_sampled, 2);
	expect(&r->contexts[0], 0, "main", 0, 2000, 1995);
	expect(&r->contexts[0], 1, "write_it", 1, 5, 5);
	vprof_latency_history_release(&h);
	vprof_results_free(r);
}

#define DEEP 300

/* Three stacks of 300 functions: there is room for 500, so the heaviest is told alone, and not the one that comes
 * first. */
static void test_deep(void **state)
{
	struct vprof_latency_history h;
	struct vprof_results *r = vprof_results_new();
	const struct vprof_worked worked = { 7, 0, 0, 100 };
	uint64_t t = 0;

	(void)state;
	assert_non_null(r);
	r->contexts = calloc(1, sizeof *r->contexts);
	r->n_contexts = 1;
	make(&h);
	add_thread(&h, 7, 0, 100);
	for (int s = 0; s < 3; s++) {
		enum function functions[DEEP];

		for (int i = 0; i < DEEP; i++)
			functions[i] = (enum function)(MAIN + (s + i) % 3);
		add_stack(&h, DEEP, functions, DEEP);
		for (int k = 0; k < 8 + s; k++)
			add_event(&h, t++, (enum stack)(h.stacks.n - 1), VPROF_LATENCY_TIMER);
	}
	assert_int_equal(vprof_context_samples_fill(r, &worked, 1, &h), VPROF_OK);
	assert_int_equal(r->contexts[0].n_sampled, DEEP);
	expect(&r->contexts[0], 0, "write_it", 0, 10, 0);
	expect(&r->contexts[0], DEEP - 1, "read_it", DEEP - 1, 10, 10);
	vprof_latency_history_release(&h);
	vprof_results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
