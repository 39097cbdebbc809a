/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of crosstalk, of results made by hand: the sentence, the matrix, what it warns of, and that nothing in the
 * results can break its form. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/format_value.h"
#include "report/transactions/report_contexts.h"
#include "report/transactions/report_crosstalk.h"

struct fixture {
	struct vprof_results r;
	struct vprof_party parties[12];
	struct vprof_crosstalk crosstalk[12];
	struct vprof_crosstalk_lock lock;
	struct vprof_holder_call calls[3];
};

static void make(struct fixture *f)
{
	memset(f, 0, sizeof *f);
	f->r = (struct vprof_results){ .interval = "request",
				       .run = "0001",
				       .no_switches = "",
				       .n_complete = 300,
				       .mean_ns = 1e6,
				       .parties = f->parties,
				       .n_parties = 4,
				       .crosstalk = f->crosstalk,
				       .n_crosstalk = 2 };
	f->parties[0] = (struct vprof_party){ VPROF_PARTY_TYPE, "search", 200, 4.1e9 };
	f->parties[1] = (struct vprof_party){ VPROF_PARTY_TYPE, "admin_confirm", 100, 1e9 };
	f->parties[2] = (struct vprof_party){ VPROF_PARTY_UNKNOWN, "unknown", 0, 0 };
	f->parties[3] = (struct vprof_party){ VPROF_PARTY_THREAD, "compactor_main", 0, 0 };
	f->calls[0] = (struct vprof_holder_call){ VPROF_NODE_FUNCTION, "update_items", "shop.cc", 7, 0, 50e6 };
	f->calls[1] = (struct vprof_holder_call){ VPROF_NODE_FUNCTION, "sort_rows", "shop.cc", 9, 1, 40e6 };
	f->calls[2] = (struct vprof_holder_call){ VPROF_NODE_FUNCTION, "other", "shop.cc", 11, 0, 1e6 };
	f->lock = (struct vprof_crosstalk_lock){ .name = "pthread_mutex_lock",
						 .function = "find_items",
						 .file = "src/handler.cc",
						 .line = 2210,
						 .is_call = 1,
						 .object = "0x10",
						 .awaited = "item_table",
						 .n_waits = 120,
						 .total_ns = 61e6,
						 .measured_ns = 55e6,
						 .holder_calls = f->calls,
						 .n_holder_calls = 3 };
	f->crosstalk[0] = (struct vprof_crosstalk){ .waiter = 0,
						    .holder = 1,
						    .n_waits = 120,
						    .total_ns = 61e6,
						    .measured_ns = 55e6,
						    .mean_ns = 305e3,
						    .mean_low = 200e3,
						    .mean_high = 400e3,
						    .share = 61e6 / 4.1e9,
						    .share_low = 40e6 / 4.1e9,
						    .share_high = 80e6 / 4.1e9,
						    .locks = &f->lock,
						    .n_locks = 1 };
	f->crosstalk[1] = (struct vprof_crosstalk){ .waiter = 1,
						    .holder = 3,
						    .n_waits = 1,
						    .total_ns = 3e6,
						    .mean_ns = 30e3,
						    .mean_low = NAN,
						    .mean_high = NAN,
						    .share = 0.003,
						    .share_low = NAN,
						    .share_high = NAN };
}

static char *told(const struct vprof_results *r)
{
	struct vprof_report_options o = { .width = 100 };
	struct vprof_text t = VPROF_TEXT_INIT;
	char *text;

	vprof_report_crosstalk(r, &o, &t);
	assert_false(t.failed);
	text = strdup(t.s ? t.s : "");
	vprof_text_release(&t);
	assert_non_null(text);
	return text;
}

static void expect(const struct vprof_results *r, const char *words)
{
	char *text = told(r);

	/* lines are wrapped anywhere */
	for (char *p = text; *p; p++)
		*p = *p == '\n' ? ' ' : *p;
	for (char *p = text; (p = strstr(p, "  "));)
		memmove(p, p + 1, strlen(p));
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in: %s", words, text);
	free(text);
}

static void test_answer(void **state)
{
	struct fixture f;

	(void)state;
	make(&f);
	expect(&f.r,
	       "search waits 61.0 ms of 4.10 s for admin_confirm, at item_table (handler.cc:2210) (1 % of its time, "
	       "1 % .. 2 %)");
	expect(&f.r, "held in update_items 82 % > sort_rows 66 %");
	expect(&f.r, "waiter \\ holder admin_…nfirm compac…_main");
	assert_false(vprof_crosstalk_is_empty(&f.r));
	f.calls[0].total_ns = 61e6;
	expect(&f.r, "120 waits; held in sort_rows 66 %");
	f.lock.is_call = 0;
	f.lock.awaited = "";
	expect(&f.r, "at pthread_mutex_lock in find_items at 0x10");
	f.crosstalk[0].holder = 0;
	expect(&f.r, "for others of type search");
}

