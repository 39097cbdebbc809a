/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the 95 % confidence intervals of contexts and of crosstalk hold planted values: runs of a server whose
 * requests are drawn with known means, each analysed from its trace on. And that a point lies within its bounds, and
 * few intervals have none.
 *
 * Error of the test: seeds are fixed, so it cannot fail by chance from one run to the next. Were the bounds right in
 * exactly LEAST of all runs, seeds would fail with 4.5 standard deviations: in less than 1 of 10,000 choices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"

#define RUNS 150
#define REQUESTS 500
#define LEAST 0.93
#define SIGMAS 4.5
#define MISSES 0.3   /* of the requests, on average */
#define STAYS 0.5    /* a request is of the kind of the one before with this probability more */
#define HIT_NS 20000 /* mean: f1 in a hit, and in a miss as well */
#define WAITS 0.4    /* of all requests, for a lock that the other thread holds */
#define HELD_NS 30000
#define DELAY_NS 40000 /* of a miss, before it is resumed */
#define READ_NS 50000  /* of a miss, afterwards */
#define WARM_UP 100

struct tally {
	const char *name;
	double truth;
	unsigned n_stated, n_held;
};

static double uniform(uint64_t *random)
{
	return ((double)(hand_random(random) >> 11) + 0.5) / 9007199254740992.0;
}

/* Whole ticks, at least one; log-normal with this mean. */
static uint64_t skewed(uint64_t *random, double mean)
{
	double normal = sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random)), sd = 0.6;

	return 1 + (uint64_t)(mean * exp(sd * normal - sd * sd / 2));
}

static void path(struct hand_thread *th, uint32_t id, uint64_t function)
{
	hand_units(th,
		   (struct vp_unit[]){
			   { 1, VP_W(VP_KIND_STACK, 2 | (uint64_t)VP_STACK_PATH << 8 | (uint64_t)id << VP_PATH_SHIFT) },
			   { 0x1, function } },
		   2);
}

static void mark(struct hand_thread *th, enum vp_kind kind, uint64_t id, uint64_t t, uint32_t path_id)
{
	hand_mark(th, kind, id, t);
	th->units[th->n - 2].w = VP_W(kind, path_id);
}

/* One request; when it ends. */
static uint64_t write_request(struct hand_thread *a, struct hand_thread *b, uint32_t i, uint64_t t, int is_miss,
			      uint64_t *random)
{
	uint64_t at = t, end;

	mark(a, VP_KIND_BEGIN, i, t, 1);
	if (uniform(random) < WAITS) {
		end = at + skewed(random, HELD_NS);
		hand_call(b, F(3), at, end);
		hand_wake(b, VP_WAIT_MUTEX, 0, 0x10, i, i, end);
		hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x10, i, at, end);
		hand_call(a, S(2), at, end);
		at = end;
	}
	end = at + skewed(random, HIT_NS);
	hand_call(a, F(1), at, end);
	if (!is_miss) {
		mark(a, VP_KIND_END, i, end, 1);
		return end;
	}
	mark(a, VP_KIND_SUSPEND, i, end, 1);
	at = end + skewed(random, DELAY_NS);
	mark(a, VP_KIND_RESUME, i, at, 2);
	end = at + skewed(random, READ_NS);
	hand_call(a, F(2), at, end);
	mark(a, VP_KIND_END, i, end, 2);
	return end;
}

/* Misses come in runs: a Markov chain whose stationary share of misses is MISSES. */
static struct vprof_results *analyse_run(uint64_t seed, uint32_t n, const struct vprof_plan *plan)
{
	struct hand_thread *a, *b;
	struct vprof_results *r;
	uint64_t t = 1000, random = seed;
	struct hand_trace h;
	int is_miss = 0;

	hand_init(&h);
	a = hand_thread(&h, 1);
	b = hand_thread(&h, 1);
	path(a, 1, 0x11);
	path(a, 2, 0x22);
	for (uint32_t i = 0; i < n + WARM_UP; i++) {
		is_miss = uniform(&random) < MISSES * (1 - STAYS) + STAYS * is_miss;
		if (i >= WARM_UP)
			t = write_request(a, b, i + 1, t, is_miss, &random) + skewed(&random, 5000);
	}
	hand_write(&h);
	r = hand_analyze(&h, plan);
	hand_release(&h);
	return r;
}

static void count(struct tally *t, double point, double low, double high)
{
	if (isnan(low) || isnan(high))
		return;
	if (!(low <= point && point <= high))
		fail_msg("%s: %g is not within its bounds %g .. %g", t->name, point, low, high);
	t->n_stated++;
	t->n_held += low <= t->truth && t->truth <= high;
}

