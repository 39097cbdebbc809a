/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The times of all calls of next_token are known here, vprof times some of them: of those of a request after the first
 * 64 it draws two at random from each block of 8 to 64, an eighth of the calls so far (docs/design/runtime.md). Its
 * estimate of a request's time has an error whose variance follows from the calls' own; vprof takes that out of what it
 * reports, which is then right on average. What remains is its chance, and the bounds here are 4.1 standard errors of
 * it: outside lies one run in 25,000.
 *
 * An interrupted call is another matter: one interruption is longer than all calls of a request together. vprof has it
 * count once where the call was drawn and not at all where it was not, so it is there with probability 2 in the block's
 * calls. Few and large as they are, they are no normal variable; their bound is Bernstein's, for one run in 20,000. */
#include "document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ERRORS 4.1
#define BERNSTEIN 9.9	      /* ln 20000 */
#define INTERRUPTION_NS 50000 /* beyond the limit: no interrupt handler takes so long */
#define RARE 500	      /* all calls but one in so many are as long as the usual ones, at most */
#define LIMIT_FACTOR 2	      /* an outlier is longer than so many of these, and LIMIT_NS */
#define LIMIT_NS 1000

struct error {
	double normal, rare, largest; /* the variance of both, and the largest single term */
	double bias;
};

static double chance(uint32_t call)
{
	uint32_t block = call / 8 < 8 ? 8 : call / 8 < 64 ? call / 8 : 64;

	return call < 64 ? 1 : 2.0 / block;
}

static int tick_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* What counts for others of a call: all of it, of an outlier as much as usual calls have. */
struct limit {
	double usual, longest;
};

static struct limit limit_of(const struct document *d, size_t n)
{
	size_t n_calls = 0, at = 0;
	uint32_t *all;
	struct limit limit;

	for (size_t i = 0; i < n; i++)
		n_calls += d[i].n_tokens;
	all = malloc(n_calls * sizeof *all);
	if (!all) {
		perror("sampling");
		exit(1);
	}
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < d[i].n_tokens; k++)
			all[at++] = d[i].tokens[k].high;
	qsort(all, n_calls, sizeof *all, tick_order);
	limit.usual = all[n_calls - 1 - n_calls / RARE];
	limit.longest = LIMIT_FACTOR * limit.usual + LIMIT_NS * plant_ticks_per_ns;
	free(all);
	return limit;
}

static double shorter(double ticks, struct limit limit)
{
	return ticks > limit.longest ? limit.usual : ticks;
}

/* What a request's calls take without the rare, which count with their chance. */
static struct plant_time ordinary(const struct document *d, struct limit limit, int has_rare)
{
	double low = 0, high = 0, rare = 0;

	for (uint32_t k = 0; k < d->n_tokens; k++) {
		low += shorter(d->tokens[k].low, limit);
		high += shorter(d->tokens[k].high, limit);
		rare += has_rare * chance(k) * (d->tokens[k].high - shorter(d->tokens[k].high, limit));
	}
	return (struct plant_time){ (uint64_t)(low + rare), (uint64_t)(high + rare) };
}

/* Variance of the estimate of a request's time: two of a block's N calls are N (N - 2) / 2 of the variance between them
 * (noise.h), (N - 2) / 2 for each. */
static double sampling_variance(const struct document *d, struct limit limit)
{
	double mean = 0, variance = 0, sum = 0;

	for (uint32_t k = 0; k < d->n_tokens; k++)
		mean += shorter(d->tokens[k].high, limit) / d->n_tokens;
	for (uint32_t k = 0; k < d->n_tokens; k++) {
		double off = shorter(d->tokens[k].high, limit) - mean;

		variance += off * off / (d->n_tokens - 1);
		sum += chance(k) < 1 ? 1 / chance(k) - 1 : 0;
	}
	return sum * variance;
}

static void add_errors(struct error *e, const struct document *d, double off, struct limit limit, int has_rare)
{
	double variance = sampling_variance(d, limit);

	e->normal += 4 * off * off * variance + 3 * variance * variance;
	for (uint32_t k = 0; has_rare && k < d->n_tokens; k++) {
		double x = d->tokens[k].high - shorter(d->tokens[k].high, limit), p = chance(k);
		double term = 2 * fabs(off) * x + x * x;

		e->rare += p * (1 - p) * term * term;
		e->bias += p * (1 - p) * x * x;
		if (p < 1 && term > e->largest)
			e->largest = term;
	}
}

