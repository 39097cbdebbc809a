/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs for each request that a server receives, and the ratio in which all of a run is slower. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "analysis/latency/path_ranking.h"
#include "latency_text.h"

struct runs {
	struct latency_text text[2];
	struct vprof_annotated_tree tree[2];
	struct vprof_paired_tree pair;
	struct vprof_latency_units units;
	struct vprof_latency_ranking ranking;
};

static void pair(struct runs *r, const char *base, const char *new)
{
	const char *texts[2] = { base, new };

	memset(r, 0, sizeof *r);
	for (int i = 0; i < 2; i++) {
		latency_text_read(&r->text[i], texts[i]);
		assert_int_equal(vprof_annotated_tree_build(&r->tree[i], &r->text[i].history, 1, NULL), 0);
	}
	assert_int_equal(vprof_paired_tree_build(&r->pair, &r->tree[0], &r->tree[1], NULL), 0);
}

static void release(struct runs *r)
{
	vprof_latency_ranking_release(&r->ranking);
	vprof_paired_tree_release(&r->pair);
	for (int i = 0; i < 2; i++) {
		vprof_annotated_tree_release(&r->tree[i]);
		latency_text_release(&r->text[i]);
	}
}

#define STEPS 20 /* functions of a request beside the lookup */
#define SERVER_SIZE 2000000
#define SERVER_NS 64000

/* A server in a closed loop: each request is received, takes steps of `step` ns each and a lookup. receive: the system
 * call; beneath: what the kernel does in it. skip: from the so-manieth request on calls are left out. */
static char *write_server(const char *receive, const char *beneath, int step, int lookup, int skip)
{
	char *text = malloc(SERVER_SIZE);
	size_t n = (size_t)snprintf(text, SERVER_SIZE, "recording 0 %d\nthread main 0 %d\n", SERVER_NS, SERVER_NS);
	int i = 0;

	for (int t = 0; t + 10 + STEPS * step + lookup <= SERVER_NS; i++) {
		if (!skip || i < skip || i % 4 == 0) {
			n += (size_t)snprintf(text + n, SERVER_SIZE - n,
					      "event %d main:1 read_request:1 | %s:1 ; new%s\n", t, receive,
					      skip && i >= skip ? " skipped" : "");
			n += (size_t)snprintf(text + n, SERVER_SIZE - n,
					      "event %d main:1 read_request:1 | %s:1 %s ; held\n", t + 10, receive,
					      beneath);
		}
		t += 10;
		for (int k = 0; k < STEPS; k++, t += step)
			n += (size_t)snprintf(text + n, SERVER_SIZE - n,
					      "event %d main:%d step%d:1\nevent %d main:%d step%d:1 ; held\n", t, k + 2,
					      k, t + step, k + 2, k);
		n += (size_t)snprintf(text + n, SERVER_SIZE - n,
				      "event %d main:99 lookup:1\nevent %d main:99 lookup:1 ; held\n", t, t + lookup);
		t += lookup;
	}
	assert_true(n < SERVER_SIZE);
	return text;
}

static void pair_servers(struct runs *r, char *base, char *new)
{
	pair(r, base, new);
	free(base);
	free(new);
}

static const char *first(const struct runs *r)
{
	return r->pair.functions.v[r->pair.nodes.v[r->ranking.paths.v[0].node].function]->name;
}

static void rank(struct runs *r)
{
	assert_int_equal(vprof_latency_rank(&r->ranking, &r->pair, &r->units, 100, NULL), 0);
}

