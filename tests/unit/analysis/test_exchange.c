/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An analysis by several ranks, here threads with a transport of their own: the results are those of one, bit for bit,
 * for any number of ranks and traces of different clocks; when one rank fails, all fail, with its message. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/results/results_json.h"
#include "common/files.h"
#include "tests/unit/analysis/hand_trace.h"

#define RANKS_MAX 70

/* of all ranks */
struct meeting {
	pthread_barrier_t barrier;
	int n_ranks;
	const void *given[RANKS_MAX];
};

static int all_gather(struct vprof_transport *t, const void *mine, size_t n_bytes, void *all)
{
	struct meeting *m = t->arg;

	m->given[t->rank] = mine;
	pthread_barrier_wait(&m->barrier);
	for (int i = 0; i < m->n_ranks; i++)
		memcpy((char *)all + (size_t)i * n_bytes, m->given[i], n_bytes);
	pthread_barrier_wait(&m->barrier);
	return 0;
}

static int broadcast(struct vprof_transport *t, void *bytes, size_t n_bytes, int from)
{
	struct meeting *m = t->arg;

	m->given[t->rank] = bytes;
	pthread_barrier_wait(&m->barrier);
	if (t->rank != from)
		memcpy(bytes, m->given[from], n_bytes);
	pthread_barrier_wait(&m->barrier);
	return 0;
}

struct rank {
	struct vprof_transport transport;
	struct vprof_exchange exchange;
	struct vprof_analyze_options options;
	struct vprof_results *results;
	struct vprof_error err;
	int ret;
};

static void *analyze(void *arg)
{
	struct rank *r = arg;

	r->options.exchange = &r->exchange;
	r->ret = vprof_analyze(&r->results, &r->options, &r->err);
	return NULL;
}

/* All ranks with these options; rank `other` (none: -1) with other traces, or without those with another k. */
static struct rank *meet(int n_ranks, const struct vprof_analyze_options *o, int other, const char *const *other_dirs)
{
	struct rank *ranks = calloc((size_t)n_ranks, sizeof *ranks);
	struct meeting m = { .n_ranks = n_ranks };
	pthread_t threads[RANKS_MAX];

	assert_non_null(ranks);
	assert_int_equal(pthread_barrier_init(&m.barrier, NULL, (unsigned)n_ranks), 0);
	for (int i = 0; i < n_ranks; i++) {
		ranks[i].transport = (struct vprof_transport){ i, n_ranks, all_gather, broadcast, &m };
		ranks[i].exchange.transport = &ranks[i].transport;
		ranks[i].options = *o;
		ranks[i].options.n_threads = 1 + i % 2;
		if (i == other && other_dirs)
			ranks[i].options.trace_dirs = other_dirs;
		else if (i == other)
			ranks[i].options.k = 7;
		assert_int_equal(pthread_create(&threads[i], NULL, analyze, &ranks[i]), 0);
	}
	for (int i = 0; i < n_ranks; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&m.barrier);
	return ranks;
}

static void release(struct rank *ranks, int n_ranks)
{
	for (int i = 0; i < n_ranks; i++)
		vprof_results_free(ranks[i].results);
	free(ranks);
}

static char *text_of(const struct vprof_results *r)
{
	cJSON *o = vprof_results_json(r);
	char *text = o ? cJSON_Print(o) : NULL;

	assert_non_null(text);
	cJSON_Delete(o);
	return text;
}

/* n requests of two threads, with types, work, calls and waits for one another. */
static void fill(struct hand_trace *h, int n, uint64_t seed)
{
	struct hand_thread *a, *b;
	uint64_t t = 1000;

	hand_init(h);
	a = hand_thread(h, 1);
	b = hand_thread(h, 1);
	for (int i = 1; i <= n; i++) {
		uint64_t parse = 10 + hand_random(&seed) % 90, wait = hand_random(&seed) % 400,
			 amount = hand_random(&seed) % 7;

		hand_mark(a, VP_KIND_BEGIN, (uint64_t)i, t);
		hand_type(a, i % 3 ? "get" : "set", t + 1);
		hand_work(a, "rows", (int64_t)amount, t + 2);
		hand_call(a, F(2), t + 5, t + 5 + parse);
		if (i % 2) {
			hand_call(b, F(3), t + 5 + parse, t + 10 + parse + wait);
			hand_wake(b, VP_WAIT_MUTEX, 0, 0x77, (uint32_t)i - 1, (uint32_t)i, t + 10 + parse + wait);
			hand_wait(a, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, 0x77, (uint32_t)i, t + 6 + parse,
				  t + 11 + parse + wait);
		}
		hand_call(a, F(4), t + 12 + parse + wait, t + 13 + parse + wait + 20 * amount);
		hand_call(a, F(1), t + 3, t + 20 + parse + wait + 20 * amount);
		hand_mark(a, VP_KIND_END, (uint64_t)i, t + 25 + parse + wait + 20 * amount);
		t += 1000;
	}
	hand_write(h);
}

