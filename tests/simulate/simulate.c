/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random schedules of simulated threads: the analysis is compared with the truth.
 *
 *   simulate [--seed FIRST] [--count N] [--plain] [--verbose] [--trace DIR]
 *
 * A seed makes the same schedule on every machine: run one alone with --seed N, and see all of its differences with
 * --verbose; --trace keeps the last schedule's trace (further traces of the same analysis in DIR/1, DIR/2). --plain
 * leaves out what was added to the schedules later, so that old seeds still mean what they meant: several traces,
 * clocks whose tick is not a nanosecond. Exit status 1 when anything differed. How often each situation occurred goes
 * to stdout.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "tests/simulate/compare.h"
#include "tests/simulate/known.h"
#include "tests/simulate/schedule/hot.h"
#include "tests/simulate/schedule/programs.h"

static const char *const texts[COVER_COUNT] = {
#define COVER_TEXT(id, text) [COVER_##id] = text,
	COVERAGE(COVER_TEXT)
#undef COVER_TEXT
};

struct options {
	uint64_t first, count;
	const char *dir;
	struct vprof_plan *plan;
	bool is_verbose, is_plain;
};

/* Properties of this world. */
static void settle(struct world *w)
{
	w->n_processes = 1 + (uint32_t)world_below(w, SIM_PROCESSES);
	w->lag_percent = world_chance(w, 30) ? 0 : (uint32_t)world_below(w, 60);
	w->with_switches = world_chance(w, 60);
	w->with_preemption = world_chance(w, 60);
	if (world_chance(w, 30))
		w->record_from = w->now + 1 + world_below(w, 2000);
	programs_make(w, (w->has_many_hot ? 10 : 1) * (20 + (unsigned)world_below(w, 120)));
	if (w->has_windows)
		windows_settle(w, w->stop_at);
	w->end_at = w->now + 4 * (w->stop_at - w->now) + 10000;
	if (world_chance(w, 30))
		w->end_at = w->now + 1 + world_below(w, w->stop_at - w->now);
	for (size_t i = 0; i < SIM_PROCESSORS && world_chance(w, 15); i++) {
		w->lose_switches_from[i] = w->now + world_below(w, w->stop_at - w->now);
		w->lose_switches_to[i] = w->lose_switches_from[i] + 1 + world_below(w, (w->stop_at - w->now) / 8);
	}
	w->with_losses = !w->shares_ids && world_chance(w, 15);
	for (size_t i = 0; i < w->n_threads && w->with_losses; i++) {
		struct sim_thread *th = w->threads[i];

		if (world_chance(w, 80))
			continue;
		th->lose_from = w->now + world_below(w, w->stop_at - w->now);
		th->lose_to = th->lose_from + 1 + world_below(w, (w->stop_at - w->now) / 8);
	}
}

/* A number of its own for each seed and purpose: what is drawn with it leaves the schedule as it is. */
static uint64_t apart(uint64_t seed, uint64_t purpose)
{
	struct world w = { .random = seed ^ purpose << 48 };

	return world_random(&w);
}

/* The clocks of traces that are analysed together: of the first any, of the others one that ticks in whole ticks of
 * the first, so that every sum is exact. */
static double tick_of(const struct options *o, uint64_t seed, size_t trace)
{
	static const double lengths[] = { 1, 1, 1, 0.384765625, 2.5 };
	double first = lengths[apart(seed, 1) % (sizeof lengths / sizeof *lengths)];

	return o->is_plain ? 1 : trace ? first * (double)(UINT64_C(1) << apart(seed, 1 + trace) % 3) : first;
}

/* Of worlds with hot functions: so short that no time of theirs is long enough to be rare. Such ticks cannot be cut
 * further, as offsets of clocks would. */
static double tick_parts(struct world *const *worlds, size_t n)
{
	bool with_hot = false;

	for (size_t i = 0; i < n; i++)
		with_hot |= worlds[i]->with_hot;
	for (size_t i = 0; i < n && with_hot; i++)
		worlds[i]->with_offsets = false;
	return with_hot ? 64 : 1;
}

static struct world *run_world(const struct options *o, uint64_t seed, uint64_t *coverage)
{
	struct world *w = world_new(seed, coverage);

	w->is_verbose = o->is_verbose;
	if (!o->is_plain && world_chance_apart(w, 30))
		hot_settle(w);
	w->with_offsets = !o->is_plain && world_chance_apart(w, 15);
	for (size_t i = 0; i < SIM_PROCESSORS; i++)
		w->clock_offsets[i] = world_below_apart(w, SIM_TICK_PARTS);
	w->with_forks = !o->is_plain && world_chance_apart(w, 20);
	w->has_windows = !o->is_plain && world_chance_apart(w, 20);
	settle(w);
	world_run(w);
	for (size_t i = 0; i < SIM_PROCESSORS; i++)
		records_switches_lost(w, i);
	COVER(w, SCHEDULES);
	coverage[COVER_THREADS] += w->n_threads;
	for (size_t i = 0; i < w->n_threads; i++)
		coverage[COVER_RECORDS] += w->threads[i]->n_units;
	return w;
}