/* Both runs use the whole CPU. Per second the steps cost less in new; per request they cost the same. */
static void test_receipts(void **state)
{
	struct runs r;

	(void)state;
	pair_servers(&r, write_server("sys_recvfrom", "", 5, 20, 0), write_server("sys_recvfrom", "", 5, 200, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 1);
	assert_true(r.units.n[0] == SERVER_NS / 130 && r.units.n[1] == SERVER_NS / 310);
	rank(&r);
	assert_true(r.ranking.ratio == 1 && r.ranking.spread < 0.01);
	assert_string_equal(first(&r), "lookup");
	assert_true(fabs(r.ranking.paths.v[0].cost - 180) < 2);
	assert_int_equal(r.ranking.paths.v[0].verdict, VPROF_LATENCY_CHANGED);
	assert_true(r.ranking.paths.n == 1 || r.ranking.paths.v[1].verdict != VPROF_LATENCY_CHANGED);
	release(&r);
}

/* Too few receipts are no unit of work; how many were seen is told. */
static void test_few_receipts(void **state)
{
	struct runs r;

	(void)state;
	pair_servers(&r, write_server("sys_recvfrom", "", 5, 20, 0),
		     write_server("sys_recvfrom", "", 5, SERVER_NS / 20, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 0);
	assert_true(r.units.few[0] == SERVER_NS / 130 && r.units.few[1] == 19);
	release(&r);
	pair_servers(&r, write_server("sys_recvfrom", "", 5, 20, 0), write_server("sys_recvfrom", "", 5, 200, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 1);
	assert_true(r.units.few[0] == 0 && r.units.few[1] == 0);
	release(&r);
}

/* read() receives where something of a socket is seen beneath it, and else may be of a file. */
static void test_read(void **state)
{
	struct runs r;

	(void)state;
	pair_servers(&r, write_server("sys_read", "sock_read_iter:1", 5, 20, 0),
		     write_server("sys_read", "vfs_read:1", 5, 20, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 1);
	release(&r);
	pair_servers(&r, write_server("sys_read", "vfs_read:1", 5, 20, 0),
		     write_server("sys_read", "vfs_read:1", 5, 20, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 0);
	release(&r);
}

/* Calls were left out: they are taken to come at the rate at which they came before. */
static void test_left_out(void **state)
{
	struct runs r;

	(void)state;
	pair_servers(&r, write_server("sys_recvfrom", "", 5, 20, 0), write_server("sys_recvfrom", "", 5, 20, 100));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 1);
	assert_true(fabs(r.units.n[1] / r.units.n[0] - 1) < 0.02);
	release(&r);
}

/* Without requests, per second: what all functions have in common tells that only the lookup takes longer. */
static void test_ratio(void **state)
{
	struct runs r;

	(void)state;
	pair_servers(&r, write_server("sys_pread64", "", 5, 20, 0), write_server("sys_pread64", "", 5, 200, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 0);
	vprof_latency_units_seconds(&r.units, &r.pair);
	rank(&r);
	assert_true(fabs(r.ranking.ratio - 130.0 / 310) < 0.01);
	assert_string_equal(first(&r), "lookup");
	assert_int_equal(r.ranking.paths.v[0].verdict, VPROF_LATENCY_CHANGED);
	assert_true(r.ranking.paths.n == 1 || r.ranking.paths.v[1].verdict != VPROF_LATENCY_CHANGED);
	release(&r);
}

/* A machine on which everything takes 1.4 times as long: that is no cause of any function's. */
static void test_slower_machine(void **state)
{
	struct runs r;

	(void)state;
	pair_servers(&r, write_server("sys_recvfrom", "", 10, 20, 0), write_server("sys_recvfrom", "", 14, 28, 0));
	assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 1);
	rank(&r);
	assert_true(fabs(r.ranking.ratio - 1.4) < 0.01);
	for (size_t i = 0; i < r.ranking.paths.n; i++)
		assert_int_not_equal(r.ranking.paths.v[i].verdict, VPROF_LATENCY_CHANGED);
	release(&r);
}

#define FUNCTIONS 40
#define PAIRS 80
#define ALARM_CHANCE 0.01 /* what is promised of a comparison of equal runs */
#define TEST_ERROR 1e-5

/* One run of a server on a machine that is `slower` times as slow; and each function is so for itself, too. */
static char *write_random_server(gsl_rng *rng, double slower)
{
	char *text = malloc(SERVER_SIZE);
	double mean[FUNCTIONS];
	size_t n = (size_t)snprintf(text, SERVER_SIZE, "recording 0 1000000\nthread main 0 1000000\n");

	for (int k = 0; k < FUNCTIONS; k++)
		mean[k] = 20 * (k % 7 + 1) * slower * gsl_ran_lognormal(rng, 0, 0.1);
	for (double t = 0; t < 990000;) {
		n += (size_t)snprintf(
			text + n, SERVER_SIZE - n,
			"event %d main:1 | sys_recvfrom:1 ; new\nevent %d main:1 | sys_recvfrom:1 ; held\n", (int)t,
			(int)t + 10);
		t += 10;
		for (int k = 0; k < FUNCTIONS && t < 990000; k++) {
			n += (size_t)snprintf(text + n, SERVER_SIZE - n, "event %d main:2 f%d:1 | sys_%d:1 ; new\n",
					      (int)t, k, k);
			t += gsl_ran_exponential(rng, mean[k]);
			n += (size_t)snprintf(text + n, SERVER_SIZE - n, "event %d main:2 f%d:1 | sys_%d:1 ; held\n",
					      (int)t, k, k);
		}
	}
	assert_true(n < SERVER_SIZE);
	return text;
}

/* Equal programs on machines that are not, and whose functions differ by a tenth for no reason: at most one pair of a
 * hundred may be told apart, but for the test's error. The seed is fixed. */
static void test_equal_programs(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	unsigned int n_alarms = 0;
	struct runs r;

	(void)state;
	gsl_rng_set(rng, 3);
	for (int i = 0; i < PAIRS; i++) {
		char *base = write_random_server(rng, 1);
		int is_alarm = 0;

		pair_servers(&r, base, write_random_server(rng, i % 3 ? 1.4 : 1));
		assert_int_equal(vprof_latency_units_receipts(&r.units, &r.pair), 1);
		rank(&r);
		for (size_t p = 0; p < r.ranking.paths.n; p++)
			is_alarm |= r.ranking.paths.v[p].verdict == VPROF_LATENCY_CHANGED;
		n_alarms += (unsigned int)is_alarm;
		release(&r);
	}
	gsl_rng_free(rng);
	print_message("%u alarms in %d comparisons\n", n_alarms, PAIRS);
	assert_true(!n_alarms || gsl_cdf_binomial_Q(n_alarms - 1, ALARM_CHANCE, PAIRS) >= TEST_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receipts),       cmocka_unit_test(test_few_receipts),
		cmocka_unit_test(test_read),	       cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_ratio),	       cmocka_unit_test(test_slower_machine),
		cmocka_unit_test(test_equal_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
