/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench/probe: ns per recorded call of an empty function, beside the floor (two readings of the clock and one
 * 16-byte store) and other tools' recorders, all built and run here, round by round in turn.
 *
 *   bench_probe [--json] [--rounds N] [--calls N] [--no-peers] [--ring MIB] [--dir DIR]
 *
 * Figures are the least of all rounds and the median; ratios compare within this run. It never fails on time.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/target.h"
#include "common/files.h"
#include "trace/format.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Shell commands, run in a folder of their own. $SRC: bench/'s sources, $PROBE: probe.h, $CC: the compiler. */
struct way {
	const char *name;  /* of its figure: ns_<name> */
	const char *text;  /* what it is */
	const char *build; /* makes the program */
	const char *run;
	enum bench_sink sink;
	int is_peer;
	const char *after; /* once the program ended, or NULL */
};

#define LIBRARY_BUILD(name, flags)                                                                                     \
	"$CC " flags " -fPIC -shared $SRC/callee.c -o lib" name ".so && $CC calls.o -o " name " -L. -l" name           \
	" -Wl,-rpath,."
#define PROBED "-include $PROBE "
#define RUN_PROBED "exec env LD_PRELOAD=$BENCH_PRELOAD "

static const struct way ways[] = {
	{ "plain", "plain call", "$CC -O2 $SRC/callee.c calls.o -o plain", "exec ./plain" },
	{ "floor", "floor: two timestamps and a 16-byte store", "$CC -O2 -DBENCH_FLOOR $SRC/callee.c calls.o -o floor",
	  "exec ./floor" },
	{ "recorded", "vprof, recycled ring, executable, -O2",
	  "$CC -O2 " PROBED "-DBENCH_OPEN $SRC/callee.c calls.o -o recorded", RUN_PROBED "./recorded",
	  BENCH_TO_NOTHING },
	{ "recorded_shared", "vprof, recycled ring, shared library, -O2",
	  LIBRARY_BUILD("recorded_shared", "-O2 " PROBED "-DBENCH_OPEN"), RUN_PROBED "./recorded_shared",
	  BENCH_TO_NOTHING },
	{ "recorded_disk", "vprof, trace on disk, executable, -O2",
	  "$CC -O2 " PROBED "-DBENCH_OPEN $SRC/callee.c calls.o -o recorded_disk", RUN_PROBED "./recorded_disk",
	  BENCH_TO_DISK },
	{ "sampled", "vprof, a hot function's call (sampled), executable, -O2",
	  "$CC -O2 " PROBED "-DBENCH_OPEN $SRC/callee.c calls.o -o sampled", RUN_PROBED "./sampled", BENCH_SAMPLED },
	{ "closed", "closed gate, executable, -O2", "$CC -O2 " PROBED "-DBENCH_CLOSED $SRC/callee.c calls.o -o closed",
	  RUN_PROBED "./closed", BENCH_TO_NOTHING },
	{ "plain_shared", "plain call, shared library", LIBRARY_BUILD("plain_shared", "-O2"), "exec ./plain_shared" },
	{ "closed_shared", "closed gate, shared library, -O2",
	  LIBRARY_BUILD("closed_shared", "-O2 " PROBED "-DBENCH_CLOSED"), RUN_PROBED "./closed_shared",
	  BENCH_TO_NOTHING },
	{ "plain_o0", "plain call, -O0", "$CC -O0 $SRC/callee.c calls.o -o plain_o0", "exec ./plain_o0" },
	{ "recorded_o0", "vprof, recycled ring, executable, -O0",
	  "$CC -O0 " PROBED "-DBENCH_OPEN $SRC/callee.c calls.o -o recorded_o0", RUN_PROBED "./recorded_o0",
	  BENCH_TO_NOTHING },
	{ "recorded_shared_o0", "vprof, recycled ring, shared library, -O0",
	  LIBRARY_BUILD("recorded_shared_o0", "-O0 " PROBED "-DBENCH_OPEN"), RUN_PROBED "./recorded_shared_o0",
	  BENCH_TO_NOTHING },
	{ "gprof", "gprof (-pg), counts only", "$CC -O2 -pg $SRC/callee.c calls.o -o gprof", "exec ./gprof",
	  BENCH_NO_VPROF, 1 },
	{ "uftrace", "uftrace record (-pg)",
	  "command -v uftrace >/dev/null || { echo error: uftrace is not installed; exit 1; }; "
	  "$CC -O2 -pg $SRC/callee.c calls.o -o uftraced",
	  "exec uftrace record --no-libcall --no-pager -d uftrace.data ./uftraced", BENCH_NO_VPROF, 1 },
	{ "xray_fdr", "XRay, flight data recorder, no threshold",
	  "command -v clang-19 >/dev/null || { echo error: clang-19 is not installed; exit 1; }; "
	  "clang-19 -O2 -fxray-instrument -fxray-instruction-threshold=1 $SRC/callee.c calls.o -o xray",
	  "XRAY_OPTIONS='patch_premain=true xray_mode=xray-fdr xray_logfile_base=xray.' "
	  "XRAY_FDR_OPTIONS='func_duration_threshold_us=0' exec ./xray",
	  BENCH_NO_VPROF, 1 },
	{ "lttng_ust", "LTTng-UST cyg-profile-fast (-finstrument-functions)",
	  "command -v lttng >/dev/null || { echo error: lttng-tools is not installed; exit 1; }; "
	  "ldconfig -p | grep -q liblttng-ust-cyg-profile-fast || "
	  "{ echo error: liblttng-ust-cyg-profile-fast.so is not installed; exit 1; }; "
	  "$CC -O2 -finstrument-functions $SRC/callee.c calls.o -o lttng_target; "
	  "lttng --no-sessiond list >/dev/null 2>&1 || { lttng-sessiond --background --pidfile=$PWD/lttng.pid; }; "
	  "lttng --no-sessiond create vprof_bench_$BENCH_PID --output=$PWD/lttng.trace && "
	  "lttng --no-sessiond enable-channel -u calls --subbuf-size=16M --num-subbuf=4 && "
	  "lttng --no-sessiond enable-event -u -c calls 'lttng_ust_cyg_profile_fast:*' && lttng --no-sessiond start",
	  "LD_PRELOAD=liblttng-ust-cyg-profile-fast.so exec ./lttng_target", BENCH_NO_VPROF, 1,
	  "lttng --no-sessiond destroy vprof_bench_$BENCH_PID; [ ! -f lttng.pid ] || kill $(cat lttng.pid)" },
};
#define N_WAYS ARRAY_SIZE(ways)

