/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranking of paths, by hand: what a run costs, and what another one costs more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/latency/path_ranking.h"
#include "latency_text.h"

/* main serves requests; in the bad run a lookup takes long, and a new function is called */
static const char good[] = "recording 0 100\nthread main 0 100\n"
			   "event 0 main:1 serve:1 lookup:1\nevent 10 main:1 serve:1 lookup:1 ; held\n"
			   "event 10 main:1 serve:2 send:1\nevent 40 main:1 serve:2 send:1 ; held\n"
			   "event 40 main:2 log:1\nevent 100 main:2 log:1 ; held\n";
static const char bad[] = "recording 0 200\nthread main 0 200\n"
			  "event 0 main:1 serve:1 lookup:1\nevent 80 main:1 serve:1 lookup:1 ; held\n"
			  "event 80 main:1 serve:2 send:1\nevent 110 main:1 serve:2 send:1 ; held\n"
			  "event 110 main:1 serve:3 retry:1\nevent 130 main:1 serve:3 retry:1 ; held\n"
			  "event 130 main:2 log:1\nevent 200 main:2 log:1 ; held\n";

struct runs {
	struct latency_text text[2];
	struct vprof_annotated_tree tree[2];
	struct vprof_paired_tree pair;
	struct vprof_latency_ranking ranking;
};

static void rank(struct runs *r, const char *base, const char *new, double base_units, double new_units)
{
	const double scale[2] = { 1 / base_units, 1 / new_units };
	const char *texts[2] = { base, new };

	for (int i = 0; i < 2; i++)
		if (texts[i]) {
			latency_text_read(&r->text[i], texts[i]);
			assert_int_equal(vprof_annotated_tree_build(&r->tree[i], &r->text[i].history, 1, NULL), 0);
		}
	assert_int_equal(vprof_paired_tree_build(&r->pair, base ? &r->tree[0] : NULL, &r->tree[1], NULL), 0);
	assert_int_equal(vprof_latency_rank(&r->ranking, &r->pair, scale, 100, NULL), 0);
}

static void release(struct runs *r)
{
	vprof_latency_ranking_release(&r->ranking);
	vprof_paired_tree_release(&r->pair);
	for (int i = 0; i < 2; i++) {
		vprof_annotated_tree_release(&r->tree[i]);
		latency_text_release(&r->text[i]);
	}
}

static const char *end_of(const struct runs *r, size_t path)
{
	return r->pair.functions.v[r->pair.nodes.v[r->ranking.paths.v[path].node].function]->name;
}

/* A stretch that leads from one context of a path to another one is the path's, once. */
static void test_stretches_count_once(void **state)
{
	static const char base[] = "recording 0 50\nthread main 0 50\nevent 0 main:1\nevent 50 main:1 ; held\n";
	static const char new[] =
		"recording 0 100\nthread main 0 100\nevent 0 main:1 serve:1\n"
		"event 30 main:1 serve:1 lookup:1\nevent 60 main:1 serve:2\nevent 100 main:1 ; held\n";
	struct runs r = { 0 };
	const struct vprof_ranked_path *p;

	(void)state;
	rank(&r, base, new, 1, 1);
	p = &r.ranking.paths.v[0];
	/* main had all 50 of base; all 100 of new are of main, serve or lookup. */
	assert_true(p->low == 50 && p->high == 50);
	release(&r);
}

/* What became faster beneath a function does not hide that the function became slower. */
static void test_faster_beneath(void **state)
{
	static const char base[] = "recording 0 100\nthread main 0 100\n"
				   "event 0 main:1 serve:1\nevent 10 main:1 serve:1 ; held\n"
				   "event 10 main:1 serve:1 lookup:1\nevent 100 main:1 serve:1 lookup:1 ; held\n";
	static const char new[] = "recording 0 100\nthread main 0 100\n"
				  "event 0 main:1 serve:1\nevent 60 main:1 serve:1 ; held\n"
				  "event 60 main:1 serve:1 lookup:1\nevent 100 main:1 serve:1 lookup:1 ; held\n";
	const struct vprof_ranked_path *p;
	struct runs r = { 0 };

	(void)state;
	rank(&r, base, new, 1, 1);
	p = &r.ranking.paths.v[0];
	assert_string_equal(end_of(&r, 0), "serve");
	assert_true(p->cost == 50 && p->low == 50 && p->high == 50);
	assert_int_equal(p->verdict, VPROF_LATENCY_CHANGED);
	release(&r);
}

