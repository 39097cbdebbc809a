/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account goes to TRUTH_OUT: "mix_share 0.000012" and so on, of the latency's variance. A call of mix is too short
 * to be timed; it takes what the median request needs for one, probes included. Requests that were interrupted are
 * told: their times are the machine's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "table.h"

/* What short interrupts may take from a query; a hypervisor that takes the CPU away is no interruption to the kernel.
 */
#define CALM_NS 100000

static int value_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double variance(const double *x, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return squares / (double)(n - 1);
}

/* Did the query have the CPU all the time? A hypervisor that takes it away is no interruption to the kernel, so the
 * clock tells as well: gaps in the scan, and hashing that took twice what its parts take. */
static int is_calm(const struct query *q, double median_part)
{
	double calm = CALM_NS * plant_ticks_per_ns;

	return !q->interruptions && (double)q->scanning.away < calm &&
	       (double)q->hashing.high < 2 * median_part * q->n_parts + calm;
}

static int write_account(const struct query *q, size_t n)
{
	const char *path = getenv("TRUTH_OUT");
	double *latency = calloc(n, sizeof *latency), *calls = calloc(n, sizeof *calls),
	       *each = calloc(n, sizeof *each);
	double *scan = calloc(n, sizeof *scan), *calm = calloc(n, sizeof *calm), total;
	FILE *f = fopen(path ? path : "truth", "w");
	size_t n_calm = 0;

	if (!latency || !calls || !each || !scan || !calm || !f)
		return 1;
	for (size_t i = 0; i < n; i++) {
		latency[i] = (double)q[i].latency.high;
		calls[i] = q[i].n_parts;
		each[i] = (double)q[i].hashing.high / q[i].n_parts;
		scan[i] = (double)q[i].scanning.low;
	}
	qsort(each, n, sizeof *each, value_order);
	for (size_t i = 0; i < n; i++)
		if (is_calm(&q[i], each[n / 2]))
			calm[n_calm++] = latency[i];
	total = variance(latency, n);
	fprintf(f, "mix_ns %.3f\n", each[n / 2] / plant_ticks_per_ns);
	fprintf(f, "mix_share %.9f\n", each[n / 2] * each[n / 2] * variance(calls, n) / total);
	fprintf(f, "scan_share %.6f\n", variance(scan, n) / total);
	fprintf(f, "interrupted_share %.6f\n", n_calm > n / 2 ? fmax(0, 1 - variance(calm, n_calm) / total) : 1);
	free(latency);
	free(calls);
	free(each);
	free(scan);
	free(calm);
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 150);
	struct query *q = calloc(o.n, sizeof *q);
	int status;

	if (!q) {
		perror("queries");
		return 1;
	}
	for (size_t i = 0; i < o.n; i++)
		q[i] = (struct query){ .id = i + 1,
				       .n_parts = plant_uniform(&o.random, 92000, 100000),
				       .scan_ns = plant_uniform(&o.random, 2000000, 18000000) };
	for (size_t i = 0; i < o.n; i++) {
		q[i].interruptions = -PLANT_INTERRUPTIONS();
		PLANT_CALL(q[i].latency, answer(&q[i]));
		q[i].interruptions += PLANT_INTERRUPTIONS();
	}
	status = write_account(q, o.n);
	free(q);
	return status;
}
