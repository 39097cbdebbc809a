/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench/analyze: call records per second of the analysis, beside `uftrace report` over the same calls of the same
 * program.
 *
 *   bench_analyze [--json] [--calls N] [--rounds N] [--no-peers] [--dir DIR] [--keep]
 *   bench_analyze [--json] --trace DIR [--threads N] [--results FILE]    any other trace, with an empty plan
 *
 * The program (analyze_load.c) runs under libvprof.so and the collector in bursts that the ring has room for. Then its
 * trace, read once before, is analysed with one thread and with one for each processor, by turns, and by as many
 * processes with one thread each at once, which tells what the machine's processors are worth together. Memory is what
 * is resident beside the page cache (RssAnon + RssShmem), looked at every 5 ms. It never fails on time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/analyze.h"
#include "bench/target.h"
#include "common/files.h"
#include "trace/clock.h"

#define CALLS_PER_REQUEST 97
#define LOAD_THREADS 2
#define PROCESSES_MAX 64
#define BURST 20000 /* requests of each thread: 62 MB of records */

struct options {
	int json, n_rounds, with_peers, n_threads, keep;
	long n_calls;
	const char *dir, *trace, *results;
};

/* of one analysis, from the process that made it */
struct answer {
	double seconds;
	uint64_t n_records, n_complete, n_dropped;
	char message[512]; /* of a failure */
};

struct measured {
	struct bench_series seconds;
	uint64_t peak_bytes;
	struct answer last;
};

/* Resident memory of a process besides the page cache; 0 when it is gone. */
static uint64_t resident_bytes(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib, sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %lu kB", &kib) == 1 || sscanf(line, "RssShmem: %lu kB", &kib) == 1)
			sum += kib;
	if (f)
		fclose(f);
	return (uint64_t)sum << 10;
}

static struct vprof_plan *make_plan(void)
{
	static const char *const names[] = { "request",	   "token",  "parse",  "compare", "lookup",
					     "store_word", "update", "handle", "encode",  "reply" };
	struct vprof_plan *plan = vprof_plan_new("/");

	for (uint32_t i = 0; plan && i < sizeof(names) / sizeof(names[0]); i++)
		if (vprof_plan_add(plan, &(struct vprof_probe){ .code = 0x101 + i,
								.kind = VPROF_PROBE_FUNCTION,
								.fact_id = i + 1,
								.mask = VPROF_MASK_ANY,
								.context = VPROF_CONTEXT_FIRST,
								.is_root = i == 0,
								.broken_down = 1,
								.height = 3,
								.n_children = 1,
								.name = names[i],
								.display = names[i],
								.file = "analyze_load.c",
								.line = 1,
								.caller = "" }))
			return NULL;
	return plan;
}

static void analyse_here(const char *trace_dir, int n_threads, const struct options *o, struct answer *a)
{
	struct vprof_plan *plan = o->trace ? vprof_plan_new("/") : make_plan();
	struct vprof_analyze_options options = { .trace_dir = trace_dir, .plan = plan, .n_threads = n_threads };
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };
	double start = (double)vprof_clock_monotonic_ns() / 1e9;

	if (!plan || vprof_analyze(&r, &options, &err)) {
		snprintf(a->message, sizeof(a->message), "%.500s", plan ? err.message : "out of memory");
		return;
	}
	a->seconds = (double)vprof_clock_monotonic_ns() / 1e9 - start;
	a->n_records = r->n_records;
	a->n_complete = r->n_complete;
	a->n_dropped = r->n_dropped;
	if (o->results && vprof_results_write(r, o->results, &err))
		snprintf(a->message, sizeof(a->message), "%.500s", err.message);
}

/* one analysis in a process of its own */
struct child {
	pid_t pid;
	int fd;
	uint64_t peak_bytes;
	struct answer answer;
};

static void child_start(struct child *c, const char *trace_dir, int n_threads, const struct options *o)
{
	int fds[2];

	*c = (struct child){ .pid = -1, .fd = -1, .answer = { .seconds = NAN, .message = "it died" } };
	if (pipe(fds))
		return;
	c->pid = fork();
	if (c->pid == 0) {
		struct answer a = { .seconds = NAN };

		analyse_here(trace_dir, n_threads, o, &a);
		_exit(write(fds[1], &a, sizeof(a)) != sizeof(a));
	}
	close(fds[1]);
	c->fd = fds[0];
}

/* 1 while it runs. */
static int child_look(struct child *c)
{
	uint64_t bytes;
	int status;

	if (c->pid <= 0)
		return 0;
	if (waitpid(c->pid, &status, WNOHANG)) {
		c->pid = 0;
		if (read(c->fd, &c->answer, sizeof(c->answer)) != sizeof(c->answer))
			c->answer.seconds = NAN;
		close(c->fd);
		return 0;
	}
	bytes = resident_bytes(c->pid);
	c->peak_bytes = bytes > c->peak_bytes ? bytes : c->peak_bytes;
	return 1;
}