/* Each event is in another function that scan calls: how long each was is not known, how long scan was is. */
static void test_whole_context(void **state)
{
	static const char base[] = "recording 0 1000\nthread main 0 1000\n"
				   "event 0 main:1 wait:1\nevent 900 main:1 wait:1 ; held\n"
				   "event 900 main:2 scan:1 hash:1\nevent 905 main:2 scan:2 compare:1\n"
				   "event 910 main:1 wait:1\nevent 1000 main:1 wait:1 ; held\n";
	char new[4096] =
		"recording 0 1000\nthread main 0 1000\nevent 0 main:1 wait:1\nevent 100 main:1 wait:1 ; held\n";
	const struct vprof_ranked_path *p;
	struct runs r = { 0 };

	(void)state;
	for (int t = 110; t < 900; t += 20)
		snprintf(new + strlen(new), sizeof new - strlen(new),
			 "event %d main:2 scan:1 hash:1\nevent %d main:2 scan:2 compare:1\n", t, t + 10);
	snprintf(new + strlen(new), sizeof new - strlen(new),
		 "event 900 main:1 wait:1\nevent 1000 main:1 wait:1 ; held\n");
	rank(&r, base, new, 1, 1);
	p = &r.ranking.paths.v[0];
	assert_int_equal(p->n_whole, 2);
	assert_string_equal(
		r.pair.functions.v[r.pair.nodes.v[r.ranking.nodes.v[p->first_node + 1].node].function]->name, "scan");
	assert_true(p->low == 790 - 10); /* from 110 to 900; at most from 900 to 910 */
	assert_int_equal(p->verdict, VPROF_LATENCY_CHANGED);
	release(&r);
}

static void test_one_run(void **state)
{
	struct runs r = { 0 };

	(void)state;
	rank(&r, NULL, good, 1, 1);
	assert_int_equal(r.ranking.paths.n, 3); /* nobody else has own time */
	assert_string_equal(end_of(&r, 0), "log");
	assert_string_equal(end_of(&r, 1), "send");
	assert_string_equal(end_of(&r, 2), "lookup");
	assert_true(r.ranking.paths.v[0].cost == 60 && r.ranking.paths.v[0].low == 60);
	assert_true(r.ranking.total[1] == 100);
	assert_int_equal(r.ranking.paths.v[0].n_nodes, 2);
	release(&r);
}

static void test_difference(void **state)
{
	const struct vprof_ranked_path *p;
	struct runs r = { 0 };

	(void)state;
	rank(&r, good, bad, 1, 1);
	p = r.ranking.paths.v;
	assert_int_equal(r.ranking.paths.n, 3); /* send takes as long as before */
	assert_string_equal(end_of(&r, 0), "lookup");
	assert_true(p[0].cost == 70 && p[0].low == 70 && p[0].high == 70);
	assert_int_equal(p[0].verdict, VPROF_LATENCY_CHANGED);
	assert_string_equal(end_of(&r, 1), "retry"); /* new: its own cost alone */
	assert_true(p[1].cost == 20);
	assert_string_equal(end_of(&r, 2), "log");
	assert_true(p[2].cost == 10);
	assert_int_equal(p[2].verdict, VPROF_LATENCY_VARIES);
	/* main, serve, lookup: the last one costs most */
	assert_int_equal(p[0].n_nodes, 3);
	assert_int_equal(r.ranking.nodes.v[p[0].first_node + 2].rank, 1);
	assert_int_equal(r.ranking.nodes.v[p[0].first_node].rank, 2);
	assert_int_equal(vprof_latency_p_min(&r.ranking, &r.pair, "lookup"), 1);
	assert_int_equal(vprof_latency_p_min(&r.ranking, &r.pair, "retry"), 2);
	assert_int_equal(vprof_latency_p_min(&r.ranking, &r.pair, "send"), 0);
	assert_int_equal(vprof_latency_f_min(&r.ranking, &r.pair, 0, "lookup"), 0);
	assert_int_equal(vprof_latency_f_min(&r.ranking, &r.pair, 0, "main"), 2);
	assert_true(vprof_latency_f_min(&r.ranking, &r.pair, 0, "retry") == SIZE_MAX);
	release(&r);
}

/* For each second: the bad run lasts twice as long. */
static void test_scaled(void **state)
{
	struct runs r = { 0 };

	(void)state;
	rank(&r, good, bad, 100, 200);
	assert_string_equal(end_of(&r, 0), "lookup");
	assert_true(r.ranking.paths.v[0].cost > 0.2999 && r.ranking.paths.v[0].cost < 0.3001);
	release(&r);
}

static void test_same_run(void **state)
{
	struct runs r = { 0 };

	(void)state;
	rank(&r, good, good, 1, 1);
	assert_int_equal(r.ranking.paths.n, 0);
	release(&r);
}

/* Events too far apart: the bounds do not tell whose time it is. */
static void test_unbounded(void **state)
{
	struct runs r = { 0 };

	(void)state;
	rank(&r, "recording 0 100\nthread main 0 100\nevent 0 main:1 f:1\nevent 50 main:2 g:1\nevent 100 main:1 f:1\n",
	     "recording 0 200\nthread main 0 200\nevent 0 main:1 f:1\nevent 50 main:2 g:1\nevent 200 main:1 f:1\n", 1,
	     1);
	assert_int_equal(r.ranking.paths.n, 1);
	assert_string_equal(end_of(&r, 0), "main");
	assert_true(r.ranking.paths.v[0].cost == 100);
	/* all that a run has, and no more: main and f, or main and g, may have had each gap */
	assert_true(r.ranking.paths.v[0].low == -100 && r.ranking.paths.v[0].high == 200);
	assert_int_equal(r.ranking.paths.v[0].verdict, VPROF_LATENCY_UNBOUNDED);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches_count_once),
		cmocka_unit_test(test_whole_context),
		cmocka_unit_test(test_faster_beneath),
		cmocka_unit_test(test_one_run),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_same_run),
		cmocka_unit_test(test_unbounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
