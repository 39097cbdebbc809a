/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two runs of the same random server, compared again and again: how often is anything called changed?
 *
 * The server has workers that sleep until there is a request, and requests that compute, wait for a lock and write; a
 * thread that sleeps in a function that waits for work; and one that does a job of 5 % of the server's time or more now
 * and then: once or twice a run, if at all. Of one switch in a thousand, one half is missing. All is known to be equal
 * but for chance, so each change is a false alarm.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "analysis/latency/path_ranking.h"

#define RUN_NS 1000000u
#define N_WORKERS 4
#define N_PAIRS 1000
#define MISSING 0.001
/* What is promised of a comparison: an alarm in at most one of a hundred. The test fails by chance, were it so, with at
 * most this probability; the seeds are fixed. */
#define ALARM_CHANCE 0.01
#define TEST_ERROR 1e-5

enum function { MAIN, WORK, TAKE, WAIT, SERVE, PARSE, LOCK, WRITE, LISTEN, EPOLL, TIDY, NAP, JOB, N_FUNCTIONS };

static const struct vprof_latency_function functions[N_FUNCTIONS] = {
	[MAIN] = { "main", "", 0, 0, 0 },     [WORK] = { "work", "", 0, 0, 0 },
	[TAKE] = { "take", "", 0, 0, 0 },     [WAIT] = { "wait", "", 0, 0, 0 },
	[SERVE] = { "serve", "", 0, 0, 0 },   [PARSE] = { "parse", "", 0, 0, 0 },
	[LOCK] = { "lock", "", 0, 0, 0 },     [WRITE] = { "write", "", 0, 0, 0 },
	[LISTEN] = { "listen", "", 0, 0, 0 }, [EPOLL] = { "epoll_wait", "", 2, 0, 1 },
	[TIDY] = { "tidy", "", 0, 0, 0 },     [NAP] = { "nap", "", 0, 0, 0 },
	[JOB] = { "job", "", 0, 0, 0 },
};

/* Where a thread can be, outermost first. */
enum place { IN_WAIT, IN_PARSE, IN_LOCK, IN_WRITE, IN_EPOLL, IN_LISTEN, IN_NAP, IN_JOB, N_PLACES };

static const uint32_t stacks[N_PLACES][4] = {
	[IN_WAIT] = { MAIN, WORK, TAKE, WAIT },	     [IN_PARSE] = { MAIN, WORK, SERVE, PARSE },
	[IN_LOCK] = { MAIN, WORK, SERVE, LOCK },     [IN_WRITE] = { MAIN, WORK, SERVE, WRITE },
	[IN_EPOLL] = { MAIN, LISTEN, EPOLL, EPOLL }, [IN_LISTEN] = { MAIN, LISTEN, PARSE, PARSE },
	[IN_NAP] = { MAIN, TIDY, NAP, NAP },	     [IN_JOB] = { MAIN, TIDY, JOB, JOB },
};

struct server {
	struct vprof_latency_history history;
	gsl_rng *rng;
	uint64_t now;	  /* of the thread that is made */
	size_t n_windows; /* 0: events have stacks throughout */
};

static void begin_history(struct server *s, int n_windows)
{
	struct vprof_latency_history *h = &s->history;

	*h = (struct vprof_latency_history){ .end = RUN_NS };
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		*VPROF_PUSH(&h->functions) = functions[i];
	for (uint32_t i = 0; i < N_PLACES; i++) {
		*VPROF_PUSH(&h->stacks) = (struct vprof_latency_stack){ h->frames.n, 4, 4 };
		for (uint32_t d = 0; d < 4; d++) /* the place: of the call of the next function */
			*VPROF_PUSH(&h->frames) =
				(struct vprof_latency_frame){ stacks[i][d], stacks[i][d < 3 ? d + 1 : d] };
	}
	for (int i = 0; i < n_windows; i++) {
		uint64_t step = RUN_NS / (uint64_t)n_windows, length = step / 5;
		uint64_t begin = (uint64_t)i * step + gsl_rng_uniform_int(s->rng, step - length);

		*VPROF_PUSH(&h->windows) = (struct vprof_latency_window){ begin, begin + length, (uint64_t)i * length };
	}
}

