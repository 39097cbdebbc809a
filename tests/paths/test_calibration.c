/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The declared confidence is true: of all links that are told with a confidence of p to p + 0.05 at least p are right,
 * and so are requests; nothing that is called certain is wrong. For each way of serving and each number of sessions by
 * itself, so that what is easy does not hide what is not. And it is not too low: of all links that are told with p, to
 * within 0.025, p - 0.05 to p + 0.05 are right, taken together. Sequences are fixed by their seeds.
 *
 * test_calibration --count: how often links are right by how they were found and what they score, of systems with other
 * seeds than the test's. analysis/requests/links.c stands on that.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/requests/requests.h"
#include "simulated_servers.h"

#define BINS 21	   /* of 0.05; the last one: exactly 1 */
#define ERROR 1e-4 /* so rarely a bin whose links are right with p has as few right ones */
#define SYSTEMS 48 /* of each kind */
#define SEED_COUNTED 0
#define SEED_TESTED 500
#define AROUND 0.05 /* what is told may be off by that much */
#define SCORES 20   /* of 0.05 */
#define SESSIONS 5

static const char *const model_names[SERVED_BYS] = { "workers", "dispatcher", "handoff", "stages",
						     "shared",	"loop",	      "batches" };

struct bins {
	uint64_t n[BINS], n_right[BINS];
};

struct told {				     /* of all systems of a kind */
	struct bins links, requests, around; /* around: links, rounded to the nearest bin */
	uint64_t n_scored[VPROF_LINK_HOWS][SCORES], n_scored_right[VPROF_LINK_HOWS][SCORES];
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

/* What would be told, also where it is not. */
static void add_score(struct told *told, const struct vprof_link *link, int is_right)
{
	int bin = (int)((double)link->score * SCORES + 1e-6);

	if (bin >= SCORES || link->by == VPROF_LINK_AMBIGUOUS || link->n_open >= VPROF_LINK_MANY_OPEN)
		return;
	told->n_scored[link->by][bin]++;
	told->n_scored_right[link->by][bin] += is_right != 0;
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
		add_score(told, link, link->likeliest == s->true_parent[i]);
		told->n_links_ambiguous += link->how == VPROF_LINK_AMBIGUOUS;
		if (link->how == VPROF_LINK_AMBIGUOUS)
			continue;
		add(&told->links, (double)link->confidence, is_right);
		add(&told->around, (double)link->confidence + AROUND / 2, is_right);
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

/* Together, since ways of serving cannot be told apart where confidence is in doubt: how many bins are too far off. */
static int check_around(const struct bins *b)
{
	int n_bad = 0;

	for (int i = 0; i < BINS; i++) {
		double p = i * 0.05;
		int is_bad = b->n[i] && (binomial(b->n_right[i], b->n[i], p - AROUND) < ERROR ||
					 binomial(b->n[i] - b->n_right[i], b->n[i], 1 - p - AROUND) < ERROR);

		if (b->n[i])
			print_message("told %.3f .. %.3f: %.1f %% of %llu right%s\n", p - AROUND / 2, p + AROUND / 2,
				      100 * (double)b->n_right[i] / (double)b->n[i], (unsigned long long)b->n[i],
				      is_bad ? ": too far off" : "");
		n_bad += is_bad;
	}
	return n_bad;
}

static void tell_kind(const struct told *told, enum served_by model, uint32_t n_sessions)
{
	print_message(
		"%s, %u sessions: %llu links, %llu ambiguous, %llu certain (%llu wrong); %llu requests, %llu certain "
		"(%llu wrong), %llu inferred\n",
		model_names[model], n_sessions, (unsigned long long)told->n_links,
		(unsigned long long)told->n_links_ambiguous, (unsigned long long)told->n_links_certain,
		(unsigned long long)told->n_links_certain_wrong, (unsigned long long)told->n_requests,
		(unsigned long long)told->n_by_state[VPROF_REQUEST_CERTAIN], (unsigned long long)told->n_certain_wrong,
		(unsigned long long)told->n_by_state[VPROF_REQUEST_INFERRED]);
}

static void serve(struct told *told, enum served_by model, uint32_t n_sessions, uint64_t first_seed)
{
	for (uint64_t seed = first_seed; seed < first_seed + SYSTEMS; seed++)
		add_system(told, &(struct served_options){
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
}

static const uint32_t n_sessions[SESSIONS] = { 1, 2, 5, 20, 60 };

static void test_confidence(void **state)
{
	struct bins around = { .n = { 0 } };
	int n_bad = 0;

	(void)state;
	for (int i = 0; i < SERVED_BYS * SESSIONS; i++) {
		enum served_by model = (enum served_by)(i / SESSIONS);
		struct told told = { .n_links = 0 };

		serve(&told, model, n_sessions[i % SESSIONS], SEED_TESTED);
		tell_kind(&told, model, n_sessions[i % SESSIONS]);
		n_bad += check_bins(&told.links, "links") + check_bins(&told.requests, "requests");
		n_bad += are_too_few_certain_right(model, &told);
		for (int k = 0; k < BINS; k++) {
			around.n[k] += told.around.n[k];
			around.n_right[k] += told.around.n_right[k];
		}
	}
	n_bad += check_around(&around);
	assert_int_equal(n_bad, 0);
}

/* By kind of link: of each score how many are right, of all and of the way of serving of which fewest are; of links
 * with fewer than VPROF_LINK_MANY_OPEN requests at once. */
static void count_scores(void)
{
	static struct told of[SERVED_BYS * SESSIONS];

	for (int i = 0; i < SERVED_BYS * SESSIONS; i++)
		serve(&of[i], (enum served_by)(i / SESSIONS), n_sessions[i % SESSIONS], SEED_COUNTED);
	for (int how = 0; how < VPROF_LINK_HOWS; how++) {
		for (int k = 0; k < SCORES; k++) {
			uint64_t n = 0, n_right = 0;
			double least = 1;

			for (int i = 0; i < SERVED_BYS * SESSIONS; i++) {
				uint64_t n_own = of[i].n_scored[how][k], n_own_right = of[i].n_scored_right[how][k];

				n += n_own;
				n_right += n_own_right;
				least = n_own ? fmin(least, (double)n_own_right / (double)n_own) : least;
			}
			if (n)
				printf("kind %d, score %.2f: %llu of %llu right (%.3f; at least %.3f)\n", how, k * 0.05,
				       (unsigned long long)n_right, (unsigned long long)n, (double)n_right / (double)n,
				       least);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confidence),
	};

	if (argc > 1 && !strcmp(argv[1], "--count")) {
		count_scores();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
