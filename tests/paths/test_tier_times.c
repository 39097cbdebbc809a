/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose time a request's is: by hand, and that all of it is somebody's, in random systems. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/requests/described/describe_requests.h"
#include "random_tiers.h"
#include "socket_text.h"

static struct vprof_requests_results *describe(const struct vprof_requests *found)
{
	struct vprof_requests_results *r = vprof_requests_results_new();
	struct vprof_error err = { .message = "" };

	assert_non_null(r);
	if (vprof_requests_describe(r, found, 1, &err))
		fail_msg("%s", err.message);
	return r;
}

/* Of a history written by hand. */
static struct vprof_requests_results *describe_text(const char *history)
{
	struct vprof_requests_results *r;
	struct socket_text s;

	socket_text_find(&s, history);
	r = describe(&s.found);
	socket_text_release(&s);
	return r; /* its texts are its own */
}

static const struct vprof_requests_tier *tier(const struct vprof_requests_results *r, const char *name)
{
	for (size_t i = 0; i < r->n_tiers; i++)
		if (!strcmp(r->tiers[i].name, name))
			return &r->tiers[i];
	fail_msg("no tier %s", name);
	return NULL;
}

static void expect_own(const struct vprof_requests_results *r, const char *name, double ns)
{
	assert_true(fabs(tier(r, name)->own_ns - ns) < 1e-9);
}

static void test_one_call(void **state)
{
	struct vprof_requests_results *r;

	(void)state;
	r = describe_text("conn x - one\n"
			  "conn y one two\n"
			  "20 one.1 < x 100\n"
			  "30 one.1 > y 50\n"
			  "32 two.1 < y 50\n"
			  "40 two.1 > y 500\n"
			  "42 one.1 < y 500\n"
			  "51 one.1 > x 900\n");
	expect_own(r, "one:80", 19); /* 20 to 30, 42 to 51 */
	expect_own(r, "two:80", 8);
	expect_own(r, "in transit", 4);
	assert_true(r->latency.mean_ns == 31);
	assert_string_equal(r->patterns[0].path, "one:80 > two:80");
	assert_int_equal(r->n_calls, 2);
	vprof_requests_results_free(r);
}

/* Two calls at once: each moment belongs to the one that ends last. The other has the rest, in its own proportions. */
static void test_calls_at_once(void **state)
{
	struct vprof_requests_results *r;

	(void)state;
	r = describe_text("conn x - one\n"
			  "conn y one two\n"
			  "conn z one three\n"
			  "10 one.1 < x 100\n"
			  "20 one.1 > y 50\n" /* 20 to 40, of which two has half */
			  "25 two.1 < y 50\n"
			  "30 one.1 > z 50\n" /* 30 to 60, of which three has all but 6 */
			  "33 three.1 < z 50\n"
			  "35 two.1 > y 50\n"
			  "40 one.1 < y 50\n"
			  "57 three.1 > z 50\n"
			  "60 one.1 < z 50\n"
			  "65 one.1 > x 50\n");
	expect_own(r, "one:80", 15);
	expect_own(r, "two:80", 5); /* half of the ten before z began */
	expect_own(r, "three:80", 24);
	expect_own(r, "in transit", 11);
	vprof_requests_results_free(r);
}

/* Of what lies between two ends, the time for which the bytes were there and not read yet is told apart: no more than
 * what lies between, and of both ends. */
static void test_receive_queues(void **state)
{
	struct vprof_requests_results *r;

	(void)state;
	r = describe_text("conn x - one\n"
			  "conn y one two\n"
			  "10 one.1 < x 100\n"
			  "20 one.1 > y 50\n"
			  "29 two.1 < y 50 waited 6\n"
			  "33-35 two.1 > y 50\n" /* it left at 33, and came at 36 */
			  "40 one.1 < y 50 waited 4\n"
			  "44 one.1 > x 50\n");
	expect_own(r, "one:80", 14);
	expect_own(r, "two:80", 6);
	expect_own(r, "in transit", 6);
	expect_own(r, "in receive queues", 8);
	assert_true(r->calls[0].queued_ns == 8 || r->calls[1].queued_ns == 8);
	vprof_requests_results_free(r);
	r = describe_text("conn x - one\n"
			  "conn y one two\n"
			  "10 one.1 < x 100 waited 99\n" /* who sent that was not recorded */
			  "20 one.1 > y 50\n"
			  "24 two.1 < y 50 waited 1000\n" /* clocks may be read a little apart */
			  "35 two.1 > y 50\n"
			  "36 one.1 < y 50\n"
			  "44 one.1 > x 50\n");
	expect_own(r, "in receive queues", 5);
	expect_own(r, "one:80", 18);
	expect_own(r, "two:80", 11);
	assert_int_equal(r->n_tiers, 4 - 1); /* nothing is in transit */
	vprof_requests_results_free(r);
}

