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
	struct vprof_latency_units units;
	struct vprof_latency_ranking ranking;
};

static int is_named(const struct vprof_paired_tree *t, uint32_t node, const char *name)
{
	return !strcmp(t->functions.v[t->nodes.v[node].function]->name, name);
}

/* The paper's p_min: the rank, from 1, of the first path on which a function of this name is; 0: it is on none. */
static size_t p_min(const struct vprof_latency_ranking *r, const struct vprof_paired_tree *t, const char *name)
{
	for (size_t i = 0; i < r->paths.n; i++)
		for (size_t k = 0; k < r->paths.v[i].n_nodes; k++)
			if (is_named(t, r->nodes.v[r->paths.v[i].first_node + k].node, name))
				return i + 1;
	return 0;
}

/* The paper's f_min: how many calls lie between the costliest context of a path and the nearest of this function on it;
 * SIZE_MAX: it is not on it. */
static size_t f_min(const struct vprof_latency_ranking *r, const struct vprof_paired_tree *t, size_t path,
		    const char *name)
{
	const struct vprof_ranked_path *p = &r->paths.v[path];
	const struct vprof_ranked_node *nodes = r->nodes.v + p->first_node;
	size_t costliest = 0, nearest = SIZE_MAX;

	for (size_t i = 0; i < p->n_nodes; i++)
		costliest = nodes[i].rank == 1 ? i : costliest;
	for (size_t i = 0; i < p->n_nodes; i++) {
		size_t distance = i > costliest ? i - costliest : costliest - i;

		if (is_named(t, nodes[i].node, name) && distance < nearest)
			nearest = distance;
	}
	return nearest;
}

static int has_three_windows; /* new: its last run's stacks are of three windows that have no time between them */

static int is_c_library; /* poll waits for work, but where resolve calls it: both are of one library */

static void place_functions(struct vprof_latency_history *h)
{
	for (size_t i = 0; i < h->functions.n; i++) {
		struct vprof_latency_function *f = &h->functions.v[i];

		if (!strcmp(f->name, "sys_poll"))
			f->is_idle = VPROF_LATENCY_IDLE_POLL;
		if (!strcmp(f->name, "poll") || !strcmp(f->name, "resolve")) {
			f->layer = VPROF_LATENCY_LIBRARY;
			f->file = "libc.so.6";
		}
	}
}

