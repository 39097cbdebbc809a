/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calls consist of: by hand, and random programs of which each call is known, seen at random times. The times and
 * variances of all contexts lie between their bounds, of those that no event shows, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "analysis/latency/call_sums.h"
#include "latency_text.h"

static struct latency_text text;
static struct vprof_call_sums sums;

static int release(void **state)
{
	(void)state;
	vprof_call_sums_release(&sums);
	latency_text_release(&text);
	return 0;
}

/* The only context of a function; NULL: there is none. */
static const struct vprof_call_context *context(const char *name)
{
	for (uint32_t x = 1; x < sums.tree.nodes.n; x++)
		if (!strcmp(text.history.functions.v[sums.tree.nodes.v[x].function].name, name))
			return &sums.contexts[x];
	return NULL;
}

static void build(const char *history)
{
	latency_text_read(&text, history);
	assert_int_equal(vprof_latency_history_check(&text.history, NULL), 0);
	assert_int_equal(vprof_call_sums_build(&sums, &text.history, NULL), 0);
}

static void expect(const char *name, double low, double high)
{
	const struct vprof_call_context *c = context(name);

	assert_non_null(c);
	assert_float_equal(c->low_ns, low, 1e-9);
	assert_float_equal(c->high_ns, high, 1e-9);
}

/* fdatasync from 0 to 100, asleep from 20 to 90: the sleep is certain, what surrounds it is not. */
static void test_sleep(void **state)
{
	(void)state;
	build("recording 0 200\n"
	      "thread main 0 100\n"
	      "event 0 fdatasync:9\n"
	      "event 10 fdatasync:1 | sys_fdatasync:0\n"
	      "event 20 fdatasync:1 | sys_fdatasync:0 sync_file:1 wait_commit:1 ; held\n"
	      "event 90 fdatasync:1 | sys_fdatasync:0 sync_file:1 wait_commit:1 ; held off disk\n"
	      "event 95 fdatasync:1 | sys_fdatasync:0 ; held\n"
	      "event 100 fdatasync:9\n");
	assert_int_equal(sums.n_calls, 1);
	expect("fdatasync", 100, 100);
	expect("sys_fdatasync", 85, 100);
	expect("sync_file", 70, 85);
	expect("wait_commit", 70, 85);
	assert_true(isnan(context("sync_file")->share_low));
	assert_float_equal(context("wait_commit")->own_low_ns, 70, 1e-9);
}

/* lookup is seen in the first call only: in the second it may have been there wherever the program ran, but not in the
 * system call, and not while the thread had no CPU. */
static void test_unseen(void **state)
{
	(void)state;
	build("recording 0 300\n"
	      "thread main 0 100\n"
	      "event 0 serve:9\n"
	      "event 30 serve:1 lookup:1\n"
	      "event 60 serve:1 lookup:1\n"
	      "event 100 serve:9\n"
	      "thread main 100 200\n"
	      "event 100 serve:9\n"
	      "event 110 serve:2 write:1 | sys_write:0\n"
	      "event 150 serve:2 write:1 | sys_write:0 ; held\n"
	      "event 200 serve:9\n");
	assert_int_equal(sums.n_calls, 2);
	expect("serve", 100, 100);
	expect("lookup", 15, (100 + 60) / 2.0);
	/* system calls are seen: none in the first call */
	expect("sys_write", 20, (40 + 60) / 2.0);
	assert_int_equal(context("lookup")->n, 1);
	assert_float_equal(context("serve")->sd_high_ns, 0, 1e-9);
}

/* Where system calls were left out, there may have been some. */
static void test_skipped(void **state)
{
	(void)state;
	build("recording 0 300\n"
	      "thread main 0 100\n"
	      "event 0 serve:9\n"
	      "event 10 serve:2 write:1 | sys_write:0\n"
	      "event 20 serve:2 write:1 | sys_write:0 ; held\n"
	      "event 100 serve:9 ; skipped\n");
	expect("sys_write", 10, 100);
}

/* Between bounds themselves: an instance that was first seen at 20 and last at 80. */
static void test_inferred(void **state)
{
	(void)state;
	build("recording 0 300\n"
	      "thread main 10 90\n"
	      "event 20 serve:1 lookup:1\n"
	      "event 80 serve:1 lookup:1\n"
	      "thread main 110 190\n"
	      "event 110 serve:2\n"
	      "event 190 serve:2\n"
	      "thread main 200 290 end-cut\n"
	      "event 250 serve:1 lookup:1\n");
	assert_int_equal(sums.n_calls, 2);
	assert_int_equal(sums.n_cut, 1);
	expect("serve", 70, 80);
	expect("lookup", 30, 80);
}

static void test_refused(void **state)
{
	(void)state;
	latency_text_read(&text, "recording 0 100\n"
				 "thread main 0 100\n"
				 "event 0 serve:9\n"
				 "event 50 lookup:1\n");
	assert_int_equal(vprof_call_sums_build(&sums, &text.history, NULL), VPROF_ERR_INPUT);
	assert_int_equal(sums.n_calls, 0);
}

static void test_none(void **state)
{
	(void)state;
	build("recording 0 100\n");
	assert_int_equal(sums.n_calls, 0);
}

/* --- random programs --- */

#define CONTEXTS 24
#define STEPS 4

/* A context: its own work, and the contexts that it calls, each at a place of its own, at most once. */
struct body {
	int parent, n_children, children[STEPS], is_system;
};

