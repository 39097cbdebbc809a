/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tail, mean, types, work, ranking and probe cost of traces whose every duration the test knows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_errno.h>

#include "analysis/variance/probe_cost.h"
#include "analysis/warnings.h"
#include "tests/unit/analysis/hand_trace.h"
#include "tests/stats/pi_digits.h"

#define N 2000

/* of every interval, in ns */
struct truth {
	double total[N], parse[N], execute[N], compact[N], rows[N];
	int is_set[N];
};

/* f1 takes 20 us more for SET; f2 takes 50 ns a row; f3 takes 90 us more once in a hundred; 100 ns lie between. */
static void write_trace(struct hand_trace *h, struct truth *truth, uint64_t offset)
{
	struct hand_thread *th, *other;
	uint64_t random = 17, step = 1000000 + 2 * offset;

	hand_init(h);
	th = hand_thread(h, 1);
	other = hand_thread(h, 1);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t rows = 1 + hand_random(&random) % 200, t = step * (i + 1),
			 is_set = hand_random(&random) % 4 == 0;
		uint64_t parse = 1000 + 20000 * is_set + hand_random(&random) % 100;
		uint64_t execute = offset + 50 * rows + hand_random(&random) % 1000;
		uint64_t compact = 500 + (i % 100 == 57 ? 90000 : 0) + hand_random(&random) % 200;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_type(th, is_set ? "SET" : "GET", t + 1);
		hand_work(th, "rows", (int64_t)rows - 1, t + 10);
		hand_work(th, "rows", 1, t + 20);
		hand_work(th, "requests", 1, t + 21);
		hand_work(other, "rows", 1000, t + 22); /* works for nobody */
		hand_call(th, F(1), t + 30, t + 30 + parse);
		hand_call(th, F(2), t + 60 + parse, t + 60 + parse + execute);
		hand_call(th, F(3), t + 70 + parse + execute, t + 70 + parse + execute + compact);
		hand_mark(th, VP_KIND_END, i, t + 100 + parse + execute + compact);
		truth->parse[i] = (double)parse;
		truth->execute[i] = (double)execute;
		truth->compact[i] = (double)compact;
		truth->total[i] = 100 + truth->parse[i] + truth->execute[i] + truth->compact[i];
		truth->rows[i] = (double)rows;
		truth->is_set[i] = (int)is_set;
	}
	hand_write(h);
}

static double mean_of(const double *x, const int *is_in, int wanted)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < N; i++)
		if (!is_in || is_in[i] == wanted) {
			sum += x[i];
			n++;
		}
	return sum / n;
}

static double covariance(const double *x, const double *y)
{
	double mean_x = mean_of(x, NULL, 0), mean_y = mean_of(y, NULL, 0), sum = 0;

	for (size_t i = 0; i < N; i++)
		sum += (x[i] - mean_x) * (y[i] - mean_y);
	return sum / (N - 1);
}

static void close_to(double found, double exact, double relative)
{
	if (!(fabs(found - exact) <= relative * fabs(exact)))
		fail_msg("found %.17g, exact %.17g", found, exact);
}

static const struct vprof_contribution *contribution(const struct vprof_results *r, const char *name)
{
	for (size_t i = 0; i < r->n_contributions; i++)
		if (!strcmp(r->contributions[i].name, name))
			return &r->contributions[i];
	fail_msg("no contribution of %s", name);
	return NULL;
}

static struct vprof_results *analyze(const struct hand_trace *h, const struct vprof_plan *plan, double slower_than_ns)
{
	const struct vprof_analyze_options o = {
		.trace_dir = h->dir, .plan = plan, .k = 3, .min_intervals = 2, .slower_than_ns = slower_than_ns
	};
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };

	if (vprof_analyze(&r, &o, &err))
		fail_msg("%s", err.message);
	return r;
}

static int has_warning(const struct vprof_results *r, const char *text)
{
	for (size_t i = 0; i < r->n_warnings; i++)
		if (strstr(r->warnings[i], text))
			return 1;
	return 0;
}

