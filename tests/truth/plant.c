/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account of the ground-truth programs; nothing here runs inside an interval. */
#include "plant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define DEFAULT_SEED 20170423u
#define CALIBRATION_NS 20000000u

double plant_ticks_per_ns = 1;
uint64_t plant_clock_ticks;

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void calibrate(void)
{
	uint64_t ns = monotonic_ns(), ticks = PLANT_NOW();

	while (monotonic_ns() - ns < CALIBRATION_NS)
		;
	plant_ticks_per_ns = (double)(PLANT_NOW() - ticks) / (double)(monotonic_ns() - ns);

	plant_clock_ticks = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		ticks = PLANT_NOW();
		ticks = PLANT_NOW() - ticks;
		if (ticks < plant_clock_ticks)
			plant_clock_ticks = ticks;
	}
}

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "not a number: %s; arguments are [REQUESTS [SEED]]\n", text);
		exit(2);
	}
	return n;
}

struct plant_options plant_start(int argc, char **argv, size_t default_n)
{
	struct plant_options o = { .n = default_n, .random = DEFAULT_SEED };

	if (argc > 1)
		o.n = number(argv[1]);
	if (argc > 2)
		o.random = number(argv[2]);
	if (o.n < 10 || o.n > 10000000) {
		fprintf(stderr, "between 10 and 10000000 requests, not %zu\n", o.n);
		exit(2);
	}
	/* Best effort: a preemption by somebody else's work would be a cause that nobody planted. */
	if (setpriority(PRIO_PROCESS, 0, -15))
		errno = 0;
	calibrate();
	return o;
}

/* splitmix64 */
uint32_t plant_uniform(uint64_t *random, uint32_t low, uint32_t high)
{
	uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return low + (uint32_t)((z >> 32) * (high - low) >> 32);
}

void plant_sleep_us(uint32_t us)
{
	struct timespec ts = { us / 1000000, (long)(us % 1000000) * 1000 };

	nanosleep(&ts, NULL);
}

void truth_open(struct truth *t, int n_factors, const char *const *names, size_t capacity)
{
	*t = (struct truth){ .n_factors = n_factors, .names = names, .capacity = capacity };
	t->rows = calloc(capacity, sizeof *t->rows * (size_t)(n_factors + 1));
	if (!t->rows) {
		perror("truth_open");
		exit(1);
	}
}

void truth_add(struct truth *t, uint64_t latency, const uint64_t *took)
{
	uint64_t *row = t->rows + t->n * (size_t)(t->n_factors + 1);

	if (t->n == t->capacity)
		return;
	row[0] = latency;
	memcpy(row + 1, took, sizeof *took * (size_t)t->n_factors);
	t->n++;
}

static double mean(const struct truth *t, int column)
{
	double sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += (double)t->rows[i * (size_t)(t->n_factors + 1) + (size_t)column];
	return sum / (double)t->n;
}

static double covariance(const struct truth *t, int a, int b)
{
	double mean_a = mean(t, a), mean_b = mean(t, b), sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		const uint64_t *row = t->rows + i * (size_t)(t->n_factors + 1);

		sum += ((double)row[a] - mean_a) * ((double)row[b] - mean_b);
	}
	return sum / (double)(t->n - 1);
}

double truth_share(const struct truth *t, int factor)
{
	return covariance(t, factor + 1, factor + 1) / covariance(t, 0, 0);
}

double truth_pair_share(const struct truth *t, int a, int b)
{
	return 2 * covariance(t, a + 1, b + 1) / covariance(t, 0, 0);
}

/* The latency that no factor accounts for. */
static double rest_share(const struct truth *t)
{
	double sum = covariance(t, 0, 0);

	for (int i = 1; i <= t->n_factors; i++) {
		sum -= 2 * covariance(t, 0, i);
		for (int j = 1; j <= t->n_factors; j++)
			sum += covariance(t, i, j);
	}
	return sum / covariance(t, 0, 0);
}

/* The part of the latency's variance that one request makes: large when a single stall of the machine hit it. */
static double largest_share(const struct truth *t)
{
	double all = mean(t, 0), largest = 0;

	for (size_t i = 0; i < t->n; i++) {
		double d = (double)t->rows[i * (size_t)(t->n_factors + 1)] - all;

		largest = d * d > largest ? d * d : largest;
	}
	return largest / (double)(t->n - 1) / covariance(t, 0, 0);
}

static double column_of(const struct truth *t, size_t i, int factor)
{
	return (double)t->rows[i * (size_t)(t->n_factors + 1) + (size_t)(factor + 1)];
}

double truth_mean_ns(const struct truth *t, int factor)
{
	return mean(t, factor + 1) / plant_ticks_per_ns;
}

static int tick_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The shortest latency of the slowest hundredth. */
static uint64_t slow_from(const struct truth *t)
{
	uint64_t *sorted = malloc(t->n * sizeof *sorted), from;

	if (!sorted) {
		perror("slow_from");
		exit(1);
	}
	for (size_t i = 0; i < t->n; i++)
		sorted[i] = t->rows[i * (size_t)(t->n_factors + 1)];
	qsort(sorted, t->n, sizeof *sorted, tick_order);
	from = sorted[t->n - (t->n + 99) / 100];
	free(sorted);
	return from;
}

static double mean_of_part(const struct truth *t, int factor, int is_slow)
{
	uint64_t from = slow_from(t);
	double sum = 0, n = 0;

	for (size_t i = 0; i < t->n; i++)
		if ((t->rows[i * (size_t)(t->n_factors + 1)] >= from) == is_slow) {
			sum += column_of(t, i, factor);
			n++;
		}
	return sum / n / plant_ticks_per_ns;
}

