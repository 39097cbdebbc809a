/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random schedules of simulated threads, and the analysis held against what is true of them.
 *
 *   simulate [--seed FIRST] [--count N] [--verbose] [--trace DIR]
 *
 * A seed makes the same schedule on every machine: run one alone with --seed N, and see all of its differences with
 * --verbose; --trace keeps the last schedule's trace. Exit status 1 when there were any. How often each situation
 * occurred goes to stdout.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "compare.h"
#include "programs.h"

static const char *const texts[COVER_COUNT] = {
#define COVER_TEXT(id, text) [COVER_##id] = text,
	COVERAGE(COVER_TEXT)
#undef COVER_TEXT
};

/* What kind of world this is. */
static void settle(struct world *w)
{
	w->n_processes = 1 + (uint32_t)world_below(w, SIM_PROCESSES);
	w->lag_percent = world_chance(w, 30) ? 0 : (uint32_t)world_below(w, 60);
	w->with_switches = world_chance(w, 60);
	w->with_preemption = world_chance(w, 60);
	if (world_chance(w, 30))
		w->record_from = w->now + 1 + world_below(w, 2000);
	programs_make(w, 20 + (unsigned)world_below(w, 120));
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

static unsigned run_seed(uint64_t seed, const char *dir, const struct vprof_plan *plan, uint64_t *coverage,
			 bool is_verbose)
{
	struct world *w = world_new(seed, coverage);
	unsigned n = 1;

	w->is_verbose = is_verbose;
	settle(w);
	world_run(w);
	for (size_t i = 0; i < SIM_PROCESSORS; i++)
		records_switches_lost(w, i);
	COVER(w, SCHEDULES);
	coverage[COVER_THREADS] += w->n_threads;
	for (size_t i = 0; i < w->n_threads; i++)
		coverage[COVER_RECORDS] += w->threads[i]->n_units;
	if (records_write(w, dir))
		n = compare_world(w, dir, plan);
	else
		perror(dir);
	world_free(w);
	return n;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/vprof-simulate-XXXXXX", *trace = NULL;
	uint64_t coverage[COVER_COUNT] = { 0 }, first = 1, count = 1, n_different = 0;
	struct vprof_plan *plan;
	bool is_verbose = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
			first = strtoull(argv[++i], NULL, 0);
		} else if (!strcmp(argv[i], "--count") && i + 1 < argc) {
			count = strtoull(argv[++i], NULL, 0);
		} else if (!strcmp(argv[i], "--trace") && i + 1 < argc) {
			trace = argv[++i];
		} else if (!strcmp(argv[i], "--verbose")) {
			is_verbose = true;
		} else {
			fprintf(stderr, "usage: %s [--seed FIRST] [--count N] [--verbose] [--trace DIR]\n", argv[0]);
			return 2;
		}
	}
	if (!trace && !mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	plan = compare_plan();
	for (uint64_t seed = first; seed < first + count; seed++)
		n_different += run_seed(seed, trace ? trace : dir, plan, coverage, is_verbose) != 0;
	vprof_plan_free(plan);
	if (!trace)
		vprof_dir_remove(dir, NULL);
	for (int i = 0; i < COVER_COUNT; i++)
		printf("%12" PRIu64 "  %s\n", coverage[i], texts[i]);
	if (n_different)
		fprintf(stderr, "%" PRIu64 " of %" PRIu64 " schedules differ\n", n_different, count);
	return n_different != 0;
}
