/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The declared confidence is true: of all links that are told with a confidence of p to p + 0.05 at least p are right,
 * and so are requests; nothing that is called certain is wrong. For each way of serving and each number of sessions by
 * itself, so that what is easy does not hide what is not. Sequences are fixed by their seeds.
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
#include "simulated_servers.h"

#define BINS 21	   /* of 0.05; the last one: exactly 1 */
#define ERROR 1e-4 /* so rarely a bin whose links are right with p has as few right ones */
#define SYSTEMS 48 /* of each kind */

static const char *const model_names[SERVED_BYS] = { "workers", "dispatcher", "handoff", "stages",
						     "shared",	"loop",	      "batches" };

struct bins {
	uint64_t n[BINS], n_right[BINS];
};

struct told { /* of all systems of a kind */
	struct bins links, requests;
	uint64_t n_links, n_links_ambiguous, n_links_certain;
	uint64_t n_requests, n_by_state[VPROF_REQUEST_STATES], n_certain_wrong, n_links_certain_wrong;
};

struct system {
	struct random_tiers tiers;
	struct vprof_requests found;
	uint32_t *first;	 /* exchange of each connection */
	uint32_t *true_parent;	 /* of each exchange */
	unsigned char *is_wrong; /* of each exchange that is a request: a call is missing or another's */
};

static uint32_t exchange_of(const struct system *s, uint32_t socket, uint32_t nth)
{
	return s->first[s->found.connections.of_socket.v[socket]] + nth;
}

static void add(struct bins *b, double confidence, int is_right)
{
	int bin = (int)(confidence * 20 + 1e-6);

	b->n[bin]++;
	b->n_right[bin] += is_right != 0;
}

static uint32_t true_root(const struct system *s, uint32_t exchange)
{
	while (s->true_parent[exchange] != VPROF_NONE)
		exchange = s->true_parent[exchange];
	return exchange;
}

static uint32_t found_root(const struct system *s, uint32_t exchange)
{
	while (s->found.causality.links.v[exchange].parent != VPROF_NONE)
		exchange = s->found.causality.links.v[exchange].parent;
	return exchange;
}

static void compare_links(struct system *s, struct told *told)
{
	for (uint32_t i = 0; i < s->found.exchanges.v.n; i++) {
		const struct vprof_link *link = &s->found.causality.links.v[i];
		int is_right = link->parent == s->true_parent[i];

		if (!is_right)
			s->is_wrong[true_root(s, i)] = s->is_wrong[found_root(s, i)] = 1;
		if (s->true_parent[i] == VPROF_NONE)
			continue; /* a session's: nothing is inferred of it */
		told->n_links++;
		told->n_links_ambiguous += link->how == VPROF_LINK_AMBIGUOUS;
		if (link->how == VPROF_LINK_AMBIGUOUS)
			continue;
		add(&told->links, (double)link->confidence, is_right);
		told->n_links_certain += link->confidence >= VPROF_LINK_CERTAIN;
		told->n_links_certain_wrong += link->confidence >= VPROF_LINK_CERTAIN && !is_right;
	}
}

static void compare_requests(const struct system *s, struct told *told)
{
	for (size_t i = 0; i < s->found.trees.requests.n; i++) {
		const struct vprof_request *r = &s->found.trees.requests.v[i];

		told->n_requests++;
		told->n_by_state[r->state]++;
		if (r->state == VPROF_REQUEST_AMBIGUOUS)
			continue;
		add(&told->requests, (double)r->confidence, !s->is_wrong[r->root]);
		told->n_certain_wrong += r->state == VPROF_REQUEST_CERTAIN && s->is_wrong[r->root];
	}
}

static void add_system(struct told *told, const struct served_options *o)
{
	struct vprof_error err = { .message = "" };
	struct system s = { .first = NULL };
	size_t n;

	simulated_servers_make(&s.tiers, o);
	if (vprof_requests_find(&s.found, &s.tiers.history, &err))
		fail_msg("%s", err.message);
	n = s.found.exchanges.v.n;
	assert_int_equal(n, s.tiers.truth.n);
	s.first = calloc(s.found.connections.v.n + 1, sizeof *s.first);
	s.true_parent = calloc(n + 1, sizeof *s.true_parent);
	s.is_wrong = calloc(n + 1, 1);
	for (uint32_t i = (uint32_t)n; i-- > 0;)
		s.first[s.found.exchanges.v.v[i].connection] = i;
	for (size_t i = 0; i < n; i++) {
		const struct true_call *t = &s.tiers.truth.v[i];

		s.true_parent[exchange_of(&s, t->server, t->nth)] =
			t->parent_server == VPROF_NONE ? VPROF_NONE : exchange_of(&s, t->parent_server, t->parent_nth);
	}
	compare_links(&s, told);
	compare_requests(&s, told);
	assert_int_equal(s.found.trees.requests.n, s.tiers.n_requests);
	vprof_requests_release(&s.found);
	random_tiers_release(&s.tiers);
	free(s.first);
	free(s.true_parent);
	free(s.is_wrong);
}

