/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of random systems against their truth. Dispatchers and workers: every link of every request. Stages whose calls
 * the paper's rule cannot place: what is called certain is right, and what is wrong is rarely declared to be sure.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/requests/requests.h"
#include "random_tiers.h"

struct compared {
	struct random_tiers tiers;
	struct vprof_requests found;
	uint32_t *first; /* exchange of each connection */
	uint64_t n_calls, n_right, n_wrong, n_ambiguous;
	uint64_t n_sure, n_sure_wrong; /* links that are certain */
	double expected_wrong;	       /* by the confidence of links that are not ambiguous */
};

static uint32_t exchange_of(const struct compared *c, uint32_t socket, uint32_t nth)
{
	return c->first[c->found.connections.of_socket.v[socket]] + nth;
}

static void compare_call(struct compared *c, const struct true_call *t)
{
	uint32_t exchange = exchange_of(c, t->server, t->nth);
	const struct vprof_link *link = &c->found.causality.links.v[exchange];
	uint32_t parent = t->parent_server == VPROF_NONE ? VPROF_NONE : exchange_of(c, t->parent_server, t->parent_nth);

	assert_true(exchange < c->found.exchanges.v.n);
	c->n_calls++;
	if (link->how == VPROF_LINK_AMBIGUOUS) {
		c->n_ambiguous++;
		return;
	}
	c->n_right += link->parent == parent;
	c->n_wrong += link->parent != parent;
	c->n_sure += link->confidence >= VPROF_LINK_CERTAIN;
	c->n_sure_wrong += link->confidence >= VPROF_LINK_CERTAIN && link->parent != parent;
	c->expected_wrong += 1 - (double)link->confidence;
}

static void compare(struct compared *c, const struct tiers_options *o)
{
	struct vprof_error err = { .message = "" };

	memset(c, 0, sizeof *c);
	random_tiers_make(&c->tiers, o);
	if (vprof_requests_find(&c->found, &c->tiers.history, &err))
		fail_msg("%s", err.message);
	c->first = calloc(c->found.connections.v.n + 1, sizeof *c->first);
	for (uint32_t i = (uint32_t)c->found.exchanges.v.n; i-- > 0;)
		c->first[c->found.exchanges.v.v[i].connection] = i;
	assert_int_equal(c->found.exchanges.v.n, c->tiers.truth.n);
	for (size_t i = 0; i < c->tiers.truth.n; i++)
		compare_call(c, &c->tiers.truth.v[i]);
}

static void release(struct compared *c)
{
	vprof_requests_release(&c->found);
	random_tiers_release(&c->tiers);
	free(c->first);
}

static void expect_all(const struct tiers_options *o)
{
	struct compared c;

	compare(&c, o);
	if (c.n_right != c.n_calls)
		fail_msg("seed %llu: of %llu calls %llu are right, %llu wrong, %llu ambiguous",
			 (unsigned long long)o->seed, (unsigned long long)c.n_calls, (unsigned long long)c.n_right,
			 (unsigned long long)c.n_wrong, (unsigned long long)c.n_ambiguous);
	assert_int_equal(c.found.trees.requests.n, c.tiers.n_requests);
	assert_int_equal(c.found.trees.nodes.n, c.n_calls);
	assert_int_equal(c.found.exchanges.n_bytes_missing, 0);
	for (size_t i = 0; i < c.found.trees.requests.n; i++)
		assert_int_not_equal(c.found.trees.requests.v[i].state, VPROF_REQUEST_AMBIGUOUS);
	release(&c);
}

static void test_dispatcher_worker(void **state)
{
	static const uint32_t sessions[] = { 1, 10, 20, 30, 200 };

	(void)state;
	for (uint64_t seed = 0; seed < 160; seed++)
		expect_all(&(struct tiers_options){
			.seed = seed,
			.n_tiers = 2 + (uint32_t)(seed % 4),
			.n_servers = 1 + (uint32_t)(seed % 3),
			.n_workers = 4 + (uint32_t)(seed % 30),
			.n_sessions = sessions[seed % 5],
			.n_requests = 150,
			.n_calls_most = 3,
			.model = seed & 1 ? TIER_DISPATCHER : TIER_WORKERS,
			.shares_connections = seed >> 1 & 1,
			.records_wakes = seed >> 2 & 1,
			.records_clients = seed >> 3 & 1,
			.shifts_clocks = seed >> 4 & 1,
		});
}

