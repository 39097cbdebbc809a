/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account of what recording costs, against simulated programs whose cost is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/recording_cost.h"

#define MS 1e6

struct program {
	double request_ns;	  /* without a recorder */
	double parts_ns, real_ns; /* that a request takes in a window: by the parts, and in truth */
	double noise;		  /* a stretch's requests take up to so much more or less */
	int sends;		  /* for each request; 0: it neither sends, wakes nor sleeps */
};

static double draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (double)(*random >> 11) / 9007199254740992.0;
}

static void run(struct vprof_cost_figures *now, const struct program *p, double busy_ns, int is_open, uint64_t *random)
{
	static double n_requests;

	double each = (p->request_ns + (is_open ? p->real_ns : 0)) * (1 + p->noise * (2 * draw(random) - 1));
	double n = busy_ns / each;

	now->busy_ns += busy_ns;
	now->taken_ns += is_open ? n * p->parts_ns : 0;
	n_requests = now->busy_ns > busy_ns ? n_requests + n : n;
	now->n_done[VPROF_DONE_SENT] = (uint64_t)(n_requests * p->sends);
	now->n_done[VPROF_DONE_SLEPT] = (uint64_t)(n_requests / 50 * p->sends);
}

/* As many windows of 5 ms, each behind a pause of 100 ms. */
static double factor_of(const struct program *p, int n_windows)
{
	struct vprof_cost_figures now = { 0 };
	struct vprof_recording_cost c;
	uint64_t random = 88172645463325252u;

	vprof_recording_cost_start(&c, &now);
	for (int i = 0; i < n_windows; i++) {
		run(&now, p, 5 * MS, 1, &random);
		vprof_recording_cost_edge(&c, &now, 1);
		run(&now, p, 100 * MS, 0, &random);
		vprof_recording_cost_edge(&c, &now, 0);
	}
	return c.factor;
}

static void test_what_is_displaced_is_found(void **state)
{
	static const double real[] = { 1000, 2000, 4000, 6000 };

	(void)state;
	for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
		struct program p = { 10000, 2000, real[i], 0.05, 1 };
		double found = factor_of(&p, 100), truth = real[i] / 2000 < 1 ? 1 : real[i] / 2000;

		print_message("%.2f: %.2f\n", truth, found);
		assert_true(fabs(found - truth) < 0.2);
	}
}

/* What was learned from packets stays when they are not counted any more. */
static void test_packets_that_are_not_counted(void **state)
{
	const struct program p = { 10000, 2000, 4000, 0.05, 1 };
	struct vprof_cost_figures now = { 0 };
	struct vprof_recording_cost c;
	uint64_t random = 88172645463325252u, n_sent = 0;

	(void)state;
	vprof_recording_cost_start(&c, &now);
	for (int i = 0; i < 200; i++) {
		for (int is_open = 1; is_open >= 0; is_open--) {
			now.misses[VPROF_DONE_SENT] = i >= 100;
			run(&now, &p, (is_open ? 5 : 100) * MS, is_open, &random);
			n_sent = now.misses[VPROF_DONE_SENT] ? n_sent : now.n_done[VPROF_DONE_SENT];
			now.n_done[VPROF_DONE_SENT] = n_sent;
			now.n_done[VPROF_DONE_SLEPT] = 0;
			vprof_recording_cost_edge(&c, &now, is_open);
		}
	}
	print_message("2.00: %.2f\n", c.factor);
	assert_true(fabs(c.factor - 2) < 0.2);
}

/* Where nothing is known, or too little, it is what is usual. */
static void test_what_is_usual(void **state)
{
	struct program silent = { 10000, 2000, 6000, 0.05, 0 }, noisy = { 10000, 200, 200, 0.9, 1 },
		       few = { 10000, 2000, 8000, 0.05, 1 };
	double usual = factor_of(&silent, 100);

	(void)state;
	assert_true(usual > 1.5 && usual <= 2);
	assert_true(fabs(factor_of(&noisy, 20) - usual) < 0.5);
	assert_true(fabs(factor_of(&few, 1) - usual) < 1e-9); /* the first window tells nothing */
	assert_true(factor_of(&few, 20) > 2.5);
}