static void check_contributions(const struct vprof_results *r, const struct truth *truth, const int *is_slow)
{
	const struct {
		const char *name;
		const double *x;
	} parts[] = { { "f1", truth->parse }, { "f2", truth->execute }, { "f3", truth->compact } };
	double mean = 0, gap = 0, tail = 0;

	for (size_t i = 0; i < r->n_contributions; i++) {
		mean += r->contributions[i].mean_ns;
		tail += r->contributions[i].tail_ns;
		gap += r->contributions[i].gap_ns;
		assert_true(i == 0 || r->contributions[i - 1].mean_ns >= r->contributions[i].mean_ns);
	}
	close_to(mean, r->mean_ns, 1e-12);
	close_to(tail, r->tail_ns, 1e-12);
	close_to(gap, r->tail_ns - r->rest_ns, 1e-9);
	close_to(r->tail_ns, mean_of(truth->total, is_slow, 1), 1e-12);
	close_to(r->rest_ns, mean_of(truth->total, is_slow, 0), 1e-12);
	for (size_t k = 0; k < 3; k++) {
		const struct vprof_contribution *c = contribution(r, parts[k].name);

		close_to(c->mean_ns, mean_of(parts[k].x, NULL, 0), 1e-12);
		close_to(c->tail_ns, mean_of(parts[k].x, is_slow, 1), 1e-12);
		close_to(c->rest_ns, mean_of(parts[k].x, is_slow, 0), 1e-12);
		assert_true(c->mean_low < c->mean_ns && c->mean_ns < c->mean_high);
		assert_true(c->gap_low <= c->gap_ns && c->gap_ns <= c->gap_high);
	}
	close_to(contribution(r, "body of request")->mean_ns, 100, 1e-9);
}

static void test_tail_and_mean(void **state)
{
	static const uint64_t offsets[] = { 0, 1000000000 };
	struct vprof_plan *plan = hand_plan(3);
	struct truth *truth = malloc(sizeof *truth);
	int is_slow[N];

	(void)state;
	assert_non_null(truth);
	for (size_t k = 0; k < 2; k++) {
		struct vprof_results *r;
		struct hand_trace h;

		write_trace(&h, truth, offsets[k]);
		for (size_t i = 0; i < N; i++)
			is_slow[i] = i % 100 == 57;
		r = analyze(&h, plan, 0);
		assert_int_equal(r->n_tail, 20);
		assert_int_equal(r->tail_is_asked, 0);
		check_contributions(r, truth, is_slow);
		assert_true(contribution(r, "f3")->gap_low > 0.8 * (r->tail_ns - r->rest_ns));
		vprof_results_free(r);

		for (size_t i = 0; i < N; i++)
			is_slow[i] = truth->total[i] > (double)offsets[k] + 25000;
		r = analyze(&h, plan, (double)offsets[k] + 25000);
		assert_true(r->n_tail > 100 && r->n_tail < N / 2);
		assert_int_equal(r->tail_is_asked, 1);
		check_contributions(r, truth, is_slow);
		vprof_results_free(r);
		hand_release(&h);
	}
	free(truth);
	vprof_plan_free(plan);
}

static void test_no_tail(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct truth *truth = malloc(sizeof *truth);
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	assert_non_null(truth);
	write_trace(&h, truth, 0);
	r = analyze(&h, plan, 1e12);
	assert_int_equal(r->n_tail, 0);
	assert_true(isnan(r->tail_ns) && isnan(r->contributions[0].gap_ns) && isfinite(r->contributions[0].mean_low));
	vprof_results_free(r);
	r = analyze(&h, plan, 1);
	assert_int_equal(r->n_tail, N);
	assert_true(isnan(r->rest_ns) && isnan(r->contributions[0].gap_ns) && isnan(r->nodes[1].tail_ns));
	vprof_results_free(r);
	hand_release(&h);
	free(truth);
	vprof_plan_free(plan);
}