/* n_processes analyses at once; the seconds are those of the slowest. */
static int analyse(const char *trace_dir, int n_processes, int n_threads, const struct options *o, struct measured *m)
{
	struct child children[PROCESSES_MAX];
	double slowest = 0;
	int n_running;

	for (int i = 0; i < n_processes; i++)
		child_start(&children[i], trace_dir, n_threads, o);
	do {
		n_running = 0;
		usleep(5000);
		for (int i = 0; i < n_processes; i++)
			n_running += child_look(&children[i]);
	} while (n_running);
	for (int i = 0; i < n_processes; i++) {
		m->last = children[i].answer;
		m->peak_bytes = children[i].peak_bytes > m->peak_bytes ? children[i].peak_bytes : m->peak_bytes;
		if (m->last.message[0]) {
			fprintf(stderr, "bench_analyze: %s\n", m->last.message);
			return -1;
		}
		slowest = m->last.seconds > slowest ? m->last.seconds : slowest;
	}
	bench_series_add(&m->seconds, slowest);
	return 0;
}

/* Runs a load in bursts; its calls, or 0. */
static long run_load(struct bench_target *t, const struct options *o)
{
	long left = o->n_calls / (LOAD_THREADS * CALLS_PER_REQUEST) + 1, n = 0;
	char request[64];

	while (left > 0) {
		long burst = left < BURST ? left : BURST;

		snprintf(request, sizeof(request), "%ld\n", burst);
		if (isnan(bench_target_ask(t, request)))
			return 0;
		n += burst * LOAD_THREADS * CALLS_PER_REQUEST;
		left -= burst;
	}
	return n;
}

static int record(const char *dir, const struct options *o, long *n_calls)
{
	struct bench_target t = { 0 };
	struct vprof_collector_stats stats;
	char command[64];

	if (bench_shell(dir, "$CC -O2 -pthread -DBENCH_PROBED -include $PROBE $SRC/analyze_load.c -o load",
			t.missing) == 0) {
		snprintf(command, sizeof(command), "exec env LD_PRELOAD=$BENCH_PRELOAD ./load %d", LOAD_THREADS);
		bench_target_start(&t, dir, "load", command, BENCH_TO_DISK);
		*n_calls = run_load(&t, o);
		bench_target_stop(&t, &stats);
	}
	if (t.missing[0])
		fprintf(stderr, "bench_analyze: %s\n", t.missing);
	return t.missing[0] ? -1 : 0;
}

/* Seconds of `uftrace report` over the same calls; NAN, and why, when there is none. */
static double run_uftrace(const char *dir, const struct options *o, long n_calls, char *missing)
{
	struct bench_target t = { 0 };
	struct bench_series seconds = { 0 };
	char command[128], reason[512];

	snprintf(command, sizeof(command), "exec uftrace record --no-libcall --no-pager -d uftrace.data ./uftraced %d",
		 LOAD_THREADS);
	bench_shell(dir,
		    "command -v uftrace >/dev/null || { echo error: uftrace is not installed; exit 1; }; "
		    "$CC -O2 -pg -pthread $SRC/analyze_load.c -o uftraced",
		    t.missing);
	bench_target_start(&t, dir, "uftrace", command, BENCH_NO_VPROF);
	if (!t.missing[0] && run_load(&t, o) != n_calls && !t.missing[0])
		snprintf(t.missing, sizeof(t.missing), "it made other calls");
	bench_target_stop(&t, NULL);
	for (int i = 0; i < o->n_rounds && !t.missing[0]; i++) {
		double start;

		if (!i && bench_shell(dir, "cat uftrace.data/* >/dev/null", reason))
			break;
		start = (double)vprof_clock_monotonic_ns() / 1e9;
		bench_shell(dir, "uftrace report --no-pager -d uftrace.data", t.missing);
		bench_series_add(&seconds, (double)vprof_clock_monotonic_ns() / 1e9 - start);
	}
	snprintf(missing, 512, "%s", t.missing);
	return t.missing[0] ? NAN : bench_series_min(&seconds);
}

static void number(const char *key, double value)
{
	if (isnan(value))
		printf("  \"%s\": null,\n", key);
	else
		printf("  \"%s\": %.6g,\n", key, value);
}