/* The same clock ticks at another rate: that of the header alone. */
static void change_clock(const struct hand_trace *h, double ns_per_tick)
{
	char *path = vprof_path_join(h->dir, "records.vpt");
	FILE *f = fopen(path, "r+");
	struct vp_file_header header;

	assert_non_null(f);
	assert_int_equal(fread(&header, sizeof header, 1, f), 1);
	header.ns_per_tick = ns_per_tick;
	rewind(f);
	assert_int_equal(fwrite(&header, sizeof header, 1, f), 1);
	assert_int_equal(fclose(f), 0);
	free(path);
}

static void check_equal(const struct vprof_analyze_options *o)
{
	static const int counts[] = { 1, 2, 3, 5, 64, RANKS_MAX };
	struct vprof_results *alone;
	struct vprof_error err = { "" };
	char *wanted;

	if (vprof_analyze(&alone, o, &err))
		fail_msg("%s", err.message);
	wanted = text_of(alone);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct rank *ranks = meet(counts[i], o, -1, NULL);
		char *found;

		if (ranks[0].ret)
			fail_msg("%d ranks: %s", counts[i], ranks[0].err.message);
		found = text_of(ranks[0].results);
		assert_string_equal(found, wanted);
		for (int k = 1; k < counts[i]; k++)
			assert_int_equal(ranks[k].ret, 0);
		cJSON_free(found);
		release(ranks, counts[i]);
	}
	cJSON_free(wanted);
	vprof_results_free(alone);
}

static void test_equal(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct hand_trace traces[3];
	const char *dirs[3];

	(void)state;
	fill(&traces[0], 700, 1);
	fill(&traces[1], 30, 2);
	fill(&traces[2], 3, 3);
	change_clock(&traces[1], 0.7);
	for (int i = 0; i < 3; i++)
		dirs[i] = traces[i].dir;
	for (size_t n = 1; n <= 3; n++)
		check_equal(&(struct vprof_analyze_options){ .trace_dirs = dirs, .n_trace_dirs = n, .plan = plan });
	check_equal(&(struct vprof_analyze_options){
		.trace_dirs = dirs + 2, .n_trace_dirs = 1, .plan = plan, .min_intervals = 2 });
	check_equal(&(struct vprof_analyze_options){
		.trace_dirs = dirs, .n_trace_dirs = 1, .plan = plan, .interval = "none" });
	for (int i = 0; i < 3; i++)
		hand_release(&traces[i]);
	vprof_plan_free(plan);
}

/* Two traces are as one: intervals, means and records of both. */
static void test_sum(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct hand_trace a, b;
	struct vprof_results *r[3];
	struct vprof_error err = { "" };
	double mean;

	(void)state;
	fill(&a, 400, 4);
	fill(&b, 100, 5);
	change_clock(&b, 2.5);
	for (int i = 0; i < 3; i++) {
		const char *dirs[] = { i == 1 ? b.dir : a.dir, b.dir };

		assert_int_equal(vprof_analyze(&r[i],
					       &(struct vprof_analyze_options){ .trace_dirs = dirs,
										.n_trace_dirs = i == 2 ? 2 : 1,
										.plan = plan },
					       &err),
				 0);
	}
	mean = (400 * r[0]->mean_ns + 100 * r[1]->mean_ns) / 500;
	assert_int_equal(r[2]->n_complete, 500);
	assert_int_equal(r[2]->n_records, r[0]->n_records + r[1]->n_records);
	assert_int_equal(r[2]->n_waits_matched, r[0]->n_waits_matched + r[1]->n_waits_matched);
	assert_true(r[2]->mean_ns > mean * (1 - 1e-12) && r[2]->mean_ns < mean * (1 + 1e-12));
	assert_true(r[2]->nodes[0].mean_ns > mean * (1 - 1e-3) && r[2]->nodes[0].mean_ns < mean * (1 + 1e-3));
	for (int i = 0; i < 3; i++)
		vprof_results_free(r[i]);
	hand_release(&a);
	hand_release(&b);
	vprof_plan_free(plan);
}

static void expect_failure(int n_ranks, const struct vprof_analyze_options *o, int other, const char *const *other_dirs,
			   const char *text)
{
	struct rank *ranks = meet(n_ranks, o, other, other_dirs);

	for (int i = 0; i < n_ranks; i++) {
		assert_int_not_equal(ranks[i].ret, 0);
		assert_null(ranks[i].results);
		if (!strstr(ranks[i].err.message, text))
			fail_msg("rank %d: \"%s\" instead of \"%s\"", i, ranks[i].err.message, text);
	}
	release(ranks, n_ranks);
}

static void test_failures(void **state)
{
	struct vprof_plan *plan = hand_plan(4);
	struct hand_trace a, b;
	const char *dirs[1], *gone[] = { "/nowhere" }, *others[1];
	struct vprof_analyze_options o = { .trace_dirs = dirs, .n_trace_dirs = 1, .plan = plan };

	(void)state;
	fill(&a, 50, 6);
	fill(&b, 50, 7);
	dirs[0] = a.dir;
	others[0] = b.dir;
	expect_failure(3, &o, 1, gone, "rank 1 of 3: cannot open the trace /nowhere");
	expect_failure(2, &o, 0, gone, "rank 0 of 2: cannot open the trace /nowhere");
	expect_failure(5, &o, 4, others, "reads different traces");
	expect_failure(3, &o, 2, NULL, "different options");
	hand_release(&a);
	hand_release(&b);
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