/* The law of total variance. */
static void test_types(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct truth *truth = malloc(sizeof *truth);
	double sum = 0, between = 0, all;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	assert_non_null(truth);
	write_trace(&h, truth, 0);
	r = analyze(&h, plan, 0);
	all = mean_of(truth->total, NULL, 0);
	assert_int_equal(r->n_types, 2);
	for (size_t i = 0; i < 2; i++) {
		int is_set = !strcmp(r->types[i].name, "SET");
		double d = mean_of(truth->total, truth->is_set, is_set) - all;

		close_to(r->types[i].between_share, (double)r->types[i].n * d * d / (r->var_ns2 * (N - 1)), 1e-9);
		between += r->types[i].between_share;
		sum += r->types[i].between_share + r->types[i].within_share;
	}
	close_to(sum, 1, 1e-12);
	close_to(between, r->between_types, 1e-12);
	assert_true(r->between_low < between && between < r->between_high && r->between_high - r->between_low < 0.3);
	assert_true(hand_factor(r, "v:f1")->between_share > 0.99);
	assert_true(hand_factor(r, "v:f2")->between_share < 0.01);
	vprof_results_free(r);
	hand_release(&h);
	free(truth);
	vprof_plan_free(plan);
}

static void test_amounts(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct truth *truth = malloc(sizeof *truth);
	double slope, r2;
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	assert_non_null(truth);
	write_trace(&h, truth, 0);
	r = analyze(&h, plan, 0);
	slope = covariance(truth->rows, truth->total) / covariance(truth->rows, truth->rows);
	r2 = slope * covariance(truth->rows, truth->total) / covariance(truth->total, truth->total);
	assert_int_equal(r->n_work, 2);
	assert_string_equal(r->work[0].name, "rows");
	close_to(r->work[0].mean, mean_of(truth->rows, NULL, 0), 1e-12);
	close_to(r->work[0].ns_per_unit, slope, 1e-9);
	close_to(r->work[0].r, sqrt(r2), 1e-9);
	close_to(r->work_share, 1 - (1 - r2) * (N - 1) / (N - 2), 1e-9);
	assert_true(r->work_low < r->work_share && r->work_share < r->work_high);
	assert_true(r->work[0].low < slope && slope < r->work[0].high && r->work[0].high - r->work[0].low < 30);
	assert_true(r->work[1].share == 0 && r->work[1].mean == 1); /* always one request */
	assert_int_equal(r->n_worked, N);
	assert_true(hand_factor(r, "v:f2")->work_share > 0.98);
	assert_true(hand_factor(r, "v:f3")->work_share < 0.02);
	vprof_results_free(r);
	hand_release(&h);
	free(truth);
	vprof_plan_free(plan);
}

/* Each of the three calls of an interval: 9 of 18 ns within, unless the trace tells what a record takes. */
static void test_probe_cost(void **state)
{
	struct vprof_plan *plan = hand_plan(3);
	struct truth *truth = malloc(sizeof *truth);
	struct vprof_results *r;
	struct hand_trace h;

	(void)state;
	assert_non_null(truth);
	write_trace(&h, truth, 0);
	r = analyze(&h, plan, 0);
	close_to(r->probe_ns, 3 * 18, 1e-9);
	close_to(hand_node(r, "f2", 0)->probe_ns, 9, 1e-9);
	close_to(hand_node(r, "body of request", 0)->probe_ns, 3 * 9, 1e-9);
	close_to(hand_factor(r, "v:f1")->probe_ns, 9, 1e-9);
	close_to(hand_factor(r, "v:body of request")->probe_ns / hand_factor(r, "v:body of request")->mean_ns, 0.27,
		 1e-6);
	assert_true(isnan(r->cost_scale)); /* the trace does not tell what a record takes */
	vprof_results_free(r);
	hand_release(&h);
	free(truth);
	vprof_plan_free(plan);
}

