/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program under measurement, and its figures.
 *
 * Every target stays alive during the whole benchmark and answers requests, so that the repeats of all of them
 * interleave: what disturbs the machine disturbs all alike. A target with a collector records under libvprof.so;
 * one thread of the benchmark empties the ring of whichever runs.
 */
#ifndef VPROF_BENCH_TARGET_H
#define VPROF_BENCH_TARGET_H

#include <stdint.h>
#include <sys/types.h>

#include "trace/collector.h"

#define BENCH_ROUNDS_MAX 1000

enum bench_sink { BENCH_NO_VPROF, BENCH_TO_NOTHING, BENCH_TO_DISK, BENCH_SAMPLED /* to nothing, hot calls sampled */ };

struct bench_target {
	pid_t pid; /* 0: not running */
	int fd;	   /* requests and answers, a line each */
	struct vprof_collector *collector;
	char missing[512]; /* why it does not run; "" when it does */
};

struct bench_series {
	int n;
	double values[BENCH_ROUNDS_MAX]; /* by round; NAN where a round has none */
};

extern uint64_t bench_ring_bytes; /* of each collector; 0: the default of `vprof run` */

/* A new folder inside `parent`, as an absolute path. */
int bench_dir_make(const char *parent, char *dir, size_t n_bytes);

/* Runs a shell command in the folder `dir`, its output in a log; 0, or the reason in reason[512]. */
int bench_shell(const char *dir, const char *command, char *reason);

/* Starts a shell command ("exec ..."). The environment of vprof is set when sink says so; name tells the trace's
 * folder, dir/name.trace. On failure t->missing is set. */
void bench_target_start(struct bench_target *t, const char *dir, const char *name, const char *command,
			enum bench_sink sink);
/* Sends a request and waits for the answer in ns; NAN when the target died. */
double bench_target_ask(struct bench_target *t, const char *request);
/* Ends the target. stats may be NULL, and is all zero without a collector. */
void bench_target_stop(struct bench_target *t, struct vprof_collector_stats *stats);

void bench_series_add(struct bench_series *s, double value);
double bench_series_min(const struct bench_series *s); /* NAN when empty */
double bench_series_median(const struct bench_series *s);
/* Median over the rounds of s / base. */
double bench_series_ratio(const struct bench_series *s, const struct bench_series *base);

/* "2 x NAME, load 1.2 when it began" */
void bench_machine(char *text, size_t n_bytes);

#endif