double truth_tail_ns(const struct truth *t, int factor)
{
	return mean_of_part(t, factor, 1);
}

double truth_rest_ns(const struct truth *t, int factor)
{
	return mean_of_part(t, factor, 0);
}

/* Cov(x, factor) with n - 1 and Var(x). */
static double covariance_with(const struct truth *t, int factor, const uint32_t *x, double *variance)
{
	double mean_x = 0, mean_t = mean(t, factor + 1), sum = 0, squares = 0;

	for (size_t i = 0; i < t->n; i++)
		mean_x += (double)x[i] / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		sum += ((double)x[i] - mean_x) * (column_of(t, i, factor) - mean_t);
		squares += ((double)x[i] - mean_x) * ((double)x[i] - mean_x);
	}
	*variance = squares / (double)(t->n - 1);
	return sum / (double)(t->n - 1);
}

double truth_slope_ns(const struct truth *t, const uint32_t *x)
{
	double variance, c = covariance_with(t, -1, x, &variance);

	return c / variance / plant_ticks_per_ns;
}

double truth_explained(const struct truth *t, int factor, const uint32_t *x)
{
	double variance, c = covariance_with(t, factor, x, &variance);

	return c * c / variance / covariance(t, factor + 1, factor + 1);
}

double truth_between(const struct truth *t, int factor, const uint32_t *kind, uint32_t n_kinds)
{
	double all = mean(t, factor + 1), between = 0;

	for (uint32_t k = 0; k < n_kinds; k++) {
		double sum = 0, n = 0;

		for (size_t i = 0; i < t->n; i++)
			if (kind[i] == k) {
				sum += column_of(t, i, factor) - all;
				n++;
			}
		between += n > 0 ? sum * sum / n : 0;
	}
	return between / (double)(t->n - 1) / covariance(t, factor + 1, factor + 1);
}

static void write_figures(FILE *f, const struct truth_figure *figures)
{
	const char *comma = "";

	fputs(" \"figures\": [", f);
	for (int i = 0; i < TRUTH_MAX_FIGURES && figures[i].key; i++) {
		fprintf(f, "%s\n  {", comma);
		if (figures[i].list)
			fprintf(f, "\"list\": \"%s\", \"item\": \"%s\", ", figures[i].list, figures[i].item);
		fprintf(f, "\"key\": \"%s\", \"of\": %.9g, \"share\": %.6f}", figures[i].key, figures[i].of,
			figures[i].share);
		comma = ",";
	}
	fputs("],\n", f);
}

static void write_also(FILE *f, const struct truth_factor *also)
{
	const char *comma = "";

	fputs(" \"also\": [", f);
	for (int i = 0; i < TRUTH_MAX_ALSO && also[i].factor; i++) {
		fprintf(f, "%s{\"factor\": \"%s\", \"share\": %.6f, \"is_blame\": %s}", comma, also[i].factor,
			also[i].share, also[i].is_blame ? "true" : "false");
		comma = ", ";
	}
	fputs("],\n", f);
}

static void write_planted(FILE *f, const struct truth_answer *answer)
{
	const size_t max = sizeof answer->accept / sizeof *answer->accept;

	if (answer->b)
		fprintf(f, " \"planted\": {\"factor\": [\"%s\", \"%s\"], \"share\": %.6f},\n", answer->a, answer->b,
			answer->share);
	else
		fprintf(f, " \"planted\": {\"factor\": \"%s\", \"share\": %.6f%s},\n", answer->a, answer->share,
			answer->is_sampled ? ", \"is_sampled\": 1" : "");
	fputs(" \"accept\": [", f);
	for (size_t i = 0; i < max && answer->accept[i]; i++)
		fprintf(f, "%s\"%s\"", i ? ", " : "", answer->accept[i]);
	fputs("],\n", f);
}

int truth_write(struct truth *t, const struct truth_answer *answer)
{
	const char *path = getenv("TRUTH_OUT");
	double ns = 1 / plant_ticks_per_ns;
	FILE *f;

	if (!path || !*path)
		path = "truth.json";
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
		return 1;
	}
	fprintf(f, "{\"interval\": \"request\", \"n\": %zu, \"mean_ns\": %.1f, \"var_ns2\": %.1f,\n", t->n,
		mean(t, 0) * ns, covariance(t, 0, 0) * ns * ns);
	write_planted(f, answer);
	if (answer->needs_switches)
		fprintf(f, " \"preempted_share\": %.6f,\n", answer->preempted_share);
	write_figures(f, answer->figures);
	write_also(f, answer->also);
	fputs(" \"others\": [", f);
	for (int i = 0; i < t->n_factors; i++)
		fprintf(f, "%s{\"factor\": \"%s\", \"share\": %.6f}", i ? ", " : "", t->names[i], truth_share(t, i));
	if (answer->is_complete)
		fprintf(f, ", {\"factor\": \"(the rest)\", \"share\": %.6f}", rest_share(t));
	fprintf(f, "],\n \"largest_share\": %.6f}\n", largest_share(t));
	free(t->rows);
	t->rows = NULL;
	return fclose(f) ? 1 : 0;
}

uint64_t plant_log_overlap(const struct plant_log *log, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < log->n && log->stretches[i].from < to; i++) {
		uint64_t begin = log->stretches[i].from > from ? log->stretches[i].from : from;
		uint64_t end = log->stretches[i].to < to ? log->stretches[i].to : to;

		if (begin < end)
			sum += end - begin;
	}
	return sum;
}