/* 30 calls of a hot function in an interval, one of them chosen, with one call beneath each. */
static void test_probes_of_sampled_calls(void **state)
{
	struct vprof_node nodes[] = {
		{ .kind = VPROF_NODE_FUNCTION, .n_calls = 100, .n_timed = 100 },
		{ .kind = VPROF_NODE_FUNCTION, .n_calls = 3000, .n_timed = 100 },
		{ .kind = VPROF_NODE_FUNCTION, .parent = 1, .n_calls = 3000, .n_timed = 100 },
		{ .kind = VPROF_NODE_BODY, .parent = 1 },
	};
	struct vprof_results r = { .nodes = nodes, .n_nodes = 4, .n_complete = 100, .cost_scale = NAN };

	(void)state;
	nodes[0].first_child = 1;
	nodes[0].n_children = 1;
	nodes[1].first_child = 2;
	nodes[1].n_children = 2;
	vprof_probe_cost_fill(&r, 20, 8);
	close_to(nodes[2].probe_ns, 30 * 8, 1e-12);
	close_to(nodes[3].probe_ns, 30 * 12 + 30 * 8, 1e-12); /* of both */
	close_to(nodes[1].probe_ns, 30 * 20 + 30 * 8, 1e-12);
	close_to(r.probe_ns, 20 + 20 + 29 * 5, 1e-12); /* two records, 29 calls that were only counted */
}

/* f1 and f2 vary by `wide` and 1,000, f3 hardly. */
static struct vprof_results *rank_two(struct vprof_plan *plan, size_t n, uint64_t wide)
{
	struct hand_thread *th;
	uint64_t random = 23;
	struct vprof_results *r;
	struct hand_trace h;

	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t t = 100000 * (i + 1), a = 1000 + hand_random(&random) % wide,
			 b = 1000 + hand_random(&random) % 1000;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(1), t + 10, t + 10 + a);
		hand_call(th, F(2), t + 20 + a, t + 20 + a + b);
		hand_call(th, F(3), t + 30 + a + b, t + 35 + a + b + hand_random(&random) % 5);
		hand_mark(th, VP_KIND_END, i, t + 50 + a + b);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	hand_release(&h);
	return r;
}

/* Shares of 50 % each cannot be told apart, 53 and 47 % only by many intervals: about as many as are told. */
static void test_ranking(void **state)
{
	struct vprof_plan *plan = vprof_plan_new("/p");
	struct vprof_results *r;
	uint64_t needed;

	(void)state;
	plan->graph_height = 3;
	for (uint32_t i = 1; i <= 3; i++) {
		struct vprof_probe probe = { .code = F(i),
					     .mask = VPROF_MASK_ANY,
					     .context = (int)i,
					     .broken_down = 1,
					     .height = 1,
					     .name = i == 1 ? "f1" :
						     i == 2 ? "f2" :
							      "f3",
					     .display = "",
					     .file = "p.c",
					     .caller = "" };

		assert_int_equal(vprof_plan_add(plan, &probe), 0);
	}
	r = rank_two(plan, 1000, 2000);
	assert_string_equal(r->factors[0].name, "f1");
	assert_true(r->order_kept == 1 && r->n_to_settle == 0 && r->factors[0].place_kept == 1);
	assert_false(has_warning(r, "statistical tie"));
	vprof_results_free(r);

	r = rank_two(plan, 500, 1060);
	needed = r->n_to_settle;
	assert_true(r->order_kept < 0.95 && r->factors[0].place_kept < 0.95);
	assert_true(needed > 500 && needed < 20000);
	assert_true(has_warning(r, "intervals would break it (this run has 500)"));
	vprof_results_free(r);
	r = rank_two(plan, 4 * needed, 1060);
	assert_string_equal(r->factors[0].name, "f1");
	assert_true(r->n_to_settle == 0);
	vprof_results_free(r);

	r = rank_two(plan, 40, 1060); /* too few for bounds */
	assert_true(isnan(r->order_kept) && isnan(r->factors[0].place_kept) && r->n_blocks == 0);
	vprof_results_free(r);
	vprof_plan_free(plan);
}