static struct tiers_options two_servers(uint64_t seed, uint32_t n_workers, uint32_t n_sessions, uint32_t n_requests)
{
	return (struct tiers_options){ .seed = seed,
				       .n_tiers = 3,
				       .n_servers = 2,
				       .n_workers = n_workers,
				       .n_sessions = n_sessions,
				       .n_requests = n_requests,
				       .n_calls_most = 3 };
}

/* Hosts an hour apart whose clocks drift: what is said of them holds from begin to end, within the error told. */
static void test_clocks(void **state)
{
	double largest = 0;

	(void)state;
	for (uint64_t seed = 500; seed < 520; seed++) {
		struct tiers_options o = two_servers(seed, 30, 20, 500);
		struct compared c;

		o.records_clients = o.shifts_clocks = 1;
		compare(&c, &o);
		for (uint32_t host = 0; host < c.found.clocks.v.n; host++)
			for (uint64_t t = 0; t <= 10000000; t += 2500000) {
				const struct vprof_host_clock *clock = &c.found.clocks.v.v[host];
				uint64_t own = random_tiers_clock(&o, host, t);
				double common = vprof_host_clock_common(&c.found.clocks, host, own);
				double off = fabs(common - (double)random_tiers_clock(&o, 0, t));
				double reach = fabs((double)own - (double)clock->at) * clock->drift_error;

				assert_true(clock->is_known && clock->error_ns >= 0);
				assert_true(off <= clock->error_ns + reach + 1000);
				largest = off > largest ? off : largest;
			}
		release(&c);
	}
	print_message("clocks: %.0f ns off at most\n", largest);
}

/* Adds up systems of stages, made with twenty seeds. */
static void compare_stages(struct compared *sum, uint64_t seed, int records_wakes)
{
	memset(sum, 0, sizeof *sum);
	for (uint64_t end = seed + 20; seed < end; seed++) {
		struct tiers_options o = two_servers(seed, 40, 10, 300);
		struct compared c;

		o.model = TIER_STAGES;
		o.records_wakes = records_wakes;
		o.records_clients = records_wakes && seed & 1;
		compare(&c, &o);
		sum->n_calls += c.n_calls;
		sum->n_ambiguous += c.n_ambiguous;
		sum->n_wrong += c.n_wrong;
		sum->n_sure += c.n_sure;
		sum->n_sure_wrong += c.n_sure_wrong;
		sum->expected_wrong += c.expected_wrong;
		release(&c);
	}
	print_message("stages: %llu calls, %llu ambiguous, %llu wrong (%.0f expected), of %llu certain %llu wrong\n",
		      (unsigned long long)sum->n_calls, (unsigned long long)sum->n_ambiguous,
		      (unsigned long long)sum->n_wrong, sum->expected_wrong, (unsigned long long)sum->n_sure,
		      (unsigned long long)sum->n_sure_wrong);
}

/* The worker that calls is not the one that replies: wake-ups show it where they are recorded; a request that lay in a
 * queue was handed over without one. */
static void test_stages_with_wakes(void **state)
{
	struct compared sum;

	(void)state;
	compare_stages(&sum, 1000, 1);
	assert_true(sum.n_wrong * 1000 <= sum.n_calls);
	assert_true(sum.n_ambiguous * 50 <= sum.n_calls);
}

/* Nothing is recorded of the hand-over. What is wrong must not be called certain. */
static void test_stages_alone(void **state)
{
	struct compared sum;

	(void)state;
	compare_stages(&sum, 2000, 0);
	assert_int_equal(sum.n_sure_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dispatcher_worker),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_stages_with_wakes),
		cmocka_unit_test(test_stages_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