struct options {
	int json, n_rounds, with_peers;
	long n_calls;
	const char *dir;
};

struct result {
	struct bench_target target;
	struct bench_series ns; /* per call */
	struct vprof_collector_stats stats;
};
static struct result results[N_WAYS];

static struct result *result_of(const char *name)
{
	for (size_t i = 0; i < N_WAYS; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &results[i];
	abort(); /* a name that the table lacks */
}

static double least(const char *name)
{
	return bench_series_min(&result_of(name)->ns);
}

static double middle(const char *name)
{
	return bench_series_median(&result_of(name)->ns);
}

static int build(const char *dir, const struct options *o)
{
	char reason[512];

	setenv("SRC", VPROF_BENCH_SOURCES, 1);
	setenv("PROBE", VPROF_PROBE, 1);
	setenv("CC", getenv("CC") ? getenv("CC") : "gcc", 1);
	if (bench_shell(dir, "$CC -O2 -c $SRC/calls.c -o calls.o", reason)) {
		fprintf(stderr, "bench_probe: cannot build the loop: %s\n", reason);
		return -1;
	}
	for (size_t i = 0; i < N_WAYS; i++) {
		struct bench_target *t = &results[i].target;

		if (ways[i].is_peer && !o->with_peers)
			snprintf(t->missing, sizeof(t->missing), "left out on request");
		else
			bench_shell(dir, ways[i].build, t->missing);
	}
	return 0;
}

static void measure(const char *dir, const struct options *o)
{
	char request[64], warm_up[64];

	for (size_t i = 0; i < N_WAYS; i++)
		bench_target_start(&results[i].target, dir, ways[i].name, ways[i].run, ways[i].sink);
	snprintf(request, sizeof(request), "%ld\n", o->n_calls);
	snprintf(warm_up, sizeof(warm_up), "%ld\n", o->n_calls / 10 + 1);
	for (int round = 0; round < o->n_rounds; round++) {
		for (size_t i = 0; i < N_WAYS; i++) {
			bench_target_ask(&results[i].target, warm_up);
			bench_series_add(&results[i].ns,
					 bench_target_ask(&results[i].target, request) / (double)o->n_calls);
		}
	}
	for (size_t i = 0; i < N_WAYS; i++) {
		char reason[512];

		bench_target_stop(&results[i].target, &results[i].stats);
		if (ways[i].after)
			bench_shell(dir, ways[i].after, reason);
	}
}

/* Calls of which no record reached the trace. */
static long n_lost(size_t i, const struct options *o)
{
	long n_made = (long)o->n_rounds * (o->n_calls + o->n_calls / 10 + 1);
	long n_kept = (long)(results[i].stats.n_bytes / sizeof(struct vp_unit));

	return n_kept < n_made ? n_made - n_kept : 0;
}

static int is_recorded(size_t i)
{
	return strncmp(ways[i].name, "recorded", 8) == 0;
}

static void number(const char *key, double value, const char *end)
{
	if (isnan(value))
		printf("  \"%s\": null%s\n", key, end);
	else
		printf("  \"%s\": %.3f%s\n", key, value, end);
}

static void print_json(const struct options *o, const char *machine)
{
	const struct bench_series *floor = &result_of("floor")->ns;
	const char *sep = "";
	char key[128];

	printf("{\n  \"machine\": \"%s\",\n  \"rounds\": %d,\n  \"calls\": %ld,\n", machine, o->n_rounds, o->n_calls);
	for (size_t i = 0; i < N_WAYS; i++) {
		snprintf(key, sizeof(key), "ns_%s", ways[i].name);
		number(key, bench_series_min(&results[i].ns), ",");
		snprintf(key, sizeof(key), "ns_%s_median", ways[i].name);
		number(key, bench_series_median(&results[i].ns), ",");
		if (!is_recorded(i))
			continue;
		snprintf(key, sizeof(key), "ratio_floor%s", ways[i].name + strlen("recorded"));
		number(key, bench_series_min(&results[i].ns) / bench_series_min(floor), ",");
		snprintf(key, sizeof(key), "ratio_floor%s_median", ways[i].name + strlen("recorded"));
		number(key, bench_series_ratio(&results[i].ns, floor), ",");
		printf("  \"n_lost%s\": %ld,\n", ways[i].name + strlen("recorded"), n_lost(i, o));
	}
	number("ns_gate_closed", least("closed") - least("plain"), ",");
	number("ns_gate_closed_shared", least("closed_shared") - least("plain_shared"), ",");
	printf("  \"missing\": {");
	for (size_t i = 0; i < N_WAYS; i++) {
		if (!results[i].target.missing[0])
			continue;
		printf("%s\n    \"%s\": \"", sep, ways[i].name);
		for (const char *c = results[i].target.missing; *c; c++)
			printf(*c == '"' || *c == '\\' ? "\\%c" : (unsigned char)*c < ' ' ? " " : "%c", *c);
		printf("\"");
		sep = ",";
	}
	printf("%s}\n}\n", sep[0] ? "\n  " : "");
}

static void print_table(const struct options *o, const char *machine)
{
	const struct bench_series *floor = &result_of("floor")->ns;

	printf("%s; %d rounds of %ld calls; ns per call\n\n", machine, o->n_rounds, o->n_calls);
	printf("| way | least | median | x floor | x floor, median | records lost |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < N_WAYS; i++) {
		const struct bench_series *s = &results[i].ns;

		if (results[i].target.missing[0]) {
			printf("| %s | missing: %s | | | | |\n", ways[i].text, results[i].target.missing);
			continue;
		}
		printf("| %s | %.2f | %.2f | %.2f | %.2f | ", ways[i].text, bench_series_min(s), bench_series_median(s),
		       bench_series_min(s) / bench_series_min(floor), bench_series_ratio(s, floor));
		if (is_recorded(i))
			printf("%ld |\n", n_lost(i, o));
		else
			printf("|\n");
	}
	printf("\nA closed gate adds %.2f ns (median %.2f) in the executable, %.2f (%.2f) in a shared library.\n",
	       least("closed") - least("plain"), middle("closed") - middle("plain"),
	       least("closed_shared") - least("plain_shared"), middle("closed_shared") - middle("plain_shared"));
}

static int options_read(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "calls", required_argument, NULL, 'c' },
		{ "no-peers", no_argument, NULL, 'n' },
		{ "ring", required_argument, NULL, 'm' },
		{ "dir", required_argument, NULL, 'd' },
		{ 0 },
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
	return o->n_rounds < 1 || o->n_rounds > BENCH_ROUNDS_MAX || o->n_calls < 1 || optind != argc ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = { .n_rounds = 50, .n_calls = 200000, .with_peers = 1, .dir = "." };
	char dir[400], machine[400], pid[32];
	int code = 1;

	if (options_read(&o, argc, argv)) {
		fprintf(stderr,
			"usage: bench_probe [--json] [--rounds 1..%d] [--calls N] [--no-peers] [--ring MIB] [--dir DIR]\n",
			BENCH_ROUNDS_MAX);
		return 2;
	}
	bench_machine(machine, sizeof(machine));
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("BENCH_PID", pid, 1);
	if (bench_dir_make(o.dir, dir, sizeof(dir))) {
		fprintf(stderr, "bench_probe: cannot make a folder in %s; choose another with --dir\n", o.dir);
		return 1;
	}
	if (build(dir, &o))
		goto out;
	measure(dir, &o);
	if (o.json)
		print_json(&o, machine);
	else
		print_table(&o, machine);
	code = 0;
	for (size_t i = 0; i < N_WAYS; i++)
		if (!ways[i].is_peer && results[i].target.missing[0]) {
			fprintf(stderr, "bench_probe: %s: %s\n", ways[i].name, results[i].target.missing);
			code = 1;
		}
out:
	vprof_dir_remove(dir, NULL);
	return code;
}