/* PiDigits of NIST, a second longer: mean and deviation as certified (but for one digit, see test_moments.c). */
static void test_certified(void **state)
{
	static double digits[PI_DIGITS];
	struct vprof_plan *plan = hand_plan(1);
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	pi_digits(digits);
	digits[956] = 3;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < PI_DIGITS; i++) {
		uint64_t t = UINT64_C(2000000000) * (i + 1), ns = 1000000000 + (uint64_t)digits[i];

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(1), t, t + ns);
		hand_mark(th, VP_KIND_END, i, t + ns);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	close_to(r->mean_ns, 1e9 + 4.5348, 1e-15);
	close_to(r->sd_ns, 2.86733906028871, 1e-12);
	close_to(sqrt(r->nodes[0].var_ns2), 2.86733906028871, 1e-12);
	close_to(hand_factor(r, "v:f1")->sd_ns, 2.86733906028871, 1e-12);
	close_to(hand_factor(r, "v:f1")->share, 1, 1e-12);
	close_to(hand_factor(r, "v:f1")->share_low, 1, 1e-9);
	close_to(hand_factor(r, "v:f1")->share_high, 1, 1e-9);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

/* One interval of 60 makes nearly all of the variance. */
static void test_one_outlier(void **state)
{
	struct vprof_plan *plan = hand_plan(1);
	struct vprof_results *r;
	struct hand_thread *th;
	struct hand_trace h;

	(void)state;
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t t = 1000000 * (i + 1), ns = 1000 + i + (i == 60 ? 500000 : 0);

		hand_mark(th, VP_KIND_BEGIN, i, t);
		hand_call(th, F(1), t + 10, t + 10 + ns);
		hand_mark(th, VP_KIND_END, i, t + 30 + ns);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	assert_true(r->slowest_share > 0.98);
	assert_true(has_warning(r, "the slowest interval alone accounts for 99 % of the variance"));
	assert_true(hand_factor(r, "v:f1")->share_low <= hand_factor(r, "v:f1")->share);
	vprof_results_free(r);
	vprof_plan_free(plan);
	hand_release(&h);
}

#define N_EQUAL 8

/* One function of eight is slow in an interval: each now and then in turn, or each in one interval only. */
static struct vprof_results *rank_equal(size_t n, size_t every)
{
	struct vprof_plan *plan = vprof_plan_new("/p");
	struct vprof_results *r;
	struct hand_thread *th;
	uint64_t random = 29;
	struct hand_trace h;
	char name[400];