static void rank(struct runs *r, const char *base, const char *new, double base_units, double new_units)
{
	const char *texts[2] = { base, new };

	for (int i = 0; i < 2; i++)
		if (texts[i]) {
			latency_text_read(&r->text[i], texts[i]);
			if (is_c_library)
				place_functions(&r->text[i].history);
			for (uint64_t w = 0; w < 3 && i && has_three_windows; w++)
				*VPROF_PUSH(&r->text[i].history.windows) =
					(struct vprof_latency_window){ w * 500, w < 2 ? w * 500 + 500 : 1599, w * 500 };
			assert_int_equal(vprof_annotated_tree_build(&r->tree[i], &r->text[i].history, 1, NULL), 0);
		}
	assert_int_equal(vprof_paired_tree_build(&r->pair, base ? &r->tree[0] : NULL, &r->tree[1], NULL), 0);
	vprof_latency_units_even(&r->units, &r->pair, base_units, new_units);
	assert_int_equal(vprof_latency_rank(&r->ranking, &r->pair, &r->units, 100, NULL), 0);
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

/* A stretch that leads from one context to another one within serve is serve's, once. */
static void test_stretches_count_once(void **state)
{
	static const char base[] = "recording 0 50\nthread main 0 50\nevent 0 main:1\nevent 50 main:1 ; held\n";
	static const char new[] =
		"recording 0 100\nthread main 0 100\nevent 0 main:1 serve:1 | sys_a:1 ; new\n"
		"event 30 main:1 serve:1 lookup:1 | sys_b:1 ; new\nevent 60 main:1 serve:2 | sys_a:1 ; new\nevent 100 main:1 ; held\n";
	struct runs r = { 0 };
	const struct vprof_ranked_path *p;

	(void)state;
	rank(&r, base, new, 1, 1);
	p = &r.ranking.paths.v[0];
	/* serve is new; it was there from 0 to 60, and perhaps until main was seen without it. */
	assert_string_equal(end_of(&r, 0), "serve");
	assert_true(p->n_whole == 2 && p->cost == 60 && p->low == 60 && p->high == 100);
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
	assert_int_equal(p_min(&r.ranking, &r.pair, "lookup"), 1);
	assert_int_equal(p_min(&r.ranking, &r.pair, "retry"), 2);
	assert_int_equal(p_min(&r.ranking, &r.pair, "send"), 0);
	assert_int_equal(f_min(&r.ranking, &r.pair, 0, "lookup"), 0);
	assert_int_equal(f_min(&r.ranking, &r.pair, 0, "main"), 2);
	assert_true(f_min(&r.ranking, &r.pair, 0, "retry") == SIZE_MAX);
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
	rank(&r,
	     "recording 0 100\nthread main 0 100\nevent 0 main:1 f:1 | sys_a:1 ; new\nevent 50 main:2 g:1 | sys_b:1 ; new\nevent 100 main:1 f:1 | sys_a:1 ; new\n",
	     "recording 0 100\nthread main 0 100\nevent 0 main:1 f:1 | sys_a:1 ; new\nevent 30 main:1 f:1 | sys_a:1 ; held\nevent 60 main:2 g:1 | sys_b:1 ; new\n"
	     "event 100 main:1 f:1 | sys_a:1 ; new\n",
	     1, 1);
	assert_int_equal(r.ranking.paths.n, 1);
	assert_string_equal(end_of(&r, 0), "sys_a");
	assert_true(r.ranking.paths.v[0].cost == 30);
	/* it has 30 of new at least, and may have had all of base */
	assert_true(r.ranking.paths.v[0].low == -70 && r.ranking.paths.v[0].high == 100);
	assert_int_equal(r.ranking.paths.v[0].verdict, VPROF_LATENCY_UNBOUNDED);
	release(&r);
}

/* ... but that all of it together takes longer is known, and nobody beneath is named. */
static void test_known_together(void **state)
{
	struct runs r = { 0 };

	(void)state;
	rank(&r,
	     "recording 0 100\nthread main 0 100\nevent 0 main:1 f:1 | sys_a:1 ; new\nevent 50 main:2 g:1 | sys_b:1 ; new\nevent 100 main:1 f:1 | sys_a:1 ; new\n",
	     "recording 0 200\nthread main 0 200\nevent 0 main:1 f:1 | sys_a:1 ; new\nevent 50 main:2 g:1 | sys_b:1 ; new\nevent 200 main:1 f:1 | sys_a:1 ; new\n",
	     1, 1);
	assert_int_equal(r.ranking.paths.n, 1);
	assert_string_equal(end_of(&r, 0), "main");
	assert_true(!r.ranking.paths.v[0].is_own && r.ranking.paths.v[0].n_whole == 1);
	assert_true(r.ranking.paths.v[0].low == 100 && r.ranking.paths.v[0].high == 100);
	release(&r);
}

/* Between two system calls in parse, one of them in each of its callees, it is parse that is known; the timer tells in
 * which of them the time passes. Sampled: in one request of five. */
static char *write_sampled(char *text, size_t size, int parse)
{
	size_t n = (size_t)snprintf(text, size, "recording 0 6400\nthread main 0 6400\n");

	for (int t = 0, i = 0; t < 6400; t += 100, i++) {
		n += (size_t)snprintf(
			text + n, size - n,
			"event %d main:1 | sys_recvfrom:1 ; new\nevent %d main:1 | sys_recvfrom:1 ; held\n", t, t + 10);
		if (i % 5 == 0)
			n += (size_t)snprintf(text + n, size - n, "event %d main:2 parse:1 match:1\n",
					      t + 10 + parse / 2);
		n += (size_t)snprintf(text + n, size - n,
				      "event %d main:3 | sys_sendto:1 ; new\nevent %d main:3 | sys_sendto:1 ; held\n",
				      t + 10 + parse, t + 99);
	}
	assert_true(n < size);
	return text;
}

static void test_sampled(void **state)
{
	char base[16384], new[16384];
	struct runs r = { 0 };

	(void)state;
	rank(&r, write_sampled(base, sizeof base, 10), write_sampled(new, sizeof new, 60), 1, 1);
	assert_string_equal(end_of(&r, 0), "match");
	assert_true(r.ranking.paths.v[0].cost > 3190 && r.ranking.paths.v[0].cost < 3210); /* 64 times 50 */
	/* the bounds are those of main, in which it is known that it is */
	assert_true(r.ranking.paths.v[0].low <= 0 || r.ranking.paths.v[0].n_whole < r.ranking.paths.v[0].n_nodes);
	release(&r);
}

/* A cause in many small functions: the one that calls them, before a larger one of these elsewhere that is less than
 * all of them together. */
static void test_many_small(void **state)
{
	char base[16384], new[16384];
	struct runs r = { 0 };

	(void)state;
	for (int is_new = 0; is_new < 2; is_new++) {
		char *text = is_new ? new : base;
		size_t n = (size_t)snprintf(text, sizeof base, "recording 0 3200\nthread main 0 3200\n");

		for (int t = 0; t < 3200; t += 100) {
			int at = t;

			n += (size_t)snprintf(text + n, sizeof base - n,
					      "event %d main:1 send:1\nevent %d main:1 send:1 ; held\n", at,
					      at + (is_new ? 30 : 20));
			at += is_new ? 30 : 20;
			for (int k = 0; k < 5; k++, at += is_new ? 8 : 2)
				n += (size_t)snprintf(text + n, sizeof base - n,
						      "event %d main:2 match:%d part%d:1\n"
						      "event %d main:2 match:%d part%d:1 ; held\n",
						      at, k, k, at + (is_new ? 8 : 2), k, k);
			n += (size_t)snprintf(text + n, sizeof base - n,
					      "event %d main:3 rest:1\nevent %d main:3 rest:1 ; held\n", at, t + 100);
		}
	}
	rank(&r, base, new, 1, 1);
	assert_string_equal(end_of(&r, 0), "match");
	assert_true(r.ranking.paths.v[0].cost == 32 * 30);
	assert_int_equal(r.ranking.paths.v[0].n_parts, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(r.ranking.parts.v[r.ranking.paths.v[0].first_part + i].cost == 32 * 6);
	assert_int_equal(r.ranking.paths.v[0].verdict, VPROF_LATENCY_CHANGED);
	assert_string_equal(end_of(&r, 1), "send");
	assert_true(r.ranking.paths.v[1].cost == 32 * 10);
	assert_int_equal(p_min(&r.ranking, &r.pair, "match"), 1);
	assert_int_equal(r.ranking.paths.n, 2); /* each part is told of with match */
	release(&r);
}

/* The rank of the first path on which a function is that is called changed; 0: none. */
static size_t changed(const struct runs *r, const char *name)
{
	for (size_t i = 0; i < r->ranking.paths.n; i++) {
		const struct vprof_ranked_path *p = &r->ranking.paths.v[i];
		size_t n = p->n_whole ? p->n_whole : p->n_nodes;

		for (size_t k = 0; k < n && p->verdict == VPROF_LATENCY_CHANGED; k++)
			if (!strcmp(r->pair.functions
					    .v[r->pair.nodes.v[r->ranking.nodes.v[p->first_node + k].node].function]
					    ->name,
				    name))
				return i + 1;
	}
	return 0;
}

/* A server of one second, 20 turns: until there is a request a worker sleeps in take > wait, an event loop in a
 * function that waits for work; a request waits for a lock and computes. Times in ms of each turn. */
static char *write_server(char *text, size_t size, int wait, int lock, int compute)
{
	size_t n = (size_t)snprintf(text, size, "recording 0 1000\nidle poll\n");

	for (int thread = 0; thread < 2; thread++) {
		const char *between = thread ? "loop:1 poll:1" : "work:1 take:1 wait:1";
		const char *request = thread ? "loop:2 serve" : "work:2 serve";

		n += (size_t)snprintf(text + n, size - n, "thread t%d 0 1000\n", thread);
		for (int t = 0; t < 1000; t += 50)
			n += (size_t)snprintf(text + n, size - n,
					      "event %d %s\nevent %d %s ; held off\n"
					      "event %d %s:1 lock:1\nevent %d %s:1 lock:1 ; held off\n"
					      "event %d %s:2 compute:1\nevent %d %s:2 compute:1 ; held\n",
					      t, between, t + wait, between, t + wait, request, t + wait + lock,
					      request, t + wait + lock, request, t + wait + lock + compute, request);
	}
	assert_true(n < size);
	return text;
}

/* The load rises or falls: workers sleep for 85 % of their lives under the one, for 50 % under the other. */
static void test_idle_varies_with_load(void **state)
{
	static const int waits[][2] = { { 42, 25 }, { 25, 42 }, { 45, 10 }, { 10, 45 } };
	char base[16384], new[16384];

	(void)state;
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		struct runs r = { 0 };

		rank(&r, write_server(base, sizeof base, waits[i][0], 2, 48 - waits[i][0]),
		     write_server(new, sizeof new, waits[i][1], 2, 48 - waits[i][1]), 1, 1);
		assert_int_equal(changed(&r, "wait"), 0);
		assert_int_equal(changed(&r, "take"), 0);
		assert_int_equal(changed(&r, "poll"), 0);
		assert_int_equal(p_min(&r.ranking, &r.pair, "poll"), 0);
		assert_int_equal(p_min(&r.ranking, &r.pair, "wait"), 0);
		assert_int_equal(changed(&r, "compute"), waits[i][1] < waits[i][0]);
		release(&r);
	}
}

/* The same, but requests wait for the lock: that is a cause, though the threads sleep there, too. */
static void test_wait_in_request(void **state)
{
	char base[16384], new[16384];
	struct runs r = { 0 };

	(void)state;
	rank(&r, write_server(base, sizeof base, 40, 2, 8), write_server(new, sizeof new, 10, 32, 8), 1, 1);
	assert_int_equal(changed(&r, "lock"), 1);
	assert_int_equal(changed(&r, "wait"), 0);
	assert_int_equal(changed(&r, "poll"), 0);
	release(&r);
}

/* A thread of a pool: waits for work in take, serves, writes, and waits for an answer in the same way. */
static char *write_pool(char *text, size_t size, int wait, int answer)
{
	size_t n = (size_t)snprintf(text, size, "recording 0 1000\ncondition cond\nthread t 0 1000\n");

	for (int t = 0; t < 1000; t += 50)
		n += (size_t)snprintf(text + n, size - n,
				      "event %d work:1 take:1 cond:1 | sys_futex:1 ; new\n"
				      "event %d work:1 take:1 cond:1 | sys_futex:1 ; held off\n"
				      "event %d work:2 serve:1 | sys_write:1 ; new\n"
				      "event %d work:2 serve:2 cond:1 | sys_futex:1 ; new\n"
				      "event %d work:2 serve:2 cond:1 | sys_futex:1 ; held off\n",
				      t, t + wait, t + wait, t + wait + 1, t + wait + 1 + answer);
	assert_true(n < size);
	return text;
}

/* However little of its life a thread of a pool waits for work, that is idle; what it waits for in a request is not. */
static void test_pool(void **state)
{
	char base[16384], new[16384];
	struct runs r = { 0 };

	(void)state;
	rank(&r, write_pool(base, sizeof base, 10, 30), write_pool(new, sizeof new, 30, 15), 1, 1);
	assert_int_equal(r.ranking.paths.n, 0);
	release(&r);
	memset(&r, 0, sizeof r);
	rank(&r, write_pool(base, sizeof base, 30, 10), write_pool(new, sizeof new, 15, 30), 1, 1);
	assert_string_equal(end_of(&r, 0), "sys_futex");
	assert_int_equal(changed(&r, "serve"), 1);
	assert_int_equal(changed(&r, "take"), 0);
	release(&r);
}

/* The C library polls for a function of its own: a request waits for the resolver. */
static void test_resolver(void **state)
{
	static const char base[] =
		"recording 0 1000\nthread a 0 1000\n"
		"event 0 main:1 poll:1 | sys_poll:1 ; new\nevent 900 main:1 poll:1 | sys_poll:1 ; held off\n"
		"event 900 main:2 lookup:1 resolve:1 poll:1 | sys_poll:1 ; new\n"
		"event 1000 main:2 lookup:1 resolve:1 poll:1 | sys_poll:1 ; held off\n";
	static const char new[] =
		"recording 0 1000\nthread a 0 1000\n"
		"event 0 main:1 poll:1 | sys_poll:1 ; new\nevent 500 main:1 poll:1 | sys_poll:1 ; held off\n"
		"event 500 main:2 lookup:1 resolve:1 poll:1 | sys_poll:1 ; new\n"
		"event 1000 main:2 lookup:1 resolve:1 poll:1 | sys_poll:1 ; held off\n";
	struct runs r = { 0 };

	(void)state;
	is_c_library = 1;
	rank(&r, base, new, 1, 1);
	is_c_library = 0;
	assert_int_equal(r.ranking.paths.n, 1);
	assert_int_equal(p_min(&r.ranking, &r.pair, "resolve"), 1);
	assert_true(r.ranking.paths.v[0].cost == 400 && r.ranking.total[0] == 100);
	release(&r);
}

/* A thread that sleeps between events that are hours apart for it; of one sleep the switch back in is missing. What it
 * did in that time is not known, so it is no cost, and nothing is settled by it. */
static void test_missing_switch(void **state)
{
	static const char base[] = "recording 0 1000\nidle poll\nthread server 0 1000\n"
				   "event 0 main:1 serve:1\nevent 1000 main:1 serve:1 ; held\n"
				   "thread writer 0 1000\nevent 0 main:2 poll:1\nevent 500 main:2 poll:1 ; held off\n"
				   "event 500 main:2 poll:1 ; new\nevent 1000 main:2 poll:1 ; held off\n";
	static const char new[] = "recording 0 1000\nidle poll\nthread server 0 1000\n"
				  "event 0 main:1 serve:1\nevent 1000 main:1 serve:1 ; held\n"
				  "thread writer 0 1000\nevent 0 main:2 poll:1\nevent 500 main:2 poll:1 ; held off\n"
				  "event 500 main:2 poll:1 ; new\nevent 1000 main:2 poll:1 ; held unpaired\n";
	struct runs r = { 0 };

	(void)state;
	rank(&r, base, new, 1, 1);
	assert_int_equal(p_min(&r.ranking, &r.pair, "poll"), 0);
	assert_true(r.ranking.total[0] == 1000 && r.ranking.total[1] == 1000);
	release(&r);
	/* ... but it may have been one: with 20 in poll besides, the 500 are in the upper bound alone */
	memset(&r, 0, sizeof r);
	rank(&r, base,
	     "recording 0 1000\nidle poll\nthread server 0 1000\n"
	     "event 0 main:1 serve:1\nevent 1000 main:1 serve:1 ; held\n"
	     "thread writer 0 1000\nevent 0 main:2 poll:1\nevent 20 main:2 poll:1 ; held\n"
	     "event 500 main:2 poll:1 ; held off\nevent 500 main:2 poll:1 ; new\nevent 1000 main:2 poll:1 ; held unpaired\n",
	     1, 1);
	assert_int_equal(p_min(&r.ranking, &r.pair, "poll"), 1);
	assert_true(r.ranking.paths.v[0].cost == 20);
	assert_true(r.ranking.paths.v[0].low == 20 && r.ranking.paths.v[0].high == 520);
	release(&r);
}

/* Busy time in a place where threads mostly sleep is where it was: one stretch in one run varies by as much as it is.
 */
static void test_error_of_busy_time(void **state)
{
	char base[8192], new[8192];
	struct runs r = { 0 };
	size_t n[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *text = i ? new : base;

		n[i] = (size_t)snprintf(text, sizeof base,
					"recording 0 1600\nidle poll\nthread a 0 1600\nevent 0 main:1 serve:1\n"
					"event 1600 main:1 serve:1 ; held\nthread b 0 1600\nevent 0 main:2 poll:1\n");
		for (int t = 100; t <= 1600; t += 100)
			n[i] += (size_t)snprintf(text + n[i], sizeof base - n[i], "event %d main:2 poll:1 ; held%s\n",
						 t, i && t == 800 ? "" : " off");
	}
	rank(&r, base, new, 1, 1);
	assert_int_equal(p_min(&r.ranking, &r.pair, "poll"), 1);
	assert_true(r.ranking.paths.v[0].cost == 100);
	assert_true(r.ranking.paths.v[0].error > 90);
	assert_int_equal(r.ranking.paths.v[0].verdict, VPROF_LATENCY_VARIES);
	release(&r);
}

/* A run in three windows has two parts, and these are alike: their variance says next to nothing. */
static void test_two_parts_alike(void **state)
{
	char base[8192], new[8192];

	(void)state;
	for (int is_new = 0; is_new < 2; is_new++) {
		char *text = is_new ? new : base;
		size_t n = (size_t)snprintf(text, sizeof base, "recording 0 1599\nthread main 0 1599\n");

		for (int t = 0; t < 1600; t += 100) {
			int f = t + (is_new ? 50 : t % 200 ? 40 : 44);

			n += (size_t)snprintf(text + n, sizeof base - n,
					      "event %d main:1 f:1\nevent %d main:1 f:1 ; held\n"
					      "event %d main:2 g:1\nevent %d main:2 g:1 ; held\n",
					      t, f, f, t < 1500 ? t + 100 : 1599);
		}
	}
	for (int is_few = 0; is_few < 2; is_few++) {
		struct runs r = { 0 };

		has_three_windows = is_few;
		rank(&r, base, new, 1, 1);
		has_three_windows = 0;
		assert_string_equal(end_of(&r, 0), "f");
		assert_int_equal(r.ranking.paths.v[0].verdict, is_few ? VPROF_LATENCY_VARIES : VPROF_LATENCY_CHANGED);
		release(&r);
	}
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
		cmocka_unit_test(test_known_together),
		cmocka_unit_test(test_many_small),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_idle_varies_with_load),
		cmocka_unit_test(test_wait_in_request),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_resolver),
		cmocka_unit_test(test_missing_switch),
		cmocka_unit_test(test_error_of_busy_time),
		cmocka_unit_test(test_two_parts_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