static void print(const struct options *o, const char *machine, const struct measured *one, const struct measured *all,
		  const struct measured *separate, int n_threads, double uftrace_s, double uftrace_calls,
		  const char *missing)
{
	double n = (double)all->last.n_records, total = n / bench_series_min(&all->seconds);
	double core = n / bench_series_min(&one->seconds), uftrace = uftrace_calls / uftrace_s;
	double ceiling = n_threads > 1 ? n_threads * n / bench_series_min(&separate->seconds) / core : 1;

	if (!o->json) {
		printf("%s\n%.4g records, %.4g intervals, %.4g dropped\n"
		       "1 thread: %.2f M records/s; %d threads: %.2f M records/s (x %.2f, single analyses at once x %.2f)\n"
		       "%.1f MB resident besides the page cache\n",
		       machine, n, (double)all->last.n_complete, (double)all->last.n_dropped, core / 1e6, n_threads,
		       total / 1e6, total / core, ceiling, (double)all->peak_bytes / 1e6);
		if (missing[0])
			printf("uftrace report: missing: %s\n", missing);
		else if (!isnan(uftrace))
			printf("uftrace report: %.2f M calls/s; vprof x %.2f with 1 thread, x %.2f with %d\n",
			       uftrace / 1e6, core / uftrace, total / uftrace, n_threads);
		return;
	}
	printf("{\n  \"machine\": \"%s\",\n", machine);
	number("n_records", n);
	number("n_intervals", (double)all->last.n_complete);
	number("n_dropped", (double)all->last.n_dropped);
	number("n_threads", n_threads);
	number("records_per_s", total);
	number("records_per_s_core", core);
	number("scaling", total / core);
	number("scaling_of_machine", ceiling);
	number("peak_rss_bytes", (double)all->peak_bytes);
	number("peak_rss_bytes_core", (double)one->peak_bytes);
	number("uftrace_calls_per_s", uftrace);
	number("ratio_uftrace", total / uftrace);
	number("ratio_uftrace_core", core / uftrace);
	printf("  \"missing\": \"%s\"\n}\n", missing);
}

static int options_read(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "json", no_argument, NULL, 'j' },	     { "rounds", required_argument, NULL, 'r' },
		{ "calls", required_argument, NULL, 'c' },   { "no-peers", no_argument, NULL, 'n' },
		{ "dir", required_argument, NULL, 'd' },     { "trace", required_argument, NULL, 't' },
		{ "threads", required_argument, NULL, 'p' }, { "results", required_argument, NULL, 'o' },
		{ "keep", no_argument, NULL, 'k' },	     { 0 },
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
		case 'c':
			o->n_calls = atol(optarg);
			break;
		case 'n':
			o->with_peers = 0;
			break;
		case 'd':
			o->dir = optarg;
			break;
		case 't':
			o->trace = optarg;
			break;
		case 'p':
			o->n_threads = atoi(optarg);
			break;
		case 'o':
			o->results = optarg;
			break;
		case 'k':
			o->keep = 1;
			break;
		default:
			return -1;
		}
	}
	return o->n_rounds < 1 || o->n_rounds > BENCH_ROUNDS_MAX || o->n_calls < 1 || o->n_threads < 0 ||
			       o->n_threads > PROCESSES_MAX || optind != argc ?
		       -1 :
		       0;
}

int main(int argc, char **argv)
{
	struct options o = { .n_rounds = 3, .n_calls = 20000000, .with_peers = 1, .dir = "." };
	struct measured one = { { 0 } }, all = { { 0 } }, separate = { { 0 } };
	char dir[400] = "", trace[600], machine[400], missing[512] = "";
	double uftrace_s = NAN;
	int code = 1, n_threads;
	long n_calls = 0;

	if (options_read(&o, argc, argv)) {
		fprintf(stderr,
			"usage: bench_analyze [--json] [--calls N] [--rounds 1..%d] [--no-peers] [--dir DIR] [--keep]\n"
			"       bench_analyze [--json] --trace DIR [--threads N] [--rounds N] [--results FILE]\n",
			BENCH_ROUNDS_MAX);
		return 2;
	}
	n_threads = o.n_threads ? o.n_threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
	n_threads = n_threads > PROCESSES_MAX ? PROCESSES_MAX : n_threads;
	bench_machine(machine, sizeof(machine));
	snprintf(trace, sizeof(trace), "%s", o.trace ? o.trace : "");
	setenv("SRC", VPROF_BENCH_SOURCES, 1);
	setenv("PROBE", VPROF_PROBE, 1);
	setenv("CC", getenv("CC") ? getenv("CC") : "gcc", 1);
	if (!o.trace) {
		if (bench_dir_make(o.dir, dir, sizeof(dir))) {
			fprintf(stderr, "bench_analyze: cannot make a folder in %s; choose another with --dir\n",
				o.dir);
			return 1;
		}
		snprintf(trace, sizeof(trace), "%s/load.trace", dir);
		if (record(dir, &o, &n_calls))
			goto out;
	}
	for (int round = 0; round < o.n_rounds; round++)
		if (analyse(trace, 1, n_threads, &o, &all) ||
		    (n_threads > 1 && (analyse(trace, 1, 1, &o, &one) || analyse(trace, n_threads, 1, &o, &separate))))
			goto out;
	if (n_threads == 1)
		one = all;
	if (o.with_peers && !o.trace)
		uftrace_s = run_uftrace(dir, &o, n_calls, missing);
	print(&o, machine, &one, &all, &separate, n_threads, uftrace_s, (double)n_calls, missing);
	code = 0;
out:
	if (dir[0] && o.keep)
		fprintf(stderr, "bench_analyze: the trace is in %s\n", trace);
	else if (dir[0])
		vprof_dir_remove(dir, NULL);
	return code;
}
