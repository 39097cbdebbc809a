/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench/rank: seconds of the selection (Algorithm 1) over a made-up tree with at least so many pairs of siblings, and
 * of ranking it again as another threshold does.
 *
 *   bench_rank [--json] [--pairs N] [--rounds N]
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/variance/factors.h"
#include "bench/target.h"
#include "trace/clock.h"

#define SIBLINGS 200 /* of each parent: the most that are paired */

static double random_share(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / 9007199254740992.0;
}

static const char *function_name(struct vprof_results *r, size_t i)
{
	char name[32];

	snprintf(name, sizeof(name), "function_%zu", i);
	return vprof_results_string(r, name);
}

/* A chain of parents with SIBLINGS children each; every other function stands below several parents. */
static struct vprof_results *make_results(size_t n_pairs)
{
	size_t per_parent = (size_t)SIBLINGS * (SIBLINGS - 1) / 2, n_parents = (n_pairs + per_parent - 1) / per_parent;
	struct vprof_results *r = vprof_results_new();

	if (!r)
		return NULL;
	r->k = 3;
	r->threshold = 0.02;
	r->interval = "request";
	r->nodes = calloc(1 + n_parents * SIBLINGS, sizeof(*r->nodes));
	r->covariances = calloc(n_parents * per_parent, sizeof(*r->covariances));
	if (!r->nodes || !r->covariances)
		return NULL;
	r->n_nodes = 1;
	r->nodes[0] = (struct vprof_node){ .kind = VPROF_NODE_INTERVAL,
					   .name = "request",
					   .display = "request",
					   .file = "",
					   .object = "",
					   .var_ns2 = 1,
					   .mean_ns = 1,
					   .share = 1 };
	for (size_t p = 0; p < n_parents; p++) {
		uint32_t parent = p ? (uint32_t)((p - 1) * SIBLINGS + 1) : 0, first = (uint32_t)r->n_nodes;

		r->nodes[parent].first_child = first;
		r->nodes[parent].n_children = SIBLINGS;
		for (size_t i = 0; i < SIBLINGS; i++) {
			const char *name = function_name(r, i % 2 ? i : p * SIBLINGS + i);

			r->nodes[r->n_nodes++] = (struct vprof_node){ .kind = VPROF_NODE_FUNCTION,
								      .code = (uint32_t)(0x100 + i),
								      .parent = parent,
								      .depth = (uint32_t)p + 1,
								      .name = name,
								      .display = name,
								      .file = "f.c",
								      .object = "",
								      .n_calls = 1,
								      .n_timed = 1,
								      .mean_ns = random_share(),
								      .var_ns2 = random_share() / SIBLINGS,
								      .share = random_share() / SIBLINGS };
		}
		for (uint32_t a = first; a < first + SIBLINGS; a++)
			for (uint32_t b = a + 1; b < first + SIBLINGS; b++)
				r->covariances[r->n_covariances++] =
					(struct vprof_covariance){ .a = a,
								   .b = b,
								   .cov_ns2 = random_share() / SIBLINGS,
								   .share = random_share() / SIBLINGS };
	}
	return r;
}

/* Forgets the ranking. */
static void clear(struct vprof_results *r)
{
	for (size_t i = 0; i < r->n_factors; i++)
		free((void *)r->factors[i].nodes);
	free(r->factors);
	r->factors = NULL;
	r->n_factors = r->n_selected = 0;
	for (size_t i = 0; i < r->n_nodes; i++)
		r->nodes[i].factor = 0;
	for (size_t i = 0; i < r->n_covariances; i++)
		r->covariances[i].factor = 0;
}

static double rank(struct vprof_results *r, const struct vprof_plan *plan)
{
	struct vprof_term_list terms = { { NULL, 0, 0 } };
	struct vprof_error err = { "" };
	double start = (double)vprof_clock_monotonic_ns() / 1e9;
	int ret = vprof_factors_select(r, plan, &terms, &err);

	VPROF_ARRAY_RELEASE(&terms.terms);
	if (ret)
		fprintf(stderr, "bench_rank: %s\n", err.message);
	return ret ? NAN : (double)vprof_clock_monotonic_ns() / 1e9 - start;
}

int main(int argc, char **argv)
{
	static const struct option known[] = { { "json", no_argument, NULL, 'j' },
					       { "pairs", required_argument, NULL, 'p' },
					       { "rounds", required_argument, NULL, 'r' },
					       { 0 } };
	struct bench_series first = { 0 }, again = { 0 };
	long n_pairs = 250000, n_rounds = 5;
	struct vprof_results *r = NULL;
	struct vprof_plan *plan;
	char machine[400];
	int option, json = 0;
	size_t n = 0, n_factors = 0;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		json |= option == 'j';
		n_pairs = option == 'p' ? atol(optarg) : n_pairs;
		n_rounds = option == 'r' ? atol(optarg) : n_rounds;
		if (option == '?')
			return 2;
	}
	if (n_pairs < 1 || n_pairs > 10000000 || n_rounds < 1 || n_rounds > BENCH_ROUNDS_MAX)
		return 2;
	bench_machine(machine, sizeof(machine));
	plan = vprof_plan_new("/");
	for (long i = 0; i < n_rounds && plan; i++) {
		r = make_results((size_t)n_pairs);
		if (!r)
			return 1;
		bench_series_add(&first, rank(r, plan));
		clear(r);
		r->threshold = 0.001;
		bench_series_add(&again, rank(r, plan));
		n = r->n_covariances;
		n_factors = r->n_factors;
		vprof_results_free(r);
	}
	vprof_plan_free(plan);
	printf(json ? "{\n  \"machine\": \"%s\",\n  \"n_pairs\": %zu,\n  \"n_factors\": %zu,\n  \"select_s\": %.4g,\n  \"rerank_s\": %.4g\n}\n" :
		      "%s\n%zu pairs, %zu factors: selection %.3f s, ranking again %.3f s\n",
	       machine, n, n_factors, bench_series_min(&first), bench_series_min(&again));
	return isnan(bench_series_min(&first));
}
