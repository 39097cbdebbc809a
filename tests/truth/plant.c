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
	struct plant_options o = {.n = default_n, .random = DEFAULT_SEED};

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
	struct timespec ts = {us / 1000000, (long)(us % 1000000) * 1000};

	nanosleep(&ts, NULL);
}

void truth_open(struct truth *t, int n_factors, const char *const *names, size_t capacity)
{
	*t = (struct truth){.n_factors = n_factors, .names = names, .capacity = capacity};
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

static void write_also(FILE *f, const struct truth_factor *also)
{
	const char *comma = "";

	fputs(" \"also\": [", f);
	for (int i = 0; i < TRUTH_MAX_ALSO && also[i].factor; i++) {
		fprintf(f, "%s{\"factor\": \"%s\", \"share\": %.6f, \"is_blame\": %s}", comma, also[i].factor, also[i].share,
			also[i].is_blame ? "true" : "false");
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
	fprintf(f, "{\"interval\": \"request\", \"n\": %zu, \"mean_ns\": %.1f, \"var_ns2\": %.1f,\n", t->n, mean(t, 0) * ns,
		covariance(t, 0, 0) * ns * ns);
	write_planted(f, answer);
	if (answer->needs_switches)
		fprintf(f, " \"preempted_share\": %.6f,\n", answer->preempted_share);
	write_also(f, answer->also);
	fputs(" \"others\": [", f);
	for (int i = 0; i < t->n_factors; i++)
		fprintf(f, "%s{\"factor\": \"%s\", \"share\": %.6f}", i ? ", " : "", t->names[i], truth_share(t, i));
	if (answer->is_complete)
		fprintf(f, ", {\"factor\": \"(the rest)\", \"share\": %.6f}", rest_share(t));
	fputs("]}\n", f);
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