static void test_advice(void **state)
{
	struct fixture f;

	(void)state;
	make(&f);
	f.crosstalk[0].share_low = 0;
	expect(&f.r, "its bounds reach down to 0");
	f.parties[0].n = 20;
	f.crosstalk[0].mean_low = f.crosstalk[0].share_low = NAN;
	expect(&f.r, "20 intervals of search are too few for bounds");
	f.crosstalk[1].holder = 2;
	f.crosstalk[1].total_ns = 40e6;
	expect(&f.r, "of the waiting time has no known holder");
	f.r.n_crosstalk = 0;
	assert_true(vprof_crosstalk_is_empty(&f.r));
	expect(&f.r, "no request waited for work of another thread");
	expect(&f.r, "name them in vprof.json");
}

/* Many parties with names of all kinds: no line is wider than asked for. */
static void test_width(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	make(&f);
	for (uint32_t i = 0; i < 12; i++) {
		f.parties[i] = (struct vprof_party){ VPROF_PARTY_TYPE,
						     i % 2 ? "\x1b[31mlong-long-long-long-long-long" : "\xc3\xa9", 60,
						     1e9 };
		f.crosstalk[i] = f.crosstalk[0];
		f.crosstalk[i].waiter = i;
		f.crosstalk[i].holder = 11 - i;
	}
	f.calls[1].depth = UINT32_MAX;
	f.r.n_parties = f.r.n_crosstalk = 12;
	text = told(&f.r);
	assert_null(strchr(text, '\x1b'));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (vprof_format_columns(line) > 100)
			fail_msg("%zu columns: %s", vprof_format_columns(line), line);
	free(text);
}

static void test_json(void **state)
{
	struct fixture f;
	cJSON *o;

	(void)state;
	make(&f);
	o = vprof_crosstalk_json(&f.r);
	assert_non_null(o);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(o, "crosstalk")), 2);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(o, "parties")), 4);
	assert_string_equal(cJSON_GetObjectItem(o, "interval")->valuestring, "request");
	cJSON_Delete(o);
}

/* Bounds of contexts where there are enough intervals, and a word where there are not. */
static void test_contexts(void **state)
{
	const struct vprof_context_stage stage = { "hit", "server", "main > hit" };
	struct vprof_context contexts[2] = { { .name = "hit",
					       .n = 200,
					       .total_ns = 6e9,
					       .mean_ns = 3e7,
					       .mean_low = 2.5e7,
					       .mean_high = 3.5e7,
					       .share = 0.6,
					       .share_low = 0.55,
					       .share_high = 0.65,
					       .running_ns = 4.5e9,
					       .running_low = 0.7,
					       .running_high = 0.8,
					       .waiting_ns = 1.5e9,
					       .waiting_low = 0.2,
					       .waiting_high = 0.3,
					       .queued_low = NAN,
					       .stages = &stage,
					       .n_stages = 1 },
					     { .name = "hit -> miss",
					       .n = 20,
					       .total_ns = 4e9,
					       .mean_ns = 2e8,
					       .share = 0.4,
					       .mean_low = NAN,
					       .share_low = NAN,
					       .running_ns = 4e9,
					       .running_low = NAN,
					       .waiting_low = NAN,
					       .queued_low = NAN,
					       .preempted_low = NAN,
					       .stages = &stage,
					       .n_stages = 1 } };
	static const char *const wanted[] = {
		"2 contexts; 60 % (55 .. 65 %) of their time is that of hit",
		"1 of 2 contexts has fewer than 60 intervals, too few for bounds: what is told of it is inconclusive.",
		"200, mean 30.0 ms (25.0 .. 35.0 ms), 60 % (55 .. 65 %) of the time of all",
		"running 75 % (70 .. 80 %), waiting 25 % (20 .. 30 %), queued 0 %, preempted 0 %",
		"20, mean 200 ms, 40 % of the time of all (inconclusive: too few for bounds)",
	};
	struct vprof_report_options o = { .width = 200 };
	struct vprof_text t = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	struct fixture f;

	(void)state;
	make(&f);
	f.r.contexts = contexts;
	f.r.n_contexts = 2;
	assert_int_equal(vprof_report_contexts(&f.r, NULL, &o, &t, &err), 0);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!strstr(t.s, wanted[i]))
			fail_msg("\"%s\" is not in: %s", wanted[i], t.s);
	vprof_text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answer), cmocka_unit_test(test_advice),
					    cmocka_unit_test(test_width), cmocka_unit_test(test_json),
					    cmocka_unit_test(test_contexts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