struct world {
	struct body bodies[CONTEXTS];
	int n;
	uint64_t seed, now;
	double spent[CONTEXTS];		      /* in the call at hand */
	double sum[CONTEXTS], sum2[CONTEXTS]; /* over calls */
	char *out;			      /* text of the history */
	size_t size, length;
	int place; /* of the innermost function */
};

static uint32_t draw(struct world *w, uint32_t n)
{
	w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(w->seed >> 33) % n;
}

static void add(struct world *w, const char *s)
{
	size_t n = strlen(s);

	if (w->length + n + 1 > w->size) {
		w->size = 2 * (w->length + n) + 4096;
		w->out = realloc(w->out, w->size);
		assert_non_null(w->out);
	}
	memcpy(w->out + w->length, s, n + 1);
	w->length += n;
}

/* Frames of a context: function f<number> at the place of its call of the next one. */
static void add_frames(struct world *w, int x, int place)
{
	char frame[64];

	if (w->bodies[x].parent >= 0)
		add_frames(w, w->bodies[x].parent, x);
	snprintf(frame, sizeof frame, " %s%s%d:%d", w->bodies[x].is_system ? "| " : "",
		 w->bodies[x].is_system ? "sys_" : "f", x, place);
	add(w, frame);
}

static void event(struct world *w, int x, const char *flags)
{
	char head[64];

	snprintf(head, sizeof head, "event %llu", (unsigned long long)w->now);
	add(w, head);
	add_frames(w, x, w->bodies[x].is_system ? 0 : 1000 + w->place++);
	add(w, *flags ? " ; " : "");
	add(w, flags);
	add(w, "\n");
}

static void spend(struct world *w, int x)
{
	uint64_t ns = draw(w, 4) ? draw(w, 50) : draw(w, 5000);

	for (int c = x; c >= 0; c = w->bodies[c].parent)
		w->spent[c] += (double)ns;
	w->now += ns;
}

static void run(struct world *w, int x)
{
	const struct body *b = &w->bodies[x];

	spend(w, x);
	if (b->is_system) {
		event(w, x, "new");
		for (uint32_t i = draw(w, 3); i; i--) {
			spend(w, x);
			event(w, x, draw(w, 2) ? "held" : "held off");
		}
		spend(w, x);
		event(w, x, "held");
		return;
	}
	for (int i = 0; i < b->n_children; i++) {
		if (!draw(w, 3))
			event(w, x, "");
		spend(w, x);
		if (draw(w, 4))
			run(w, b->children[i]);
	}
	spend(w, x);
}

static void make(struct world *w)
{
	w->n = 1;
	w->bodies[0].parent = -1;
	for (int x = 0; x < w->n; x++)
		for (uint32_t k = x && w->bodies[x].is_system ? 0 : draw(w, STEPS); k && w->n < CONTEXTS; k--) {
			struct body *b = &w->bodies[w->n];

			*b = (struct body){ .parent = x, .is_system = !draw(w, 4) };
			w->bodies[x].children[w->bodies[x].n_children++] = w->n++;
		}
}

static void compare(const struct world *w, int n_calls)
{
	for (int x = 0; x < w->n; x++) {
		double mean = w->sum[x] / n_calls, sd;
		char name[32];
		const struct vprof_call_context *c;

		snprintf(name, sizeof name, "%s%d", w->bodies[x].is_system ? "sys_" : "f", x);
		c = context(name);
		if (!c)
			continue;
		sd = sqrt((w->sum2[x] - n_calls * mean * mean) / (n_calls - 1));
		assert_true(c->low_ns <= mean + 1e-6);
		assert_true(c->high_ns >= mean - 1e-6);
		assert_true(c->sd_low_ns <= sd * (1 + 1e-6) + 1e-3);
		assert_true(c->sd_high_ns >= sd * (1 - 1e-6) - 1e-3);
	}
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct world w = { .seed = seed, .now = 1 };
		int n_calls = 2 + (int)(seed % 30);
		char line[96];

		make(&w);
		add(&w, "recording 0 100000000\n");
		for (int i = 0; i < n_calls; i++) {
			size_t head;

			memset(w.spent, 0, sizeof w.spent);
			add(&w, "thread main ");
			head = w.length;
			add(&w, "000000000000 000000000000\n");
			snprintf(line, sizeof line, "%012llu", (unsigned long long)w.now);
			memcpy(w.out + head, line, 12);
			snprintf(line, sizeof line, "event %llu f0:999999\n", (unsigned long long)w.now);
			add(&w, line);
			run(&w, 0);
			snprintf(line, sizeof line, "event %llu f0:999999\n", (unsigned long long)w.now);
			add(&w, line);
			snprintf(line, sizeof line, "%012llu", (unsigned long long)w.now);
			memcpy(w.out + head + 13, line, 12);
			for (int x = 0; x < w.n; x++) {
				w.sum[x] += w.spent[x];
				w.sum2[x] += w.spent[x] * w.spent[x];
			}
		}
		build(w.out);
		assert_int_equal(sums.n_calls, n_calls);
		compare(&w, n_calls);
		free(w.out);
		release(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_sleep, release),	  cmocka_unit_test_teardown(test_unseen, release),
		cmocka_unit_test_teardown(test_skipped, release), cmocka_unit_test_teardown(test_inferred, release),
		cmocka_unit_test_teardown(test_refused, release), cmocka_unit_test_teardown(test_none, release),
		cmocka_unit_test_teardown(test_random, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