/* Of calls, what they explain with all that is called in them: requests of 30 and 50, whose calls take 10 and 20. */
static void test_call_shares(void **state)
{
	struct vprof_requests_results *r = describe_text("conn x - one\n"
							 "conn y one two\n"
							 "10 one.1 < x 100\n"
							 "15 one.1 > y 50\n"
							 "16 two.1 < y 50\n"
							 "24 two.1 > y 50\n"
							 "25 one.1 < y 50\n"
							 "40 one.1 > x 50\n"
							 "100 one.1 < x 100\n"
							 "110 one.1 > y 50\n"
							 "112 two.1 < y 50\n"
							 "128 two.1 > y 50\n"
							 "130 one.1 < y 50\n"
							 "150 one.1 > x 50\n");

	(void)state;
	assert_int_equal(r->n_calls, 2);
	for (size_t i = 0; i < r->n_calls; i++) {
		assert_true(fabs(r->calls[i].share - (r->calls[i].from == VPROF_NONE ? 1 : 0.5)) < 1e-9);
		assert_true(isnan(r->calls[i].tail_share)); /* there are too few */
		assert_true(isnan(r->calls[i].queued_ns));
	}
	vprof_requests_results_free(r);
}

/* What is called and not recorded is a tier by its address. */
static void test_not_recorded(void **state)
{
	struct vprof_requests_results *r;

	(void)state;
	r = describe_text("conn x - one\n"
			  "conn y one -\n"
			  "10 one.1 < x 100\n"
			  "20 one.1 > y 50\n"
			  "45 one.1 < y 50\n"
			  "50 one.1 > x 50\n");
	expect_own(r, "one:80", 15);
	for (size_t i = 0; i < r->n_tiers; i++)
		if (!r->tiers[i].is_recorded && !r->tiers[i].is_transit)
			assert_true(r->tiers[i].own_ns == 25);
	assert_int_equal(r->n_tiers, 2);
	vprof_requests_results_free(r);
}

static void test_all_is_divided(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 8; seed++) {
		const struct tiers_options o = { .seed = seed,
						 .n_tiers = 3,
						 .n_servers = 2,
						 .n_workers = 20,
						 .n_sessions = 10,
						 .n_requests = 400,
						 .n_calls_most = 3,
						 .records_clients = seed & 1,
						 .shifts_clocks = seed >> 1 & 1 };
		double own = 0, share = 0, tail = 0, call_share = 0, call_tail = 0;
		struct vprof_error err = { .message = "" };
		struct vprof_requests_results *r;
		struct vprof_requests found;
		struct random_tiers tiers;

		random_tiers_make(&tiers, &o);
		for (size_t i = 0; i < tiers.history.transfers.n; i++) /* whatever lay in receive queues */
			if (!tiers.history.transfers.v[i].is_send)
				tiers.history.transfers.v[i].waited_ns = (uint32_t)(vprof_mix(i) >> 32);
		if (vprof_requests_find(&found, &tiers.history, &err))
			fail_msg("%s", err.message);
		r = describe(&found);
		for (size_t i = 0; i < r->n_tiers; i++) {
			own += r->tiers[i].own_ns;
			share += r->tiers[i].share;
			tail += r->tiers[i].tail_share;
		}
		for (size_t i = 0; i < r->n_calls; i++) {
			call_share += r->calls[i].from == VPROF_NONE ? r->calls[i].share : 0;
			call_tail += r->calls[i].from == VPROF_NONE ? r->calls[i].tail_share : 0;
			assert_true(r->calls[i].from == VPROF_NONE ||
				    (r->calls[i].queued_ns > 0 && r->calls[i].queued_ns <= r->calls[i].transit_ns));
		}
		assert_true(fabs(call_share - 1) < 1e-6); /* requests themselves */
		assert_true(fabs(call_tail - 1) < 1e-6);
		assert_int_equal(r->latency.n, 400);
		assert_int_equal(r->n_listed, 400);
		assert_true(fabs(own / r->latency.mean_ns - 1) < 1e-9);
		assert_true(fabs(share - 1) < 1e-6);
		assert_true(fabs(tail - 1) < 1e-6);
		vprof_requests_results_free(r);
		vprof_requests_release(&found);
		random_tiers_release(&tiers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_call),       cmocka_unit_test(test_calls_at_once),
		cmocka_unit_test(test_receive_queues), cmocka_unit_test(test_call_shares),
		cmocka_unit_test(test_not_recorded),   cmocka_unit_test(test_all_is_divided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