/* The account never gets less, and what was counted by an earlier factor stays. */
static void test_total(void **state)
{
	struct program p = { 10000, 2000, 6000, 0.05, 1 };
	struct vprof_cost_figures now = { 0 };
	struct vprof_recording_cost c;
	uint64_t random = 88172645463325252u;
	double before = 0, total;

	(void)state;
	vprof_recording_cost_start(&c, &now);
	for (int i = 0; i < 100; i++) {
		run(&now, &p, 5 * MS, 1, &random);
		now.n_events += 100;
		total = vprof_recording_cost_count(&c, &now);
		assert_true(total > before);
		before = total;
		vprof_recording_cost_edge(&c, &now, 1);
		assert_true(vprof_recording_cost_count(&c, &now) == total);
		run(&now, &p, 100 * MS, 0, &random);
		now.n_interrupts += 100;
		total = vprof_recording_cost_count(&c, &now);
		assert_true(total > before && total < before + 1e6);
		before = total;
		vprof_recording_cost_edge(&c, &now, 0);
	}
	total = vprof_recording_cost_count(&c, &now);
	assert_true(total > 2 * now.taken_ns && total < 4 * now.taken_ns);
}

/* To open and close windows counts once, by no factor, and not as taken throughout. */
static void test_edges(void **state)
{
	struct program p = { 10000, 2000, 6000, 0.05, 1 };
	struct vprof_cost_figures now = { 0 };
	struct vprof_recording_cost c;
	uint64_t random = 88172645463325252u;
	double before;

	(void)state;
	vprof_recording_cost_start(&c, &now);
	run(&now, &p, 5 * MS, 1, &random);
	vprof_recording_cost_edge(&c, &now, 1);
	run(&now, &p, 1000 * MS, 0, &random);
	before = vprof_recording_cost_count(&c, &now);
	now.edges_ns += 1 * MS;
	assert_true(fabs(vprof_recording_cost_count(&c, &now) - before - 1 * MS) < 1e-3);
	assert_true(!(vprof_recording_cost_throughout(&c, &now) > 0));
}

/* What is recorded in windows does not count, and nothing is said before enough is known. */
static void test_throughout(void **state)
{
	struct program p = { 10000, 2000, 6000, 0.05, 1 };
	struct vprof_cost_figures now = { 0 };
	struct vprof_recording_cost c;
	uint64_t random = 88172645463325252u;

	(void)state;
	vprof_recording_cost_start(&c, &now);
	for (int i = 0; i < 10; i++) {
		run(&now, &p, 5 * MS, 1, &random);
		now.n_events += 5000;
		vprof_recording_cost_edge(&c, &now, 1);
		run(&now, &p, 100 * MS, 0, &random);
		now.n_events += 10000; /* 3 ms */
		vprof_recording_cost_edge(&c, &now, 0);
		assert_true(i >= 4 || !(vprof_recording_cost_throughout(&c, &now) > 0));
	}
	assert_true(fabs(vprof_recording_cost_throughout(&c, &now) - 0.03) < 1e-9);
	run(&now, &p, 900 * MS, 0, &random); /* not over yet, and quieter */
	assert_true(fabs(vprof_recording_cost_throughout(&c, &now) - 0.03 * 10 / 19) < 1e-9);
	for (int i = 0; i < 1000; i++) {
		run(&now, &p, 100 * MS, 0, &random);
		now.n_events += 20000;
		vprof_recording_cost_edge(&c, &now, 0);
	}
	assert_true(fabs(vprof_recording_cost_throughout(&c, &now) - 0.06) <
		    1e-3); /* what was long ago counts no more */
}

static void test_own_call(void **state)
{
	double ns = vprof_recording_cost_own_call();

	(void)state;
	assert_true(ns > 1 && isfinite(ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_displaced_is_found),
		cmocka_unit_test(test_packets_that_are_not_counted),
		cmocka_unit_test(test_what_is_usual),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_throughout),
		cmocka_unit_test(test_own_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