enum {
	HIT_MEAN,
	HIT_SHARE,
	HIT_WAITING,
	HIT_RUNNING,
	MISS_MEAN,
	MISS_SHARE,
	MISS_WAITING,
	MISS_QUEUED,
	MISS_RUNNING,
	PAIR_LOCK,
	FIGURES
};

static const struct vprof_crosstalk *pair_with(const struct vprof_results *r, enum vprof_party_kind kind)
{
	for (size_t i = 0; i < r->n_crosstalk; i++)
		if (r->parties[r->crosstalk[i].holder].kind == kind)
			return &r->crosstalk[i];
	fail_msg("nobody waits for a thread");
	return NULL;
}

static void count_run(struct tally *t, const struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_contexts; i++) {
		const struct vprof_context *x = &r->contexts[i];
		int is_miss = x->n_stages == 2;

		count(&t[is_miss ? MISS_MEAN : HIT_MEAN], x->mean_ns, x->mean_low, x->mean_high);
		count(&t[is_miss ? MISS_SHARE : HIT_SHARE], x->share, x->share_low, x->share_high);
		count(&t[is_miss ? MISS_WAITING : HIT_WAITING], x->waiting_ns / x->total_ns, x->waiting_low,
		      x->waiting_high);
		count(&t[is_miss ? MISS_RUNNING : HIT_RUNNING], x->running_ns / x->total_ns, x->running_low,
		      x->running_high);
		if (is_miss)
			count(&t[MISS_QUEUED], x->queued_ns / x->total_ns, x->queued_low, x->queued_high);
	}
	count(&t[PAIR_LOCK], pair_with(r, VPROF_PARTY_THREAD)->share, pair_with(r, VPROF_PARTY_THREAD)->share_low,
	      pair_with(r, VPROF_PARTY_THREAD)->share_high);
}

static void test_coverage(void **state)
{
	const double waited = WAITS * HELD_NS, hit = HIT_NS + waited, miss = hit + DELAY_NS + READ_NS,
		     all = (1 - MISSES) * hit + MISSES * miss;
	struct tally t[FIGURES] = {
		[HIT_MEAN] = { "a hit's mean", hit },
		[HIT_SHARE] = { "hits' share", (1 - MISSES) * hit / all },
		[HIT_WAITING] = { "hits waiting", waited / hit },
		[HIT_RUNNING] = { "hits running", HIT_NS / hit },
		[MISS_MEAN] = { "a miss's mean", miss },
		[MISS_SHARE] = { "misses' share", MISSES * miss / all },
		[MISS_WAITING] = { "misses waiting", waited / miss },
		[MISS_QUEUED] = { "misses queued", DELAY_NS / miss },
		[MISS_RUNNING] = { "misses running", (HIT_NS + READ_NS) / miss },
		[PAIR_LOCK] = { "all waiting for the lock's holder", waited / all },
	};
	struct vprof_plan *plan = hand_plan(4);

	(void)state;
	for (uint64_t i = 1; i <= RUNS; i++) {
		struct vprof_results *r = analyse_run(1000003 * i, REQUESTS, plan);

		assert_int_equal(r->n_contexts, 2);
		count_run(t, r);
		vprof_results_free(r);
	}
	for (size_t i = 0; i < FIGURES; i++) {
		double n = t[i].n_stated;

		print_message("%-36s held in %u of %u runs\n", t[i].name, t[i].n_held, t[i].n_stated);
		assert_int_equal(t[i].n_stated, RUNS);
		assert_true(t[i].n_held >= n * LEAST - SIGMAS * sqrt(n * LEAST * (1 - LEAST)));
	}
	vprof_plan_free(plan);
}

/* 100 requests have bounds; of a context with 60 or more of them, not of one with fewer. 59 have none at all. */
static void test_few(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct vprof_results *r = analyse_run(5, 100, plan);
	int n_bounded = 0;

	(void)state;
	assert_int_equal(r->n_contexts, 2);
	for (size_t i = 0; i < r->n_contexts; i++) {
		const struct vprof_context *x = &r->contexts[i];

		assert_int_equal(!isnan(x->mean_low), x->n >= 60);
		assert_int_equal(!isnan(x->share_high), x->n >= 60);
		assert_int_equal(!isnan(x->queued_low), x->n >= 60);
		n_bounded += x->n >= 60;
	}
	assert_int_equal(n_bounded, 1);
	vprof_results_free(r);
	r = analyse_run(5, 59, plan);
	for (size_t i = 0; i < r->n_contexts; i++)
		assert_true(isnan(r->contexts[i].share_low) && isnan(r->contexts[i].mean_high));
	vprof_results_free(r);
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_coverage), cmocka_unit_test(test_few) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
