/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench/sync: what libvprof.so adds to a lock's acquire and release, uncontended, and what is left of the throughput
 * under contention: the same program with and without it, round by round in turn.
 *
 *   bench_sync [--json] [--rounds N] [--pairs N] [--ring MIB] [--dir DIR]
 *
 * Added ns are differences of the least of all rounds; throughput ratios are medians over the rounds. It never fails
 * on time.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/target.h"
#include "common/files.h"

#define N_KINDS 4

enum shape { ALONE, BESIDE_ONE, CONTENDED_2, CONTENDED_8, N_SHAPES }; /* in a process without and with threads */

static const char *const kinds[N_KINDS] = { "mutex", "rdlock", "wrlock", "semaphore" };
static const int n_threads[N_SHAPES] = { 1, 1, 2, 8 };

enum side { PLAIN, ACTIVE, N_SIDES };

struct options {
	int json, n_rounds;
	long n_pairs;
	const char *dir;
};

static struct bench_target targets[2][N_SIDES];		       /* processes without and with threads */
static struct bench_series series[N_KINDS][N_SHAPES][N_SIDES]; /* ns per pair of all threads together */

static int start(const char *dir)
{
	static const char build[] = "${CC:-gcc} -O2 -pthread -include $PROBE $SRC/locks.c -o locks";

	setenv("SRC", VPROF_BENCH_SOURCES, 1);
	setenv("PROBE", VPROF_PROBE, 1);
	if (bench_shell(dir, build, targets[0][PLAIN].missing))
		return -1;
	bench_target_start(&targets[0][PLAIN], dir, "plain", "exec ./locks", BENCH_NO_VPROF);
	bench_target_start(&targets[0][ACTIVE], dir, "active", "exec env LD_PRELOAD=$BENCH_PRELOAD ./locks",
			   BENCH_TO_NOTHING);
	bench_target_start(&targets[1][PLAIN], dir, "plain_threads", "exec ./locks threads", BENCH_NO_VPROF);
	bench_target_start(&targets[1][ACTIVE], dir, "active_threads",
			   "exec env LD_PRELOAD=$BENCH_PRELOAD ./locks threads", BENCH_TO_NOTHING);
	return 0;
}

static void measure_one(int kind, int shape, int side, const struct options *o)
{
	/* Contended pairs cost up to a hundred times more. */
	long n = shape >= CONTENDED_2 ? o->n_pairs / 10 / n_threads[shape] + 1 : o->n_pairs;
	char request[64];

	snprintf(request, sizeof(request), "%s %d %ld\n", kinds[kind], n_threads[shape], n);
	bench_series_add(&series[kind][shape][side],
			 bench_target_ask(&targets[shape != ALONE][side], request) / (double)(n * n_threads[shape]));
}

static void measure(const struct options *o)
{
	for (int round = 0; round < o->n_rounds; round++)
		for (int kind = 0; kind < N_KINDS; kind++)
			for (int shape = 0; shape < N_SHAPES; shape++)
				for (int i = 0; i < N_SIDES; i++) /* each side first in every other round */
					measure_one(kind, shape, (round + i) % N_SIDES, o);
}

static double added(int kind, int shape)
{
	return bench_series_min(&series[kind][shape][ACTIVE]) - bench_series_min(&series[kind][shape][PLAIN]);
}

/* Throughput with vprof over throughput without. */
static double kept(int kind, int shape)
{
	return bench_series_ratio(&series[kind][shape][PLAIN], &series[kind][shape][ACTIVE]);
}

static void number(const char *key, const char *of, double value)
{
	if (isnan(value))
		printf(",\n  \"%s_%s\": null", key, of);
	else
		printf(",\n  \"%s_%s\": %.3f", key, of, value);
}