/* Each interruption that the kernel counted is one call that took so long; then the time it lacked a processor is known
 * to vprof, and none of the function's own. */
static int is_preempted(const struct document *d, struct limit limit)
{
	long n = 0;

	for (uint32_t k = 0; k < d->n_tokens; k++)
		n += d->tokens[k].high > limit.longest + INTERRUPTION_NS * plant_ticks_per_ns;
	return n <= d->interruptions;
}

struct range {
	double low, high;
};

static double allowed(const struct error *e)
{
	return ERRORS * sqrt(e->normal) + sqrt(2 * BERNSTEIN * e->rare) + e->largest * BERNSTEIN / 3;
}

/* Of what would go if next_token always took its mean: the variance of the request less that of the rest of it, whose
 * error is next_token's with the other sign. */
static struct range constant_range(const struct truth *t, const struct document *documents, struct limit limit)
{
	double all = truth_variance(t, REQUEST), mean = 0, left = 0;
	struct error e = { 0 };

	for (size_t i = 0; i < t->n; i++)
		mean += (truth_value(t, i, REQUEST) - truth_value(t, i, NEXT_TOKEN)) / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		double off = truth_value(t, i, REQUEST) - truth_value(t, i, NEXT_TOKEN) - mean;

		left += off * off;
		add_errors(&e, &documents[i], off, limit, 1);
	}
	return (struct range){ 1 - (left + e.bias + allowed(&e)) / ((double)t->n - 1) / all,
			       1 - (left + e.bias - allowed(&e)) / ((double)t->n - 1) / all };
}

/* Of next_token's share; without what preempted calls have beyond the limit when `is_own`. */
static struct range range_of(struct truth *t, const struct document *documents, struct limit limit, int is_own)
{
	double n1 = (double)t->n - 1, all = truth_variance(t, REQUEST), mean = 0, least, most;
	struct error e = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		int has_rare = !is_own || !is_preempted(&documents[i], limit);

		t->rows[i * N_FACTORS + NEXT_TOKEN] = ordinary(&documents[i], limit, has_rare);
		mean += truth_value(t, i, NEXT_TOKEN) / (double)t->n;
	}
	for (size_t i = 0; i < t->n; i++)
		add_errors(&e, &documents[i], truth_value(t, i, NEXT_TOKEN) - mean, limit,
			   !is_own || !is_preempted(&documents[i], limit));
	least = truth_variance(t, NEXT_TOKEN) + (e.bias - allowed(&e)) / n1;
	most = truth_variance(t, NEXT_TOKEN) + (e.bias + allowed(&e)) / n1;
	return (struct range){ least > 0 ? least / all : 0, most / all };
}

/* What vprof cannot divide between next_token and parse: of each request, the rare calls that were not drawn have no
 * more beyond the limit than all of them, and the variance is no more than the mean square. */
static double undivided_share(const struct truth *t, const struct document *documents, struct limit limit)
{
	double squares = 0;

	for (size_t i = 0; i < t->n; i++) {
		double rare = 0;

		for (uint32_t k = 0; k < documents[i].n_tokens; k++)
			rare += documents[i].tokens[k].high - shorter(documents[i].tokens[k].high, limit);
		squares += rare * rare;
	}
	return squares / ((double)t->n - 1) / truth_variance(t, REQUEST);
}

/* When the drill-down had every call recorded. */
static void bound_exactly(struct truth *t, const struct document *documents)
{
	for (size_t i = 0; i < t->n; i++) {
		struct plant_time sum = { 0, 0 };

		for (uint32_t k = 0; k < documents[i].n_tokens; k++) {
			sum.low += documents[i].tokens[k].low;
			sum.high += documents[i].tokens[k].high;
		}
		t->rows[i * N_FACTORS + NEXT_TOKEN] = sum;
	}
	truth_bound_exactly(t, NEXT_TOKEN);
}

void account_for_sampling(struct truth *t, const struct document *documents)
{
	struct limit limit = limit_of(documents, t->n);
	struct range own, with_preempted, constant;

	bound_exactly(t, documents);
	own = range_of(t, documents, limit, 1);
	with_preempted = range_of(t, documents, limit, 0);
	constant = constant_range(t, documents, limit);

	t->undivided_high = undivided_share(t, documents, limit);
	t->own_low = own.low;
	t->own_high = own.high;
	t->sampled_low = with_preempted.low;
	t->sampled_high = with_preempted.high;
	t->constant_low = constant.low;
	t->constant_high = constant.high;
}
