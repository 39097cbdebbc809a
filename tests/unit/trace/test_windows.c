/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decision when calls are recorded, against simulated targets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/windows.h"

#define MS UINT64_C(1000000)

struct target {
	double open_rate, closed_rate; /* ns that recording costs in one */
	uint64_t longest_ns;
};

struct account {
	double cost;
	uint64_t open_ns, n_changes, shortest, longest_gap;
};

static struct account run(struct vprof_windows *w, double share, const struct target *t, uint64_t length_ns)
{
	struct account a = { .shortest = UINT64_MAX };
	uint64_t since = 0;

	vprof_windows_start(w, share, 0, 42);
	for (uint64_t now = 5 * MS; now <= length_ns; now += 5 * MS) {
		a.cost += (w->is_open ? t->open_rate : t->closed_rate) * 5 * MS;
		a.open_ns += w->is_open ? 5 * MS : 0;
		if (!vprof_windows_step(w, now, a.cost, t->longest_ns))
			continue;
		a.n_changes++;
		if (!w->is_open && now - since < a.shortest)
			a.shortest = now - since;
		if (w->is_open && now - since > a.longest_gap)
			a.longest_gap = now - since;
		since = now;
	}
	return a;
}

static void test_below_the_share(void **state)
{
	struct vprof_windows w;
	struct account a = run(&w, 0.05, &(struct target){ 0.04, 0.01, MS }, 60000 * MS);

	(void)state;
	assert_int_equal(a.n_changes, 0);
	assert_int_equal(w.is_open, 1);
	assert_true(vprof_windows_open_share(&w, 60000 * MS) == 1);
	a = run(&w, 0, &(struct target){ 3, 0.01, MS }, 60000 * MS); /* no limit */
	assert_int_equal(a.n_changes, 0);
}

/* In the long run recording takes its share, whatever it costs while a window is open. */
static void test_share_is_kept(void **state)
{
	static const struct target targets[] = {
		{ 0.06, 0, 0 }, { 0.3, 0.01, 0 }, { 0.3, 0.03, 2 * MS }, { 2.5, 0.02, 100000 }
	};
	struct vprof_windows w;

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct account a = run(&w, 0.05, &targets[i], 600000 * MS);
		double took = (a.cost - 1e8) / 600e9;

		print_message("%.2f while open: %.4f in all, %d windows\n", targets[i].open_rate, took, (int)w.n);
		assert_true(took > 0.03 && took < 0.06);
		assert_true(w.n > 100);
		assert_true(a.shortest >= 20 * MS);
		assert_true(fabs(vprof_windows_open_share(&w, 600000 * MS) - (double)a.open_ns / 600e9) < 0.01);
	}
}

/* Hopeless: what cannot be closed takes more than the share. Windows come all the same. */
static void test_marks_alone_cost_more(void **state)
{
	struct vprof_windows w;
	struct account a = run(&w, 0.01, &(struct target){ 1, 0.5, 0 }, 600000 * MS);

	(void)state;
	assert_true(w.n > 30);
	assert_true(a.longest_gap <= 10005 * MS);
}

/* A window has room for intervals that begin in it, up to a limit. */
static void test_long_intervals(void **state)
{
	struct vprof_windows w;
	struct account a = run(&w, 0.05, &(struct target){ 0.3, 0, 300 * MS }, 600000 * MS);

	(void)state;
	assert_true(a.shortest >= 320 * MS);
	assert_int_equal(w.tail_ns, 300 * MS);
	a = run(&w, 0.05, &(struct target){ 0.3, 0, 9000 * MS }, 600000 * MS);
	assert_int_equal(w.tail_ns, VPROF_WINDOW_TAIL_NS);
	assert_true(a.shortest >= 1020 * MS);
}

/* Begins of windows fall evenly into every period that a target may have. */
static void test_no_aliasing(void **state)
{
	struct vprof_windows w;
	int n_early = 0, n = 0;

	(void)state;
	vprof_windows_start(&w, 0.05, 0, 7);
	for (uint64_t now = MS; now < 1200000 * MS; now += MS) {
		static double cost;

		cost += w.is_open ? 0.5 * MS : 0;
		if (!vprof_windows_step(&w, now, cost, 0) || !w.is_open)
			continue;
		n++;
		n_early += now / MS % 200 < 100; /* near the mean distance of windows */
	}
	print_message("%d of %d windows in the first half of a period\n", n_early, n);
	assert_true(n > 1000);
	assert_true(fabs((double)n_early / n - 0.5) < 0.06);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_below_the_share),	      cmocka_unit_test(test_share_is_kept),
		cmocka_unit_test(test_marks_alone_cost_more), cmocka_unit_test(test_long_intervals),
		cmocka_unit_test(test_no_aliasing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