/* The probability that of n independent events with p at most k happen. */
static double binomial(uint64_t k, uint64_t n, double p)
{
	double sum = 0, x = (double)n;

	if (p <= 0 || k == n)
		return 1;
	for (uint64_t i = 0; i <= k && p < 1; i++) {
		double y = (double)i;

		sum += exp(lgamma(x + 1) - lgamma(y + 1) - lgamma(x - y + 1) + y * log(p) + (x - y) * log1p(-p));
	}
	return sum;
}

/* How many bins are told too sure. */
static int check_bins(const struct bins *b, const char *what)
{
	int n_bad = 0;

	for (int i = 0; i < BINS; i++) {
		int is_bad = binomial(b->n_right[i], b->n[i], i * 0.05) < ERROR;

		if (b->n[i])
			print_message("    %s %.2f: %llu of %llu right%s\n", what, i * 0.05,
				      (unsigned long long)b->n_right[i], (unsigned long long)b->n[i],
				      is_bad ? ": too few" : "");
		n_bad += is_bad;
	}
	return n_bad;
}

/* One pool that does all stages of a request is told from one whose threads keep theirs by statistics only: of what is
 * called certain 99 % must be right. Elsewhere all of it must. */
static int are_too_few_certain_right(enum served_by model, const struct told *told)
{
	uint64_t n = told->n_by_state[VPROF_REQUEST_CERTAIN];

	if (model != SERVED_BY_SHARED)
		return told->n_certain_wrong != 0;
	return binomial(n - told->n_certain_wrong, n, (double)VPROF_LINK_CERTAIN) < ERROR ||
	       binomial(told->n_links_certain - told->n_links_certain_wrong, told->n_links_certain,
			(double)VPROF_LINK_CERTAIN) < ERROR;
}

static int check_kind(enum served_by model, uint32_t n_sessions)
{
	struct told told = { .n_links = 0 };
	int n_bad;

	for (uint64_t seed = 0; seed < SYSTEMS; seed++)
		add_system(&told, &(struct served_options){
					  .seed = seed + 1000 * (uint64_t)model + 100000 * n_sessions,
					  .model = model,
					  .n_servers = 2 + (uint32_t)(seed % 3),
					  .n_workers = 2 + (uint32_t)(seed % 7),
					  .n_sessions = n_sessions,
					  .n_requests = seed % 4 ? 300 : 60,
					  .n_calls_most = 1 + (uint32_t)(seed % 3),
					  .knows_places = seed % 5 != 0,
					  .has_locks = seed >> 1 & 1,
					  .loses_wakes = seed % 3 == 2,
					  .is_in_disorder = seed >> 2 & 1,
				  });
	print_message(
		"%s, %u sessions: %llu links, %llu ambiguous, %llu certain (%llu wrong); %llu requests, %llu certain "
		"(%llu wrong), %llu inferred\n",
		model_names[model], n_sessions, (unsigned long long)told.n_links,
		(unsigned long long)told.n_links_ambiguous, (unsigned long long)told.n_links_certain,
		(unsigned long long)told.n_links_certain_wrong, (unsigned long long)told.n_requests,
		(unsigned long long)told.n_by_state[VPROF_REQUEST_CERTAIN], (unsigned long long)told.n_certain_wrong,
		(unsigned long long)told.n_by_state[VPROF_REQUEST_INFERRED]);
	n_bad = check_bins(&told.links, "links") + check_bins(&told.requests, "requests");
	return n_bad + are_too_few_certain_right(model, &told);
}

static void test_confidence(void **state)
{
	static const uint32_t sessions[] = { 1, 2, 5, 20, 60 };
	int n_bad = 0;

	(void)state;
	for (int model = 0; model < SERVED_BYS; model++)
		for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
			n_bad += check_kind((enum served_by)model, sessions[i]);
	assert_int_equal(n_bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