	plan->graph_height = 3;
	for (uint32_t k = 1; k <= N_EQUAL; k++) {
		struct vprof_probe probe = { .code = F(k),
					     .mask = VPROF_MASK_ANY,
					     .context = (int)k,
					     .broken_down = 1,
					     .height = 1,
					     .name = name,
					     .display = "",
					     .file = "p.c",
					     .caller = "" };

		snprintf(name, sizeof name, "f%u<%0300u, end%u>", k, 0u, k);
		assert_int_equal(vprof_plan_add(plan, &probe), 0);
	}
	hand_init(&h);
	th = hand_thread(&h, 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t t = 1000000 * (i + 1), at = t + 10;

		hand_mark(th, VP_KIND_BEGIN, i, t);
		for (uint32_t k = 1; k <= N_EQUAL; k++) {
			int is_slow = every ? hand_random(&random) % every == 0 : i == k * (n / (N_EQUAL + 1));
			uint64_t took = 100 + hand_random(&random) % 10 + (is_slow ? 20000 + 100 * k : 0);

			hand_call(th, F(k), at, at + took);
			at += took + 10;
		}
		hand_mark(th, VP_KIND_END, i, at);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	hand_release(&h);
	vprof_plan_free(plan);
	return r;
}

/* Which of them comes first is chance in all three. Of the first, in which each is slow once, nothing is known; of the
 * second, in which each is slow some four times, that there are such factors; of the third also how large they are. */
static void test_left_to_chance(void **state)
{
	struct vprof_results *r = rank_equal(72, 0);

	(void)state;
	assert_int_equal(r->inconclusive, 1);
	assert_true(r->n_warnings && strstr(r->warnings[0], "no factor's share is significantly above 0"));
	vprof_results_free(r);

	r = rank_equal(300, 70);
	assert_int_equal(r->inconclusive, 1);
	assert_true(r->n_warnings && strstr(r->warnings[0], "the ranking may be due to chance: the first factor, f"));
	assert_non_null(strstr(r->warnings[0], "..."));
	assert_non_null(strstr(r->warnings[0], "end"));
	assert_true(strlen(r->warnings[0]) < 300);
	vprof_results_free(r);

	r = rank_equal(4000, 10);
	assert_int_equal(r->inconclusive, 0);
	assert_true(r->factors[0].share_low > 0.08 && r->factors[0].share_high < 0.18);
	assert_true(r->order_kept < 0.95);
	assert_false(has_warning(r, "the ranking may be due to chance"));
	vprof_results_free(r);
}

/* GSL's own handler would abort. */
static void test_gsl_never_aborts(void **state)
{
	gsl_error_handler_t *before = gsl_set_error_handler(NULL);
	struct vprof_results *r;

	(void)state;
	r = rank_equal(72, 0);
	assert_non_null(gsl_set_error_handler(before));
	vprof_results_free(r);
}

/* Two factors of one name are told apart in warnings. */
static void test_namesakes(void **state)
{
	struct vprof_node nodes[] = {
		{ .kind = VPROF_NODE_INTERVAL },
		{ .kind = VPROF_NODE_SITE, .parent = 0 },
		{ .kind = VPROF_NODE_QUEUED, .parent = 0 },
		{ .kind = VPROF_NODE_SITE, .parent = 2, .is_blame = 1 },
		{ .kind = VPROF_NODE_WAIT, .parent = 0 },
		{ .kind = VPROF_NODE_SITE, .parent = 4, .is_blame = 1 },
	};
	static const uint32_t at[] = { 1, 3, 5 };
	struct vprof_factor factors[] = {
		{ .name = "writev", .nodes = &at[0], .n_nodes = 1 },
		{ .name = "writev", .is_blame = 1, .nodes = &at[1], .n_nodes = 1 },
		{ .name = "open", .nodes = &at[0], .n_nodes = 1 },
	};
	struct vprof_results r = { .nodes = nodes, .n_nodes = 6, .factors = factors, .n_factors = 3 };

	(void)state;
	assert_string_equal(vprof_warned_factor(&r, &factors[0]).s, "writev, own");
	assert_string_equal(vprof_warned_factor(&r, &factors[1]).s, "writev, queued");
	assert_string_equal(vprof_warned_factor(&r, &factors[2]).s, "open");
	factors[1].nodes = &at[2];
	assert_string_equal(vprof_warned_factor(&r, &factors[1]).s, "writev, beneath a wait");
	factors[1].nodes = &at[1];
	factors[1].n_nodes = 2;
	assert_string_equal(vprof_warned_factor(&r, &factors[1]).s, "writev, queued and beneath waits");
}

static void test_long_names(void **state)
{
	char umlauts[401];

	(void)state;
	assert_string_equal(vprof_warned_name("short").s, "short");
	for (size_t i = 0; i < 400; i += 2)
		memcpy(umlauts + i, "\303\274", 3);
	for (size_t n = 70; n < 100; n++) {
		struct vprof_warned_name shown = vprof_warned_name(umlauts + 400 - n);
		size_t length = strlen(shown.s);

		assert_in_range(length, 70, VPROF_WARNED_BYTES);
		if (n > VPROF_WARNED_BYTES)
			assert_true(strstr(shown.s, "\274...\303") != NULL && shown.s[length - 1] == '\274');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail_and_mean),
		cmocka_unit_test(test_no_tail),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_probe_cost),
		cmocka_unit_test(test_probes_of_sampled_calls),
		cmocka_unit_test(test_ranking),
		cmocka_unit_test(test_certified),
		cmocka_unit_test(test_one_outlier),
		cmocka_unit_test(test_left_to_chance),
		cmocka_unit_test(test_namesakes),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_gsl_never_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