static bool make_dir(const char *dir)
{
	return !mkdir(dir, 0755) || errno == EEXIST;
}

static bool write_trace(const struct world *w, const char *dir)
{
	char with_offsets[4300], known[4300];

	if ((size_t)snprintf(with_offsets, sizeof with_offsets, "%s/offsets", dir) >= sizeof with_offsets ||
	    (size_t)snprintf(known, sizeof known, "%s/known", dir) >= sizeof known)
		return false;
	return make_dir(dir) && records_write(w, dir, RECORDS_PLAIN) && make_dir(known) &&
	       records_write(w, known, RECORDS_KNOWN) &&
	       (!w->with_offsets || (make_dir(with_offsets) && records_write(w, with_offsets, RECORDS_OFFSETS)));
}

static unsigned run_seed(const struct options *o, uint64_t seed, uint64_t *coverage, struct sampling_check *sampling)
{
	size_t n_traces = o->is_plain || apart(seed, 0) % 8 ? 1 : 2 + apart(seed, 0) / 8 % (SIM_TRACES - 1);
	double parts;
	struct world *worlds[SIM_TRACES];
	char dirs[SIM_TRACES][4200];
	const char *names[SIM_TRACES];
	unsigned n_different = 0;

	for (size_t i = 0; i < n_traces; i++)
		worlds[i] = run_world(o, i ? apart(seed, 100 + i) : seed, coverage);
	parts = tick_parts(worlds, n_traces);
	for (size_t i = 0; i < n_traces; i++) {
		worlds[i]->seed = seed;
		worlds[i]->ns_per_tick = tick_of(o, seed, i) / parts;
		known_choose(worlds[i]);
		snprintf(dirs[i], sizeof dirs[i], i ? "%s/%zu" : "%s", o->dir, i);
		names[i] = dirs[i];
		if (!write_trace(worlds[i], dirs[i])) {
			perror(dirs[i]);
			n_different = 1;
		}
	}
	if (!n_different)
		n_different = compare_worlds(worlds, names, n_traces, o->plan, sampling);
	for (size_t i = 0; i < n_traces; i++)
		world_free(worlds[i]);
	return n_different;
}

static bool read_options(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			o->first = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--count") && i + 1 < argc)
			o->count = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--trace") && i + 1 < argc)
			o->dir = argv[++i];
		else if (!strcmp(argv[i], "--verbose"))
			o->is_verbose = true;
		else if (!strcmp(argv[i], "--plain"))
			o->is_plain = true;
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/vprof-simulate-XXXXXX";
	uint64_t coverage[COVER_COUNT] = { 0 }, n_different = 0;
	struct options o = { .first = 1, .count = 1 };
	struct sampling_check sampling = { 0 };
	bool is_kept;

	if (!read_options(&o, argc, argv)) {
		fprintf(stderr, "usage: %s [--seed FIRST] [--count N] [--plain] [--verbose] [--trace DIR]\n", argv[0]);
		return 2;
	}
	is_kept = o.dir != NULL;
	if (!is_kept && !(o.dir = mkdtemp(dir))) {
		perror(dir);
		return 1;
	}
	o.plan = compare_plan();
	for (uint64_t seed = o.first; seed < o.first + o.count; seed++)
		n_different += run_seed(&o, seed, coverage, &sampling) != 0;
	vprof_plan_free(o.plan);
	if (!is_kept)
		vprof_dir_remove(o.dir, NULL);
	for (int i = 0; i < COVER_COUNT; i++)
		printf("%12" PRIu64 "  %s\n", coverage[i], texts[i]);
	if (sampling.n > 0)
		printf("%12.0Lf  intervals with sampled calls: sum of errors %+.2Lf sd, of their squares %+.2Lf sd (within %.1Lf)\n",
		       sampling.n, sampling.error / sqrtl(sampling.noise), sampling.excess / sqrtl(sampling.excess2),
		       SAMPLING_BOUND);
	if (n_different)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " schedules differ\n", n_different, o.count);
	if (!known_are_most(coverage)) {
		fprintf(stderr, "the figures of too many intervals are not compared\n");
		n_different++;
	}
	if (!sampling_is_unbiased(&sampling)) {
		fprintf(stderr, "estimates from sampled calls are biased\n");
		n_different++;
	}
	return n_different != 0;
}