static void print_json(const struct options *o, const char *machine, const struct vprof_collector_stats *stats)
{
	printf("{\n  \"machine\": \"%s\",\n  \"rounds\": %d,\n  \"pairs\": %ld,\n  \"n_dropped\": %llu", machine,
	       o->n_rounds, o->n_pairs, (unsigned long long)stats->n_dropped);
	for (int kind = 0; kind < N_KINDS; kind++) {
		number("ns_plain", kinds[kind], bench_series_min(&series[kind][BESIDE_ONE][PLAIN]));
		number("ns_active", kinds[kind], bench_series_min(&series[kind][BESIDE_ONE][ACTIVE]));
		number("ns_added", kinds[kind], added(kind, BESIDE_ONE));
		number("ns_plain_alone", kinds[kind], bench_series_min(&series[kind][ALONE][PLAIN]));
		number("ns_added_alone", kinds[kind], added(kind, ALONE));
		number("throughput_2_threads", kinds[kind], kept(kind, CONTENDED_2));
		number("throughput_8_threads", kinds[kind], kept(kind, CONTENDED_8));
	}
	printf("\n}\n");
}

static void print_table(const struct options *o, const char *machine, const struct vprof_collector_stats *stats)
{
	printf("%s; %d rounds of %ld pairs; %llu records dropped\n\n", machine, o->n_rounds, o->n_pairs,
	       (unsigned long long)stats->n_dropped);
	printf("| pair | plain, ns | with vprof | added | in a process without threads: plain | added "
	       "| throughput kept, 2 threads | 8 threads |\n|---|---|---|---|---|---|---|---|\n");
	for (int kind = 0; kind < N_KINDS; kind++)
		printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f %% | %.0f %% |\n", kinds[kind],
		       bench_series_min(&series[kind][BESIDE_ONE][PLAIN]),
		       bench_series_min(&series[kind][BESIDE_ONE][ACTIVE]), added(kind, BESIDE_ONE),
		       bench_series_min(&series[kind][ALONE][PLAIN]), added(kind, ALONE), 100 * kept(kind, CONTENDED_2),
		       100 * kept(kind, CONTENDED_8));
}

static int options_read(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "json", no_argument, NULL, 'j' },	   { "rounds", required_argument, NULL, 'r' },
		{ "pairs", required_argument, NULL, 'p' }, { "ring", required_argument, NULL, 'm' },
		{ "dir", required_argument, NULL, 'd' },   { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'j':
			o->json = 1;
			break;
		case 'r':
			o->n_rounds = atoi(optarg);
			break;
		case 'p':
			o->n_pairs = atol(optarg);
			break;
		case 'm':
			bench_ring_bytes = strtoull(optarg, NULL, 10) << 20;
			break;
		case 'd':
			o->dir = optarg;
			break;
		default:
			return -1;
		}
	}
	return o->n_rounds < 1 || o->n_rounds > BENCH_ROUNDS_MAX || o->n_pairs < 1 || optind != argc ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .n_rounds = 50, .n_pairs = 200000, .dir = "." };
	struct vprof_collector_stats stats = { 0 };
	char dir[400], machine[400];
	int code = 1;

	if (options_read(&o, argc, argv)) {
		fprintf(stderr, "usage: bench_sync [--json] [--rounds 1..%d] [--pairs N] [--ring MIB] [--dir DIR]\n",
			BENCH_ROUNDS_MAX);
		return 2;
	}
	bench_machine(machine, sizeof(machine));
	if (bench_dir_make(o.dir, dir, sizeof(dir))) {
		fprintf(stderr, "bench_sync: cannot make a folder in %s; choose another with --dir\n", o.dir);
		return 1;
	}
	if (start(dir) == 0) {
		measure(&o);
		for (int i = 0; i < 2 * N_SIDES; i++)
			bench_target_stop(&targets[i / N_SIDES][i % N_SIDES], &stats);
		if (o.json)
			print_json(&o, machine, &stats);
		else
			print_table(&o, machine, &stats);
		code = 0;
	}
	for (int i = 0; i < 2 * N_SIDES; i++) {
		if (targets[i / N_SIDES][i % N_SIDES].missing[0]) {
			fprintf(stderr, "bench_sync: %s\n", targets[i / N_SIDES][i % N_SIDES].missing);
			code = 1;
		}
	}
	vprof_dir_remove(dir, NULL);
	return code;
}