/* The thread is at a place for so long; flags: what is known of that time. */
static void stay(struct server *s, enum place at, double ns, uint32_t flags)
{
	struct vprof_latency_history *h = &s->history;
	uint64_t end = s->now + 1 + (uint64_t)ns;
	const uint64_t times[2] = { s->now, end < RUN_NS ? end : RUN_NS };

	if (flags & VPROF_LATENCY_OFF_CPU && gsl_rng_uniform(s->rng) < MISSING)
		flags = (flags & ~VPROF_LATENCY_OFF_CPU) | VPROF_LATENCY_UNPAIRED;
	for (int i = 0; i < 2; i++)
		*VPROF_PUSH(&h->events) =
			(struct vprof_latency_event){ times[i], at,
						      i ? flags | VPROF_LATENCY_HELD : VPROF_LATENCY_NEW_CALL };
	s->now = times[1];
}

/* What of the events from `first` on lies in windows, as stretches of one thread. */
static void end_thread(struct server *s, size_t first, uint32_t tid)
{
	struct vprof_latency_history *h = &s->history;
	size_t n = h->events.n, n_kept = first, n_parts = h->windows.n ? h->windows.n : 1;
	struct vprof_latency_event *kept = malloc((n - first + 1) * sizeof *kept);
	int is_continued = 0;

	memcpy(kept, h->events.v + first, (n - first) * sizeof *kept);
	for (size_t w = 0, e = 0; w < n_parts; w++) {
		uint64_t begin = h->windows.n ? h->windows.v[w].begin : 0,
			 end = h->windows.n ? h->windows.v[w].end : RUN_NS;
		size_t from = n_kept;

		while (e < n - first && kept[e].t < begin)
			e++;
		for (; e < n - first && kept[e].t <= end; e++)
			h->events.v[n_kept++] = kept[e];
		if (n_kept == from)
			continue;
		h->events.v[from].flags = 0;
		*VPROF_PUSH(&h->threads) = (struct vprof_latency_thread){ .name = "thread",
									  .pid = 1,
									  .tid = tid,
									  .begin = begin,
									  .end = end,
									  .begin_is_cut = 1,
									  .end_is_cut = 1,
									  .is_continued = is_continued,
									  .first_event = from,
									  .n_events = n_kept - from };
		is_continued = 1;
	}
	h->events.n = n_kept;
	free(kept);
}

static void make_worker(struct server *s, uint32_t tid)
{
	size_t first = s->history.events.n;

	for (s->now = 0; s->now < RUN_NS;) {
		/* a wait as long as the rest on average, so that a worker is idle for some four fifths or less */
		stay(s, IN_WAIT, gsl_ran_exponential(s->rng, 18000), VPROF_LATENCY_OFF_CPU);
		stay(s, IN_PARSE, gsl_ran_exponential(s->rng, 1000), 0);
		if (gsl_rng_uniform(s->rng) < 0.3)
			stay(s, IN_LOCK, gsl_ran_lognormal(s->rng, 7, 1.2), VPROF_LATENCY_OFF_CPU);
		stay(s, IN_WRITE, gsl_ran_exponential(s->rng, 3000), 0);
	}
	end_thread(s, first, tid);
}

static void make_listener(struct server *s, uint32_t tid)
{
	size_t first = s->history.events.n;

	for (s->now = 0; s->now < RUN_NS;) {
		stay(s, IN_EPOLL, gsl_ran_exponential(s->rng, 20000), VPROF_LATENCY_OFF_CPU);
		stay(s, IN_LISTEN, gsl_ran_exponential(s->rng, 500), 0);
	}
	end_thread(s, first, tid);
}

static void make_tidier(struct server *s, uint32_t tid)
{
	size_t first = s->history.events.n;

	for (s->now = 0; s->now < RUN_NS;) {
		stay(s, IN_NAP, gsl_ran_exponential(s->rng, RUN_NS / 1.5), VPROF_LATENCY_OFF_CPU);
		stay(s, IN_JOB, gsl_ran_exponential(s->rng, RUN_NS / 10.0), 0);
	}
	end_thread(s, first, tid);
}

/* Whoever's own time it likely was: all of it is somebody's, in all and in each part of the recording but for sleeps.
 */
static void check_sums(const struct vprof_annotated_tree *t)
{
	double own = 0, likely = 0, parts = 0;

	for (uint32_t i = 0; i < t->tree.nodes.n; i++) {
		own += (double)t->contexts[i].own_ns;
		likely += t->contexts[i].likely_ns;
		parts += (double)t->contexts[i].own_off_ns + (double)t->contexts[i].own_unpaired_ns;
		for (uint32_t b = 0; b < t->n_blocks; b++)
			parts += t->own_blocks[(size_t)i * VPROF_LATENCY_BLOCKS + b];
	}
	assert_true(fabs(likely - own) < 1e-6 * own);
	assert_true(fabs(parts - own) < 1e-6 * own);
}

static void make_run(struct server *s, gsl_rng *rng, int n_windows, struct vprof_annotated_tree *tree)
{
	s->rng = rng;
	begin_history(s, n_windows);
	for (uint32_t i = 0; i < N_WORKERS; i++)
		make_worker(s, i + 1);
	make_listener(s, N_WORKERS + 1);
	make_tidier(s, N_WORKERS + 2);
	assert_int_equal(vprof_latency_history_check(&s->history, NULL), 0);
	assert_int_equal(vprof_annotated_tree_build(tree, &s->history, 1, NULL), 0);
	check_sums(tree);
}

/* Does the comparison of two runs call anything changed? */
static int is_alarm(gsl_rng *rng, const int n_windows[2], double per_alarm[N_FUNCTIONS])
{
	struct server runs[2];
	struct vprof_annotated_tree trees[2];
	struct vprof_paired_tree pair;
	struct vprof_latency_ranking ranking;
	struct vprof_latency_units units;
	int is = 0;

	for (int i = 0; i < 2; i++)
		make_run(&runs[i], rng, n_windows[i], &trees[i]);
	assert_int_equal(vprof_paired_tree_build(&pair, &trees[0], &trees[1], NULL), 0);
	vprof_latency_units_seconds(&units, &pair);
	assert_int_equal(vprof_latency_rank(&ranking, &pair, &units, 100, NULL), 0);
	for (size_t i = 0; i < ranking.paths.n; i++)
		if (ranking.paths.v[i].verdict == VPROF_LATENCY_CHANGED) {
			const struct vprof_latency_function *f =
				pair.functions.v[pair.nodes.v[ranking.paths.v[i].node].function];

			for (int k = 0; k < N_FUNCTIONS; k++)
				per_alarm[k] += !strcmp(f->name, functions[k].name);
			is = 1;
		}
	vprof_latency_ranking_release(&ranking);
	vprof_paired_tree_release(&pair);
	for (int i = 0; i < 2; i++) {
		vprof_annotated_tree_release(&trees[i]);
		vprof_latency_history_release(&runs[i].history);
	}
	return is;
}

/* At most as many alarms as one comparison in a hundred gives, but for the test's error. Windows of base and new:
 * between least and most; none: 0. */
static void expect_few(unsigned long seed, const int least[2], const int most[2])
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double per_alarm[N_FUNCTIONS] = { 0 };
	unsigned int n = 0;

	gsl_rng_set(rng, seed);
	for (int i = 0; i < N_PAIRS; i++) {
		const int n_windows[2] = { least[0] + i % (most[0] - least[0] + 1),
					   least[1] + i % (most[1] - least[1] + 1) };

		n += (unsigned int)is_alarm(rng, n_windows, per_alarm);
	}
	gsl_rng_free(rng);
	for (int k = 0; k < N_FUNCTIONS; k++)
		if (per_alarm[k] > 0)
			print_message("%s: %g\n", functions[k].name, per_alarm[k]);
	print_message("%u alarms in %d comparisons\n", n, N_PAIRS);
	assert_true(!n || gsl_cdf_binomial_Q(n - 1, ALARM_CHANCE, N_PAIRS) >= TEST_ERROR);
}

static void test_all_recorded(void **state)
{
	(void)state;
	expect_few(16, (const int[2]){ 0, 0 }, (const int[2]){ 0, 0 });
}

static void test_windows(void **state)
{
	(void)state;
	expect_few(17, (const int[2]){ 6, 6 }, (const int[2]){ 60, 60 });
}

/* Of a run in three windows the two parts may be alike by chance: that makes its error no smaller. */
static void test_few_windows(void **state)
{
	(void)state;
	expect_few(18, (const int[2]){ 35, 3 }, (const int[2]){ 35, 5 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_recorded),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_few_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
