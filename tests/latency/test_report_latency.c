/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report says of histories written by hand, and the JSON beside it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/latency/latency_describe.h"
#include "latency_text.h"
#include "report/latency/latency_answer.h"
#include "report/latency/report_latency.h"

static const char good[] = "recording 0 10000000000\nthread main 0 10000000000\n"
			   "event 0 main:1 serve:1 resolve:1\nevent 1000000000 main:1 serve:1 resolve:1 ; held\n"
			   "event 1000000000 main:2 log:1\nevent 10000000000 main:2 log:1 ; held\n";
static const char bad[] = "recording 0 10000000000\nthread main 0 10000000000\n"
			  "event 0 main:1 serve:1 resolve:1 | sys_connect:1 tcp_connect:2\n"
			  "event 6000000000 main:1 serve:1 resolve:1 | sys_connect:1 tcp_connect:2 ; held off disk\n"
			  "event 6000000000 main:2 log:1\nevent 10000000000 main:2 log:1 ; held\n";
static const char wide[] = "recording 0 10000000000\nthread main 0 10000000000\n"
			   "event 1 main:1 f:1\nevent 3000000000 main:2 g:1\nevent 6000000000 main:1 f:1\n"
			   "event 9000000000 main:2 g:1\n";

static struct vprof_latency_results *describe(const char *base, const char *new)
{
	struct latency_text text[2];
	struct vprof_annotated_tree tree[2];
	struct vprof_paired_tree pair;
	struct vprof_latency_ranking ranking;
	struct vprof_latency_results *r = vprof_latency_results_new();
	struct vprof_latency_units units;
	const char *texts[2] = { base, new };

	for (int i = !base; i < 2; i++) {
		latency_text_read(&text[i], texts[i]);
		assert_int_equal(vprof_annotated_tree_build(&tree[i], &text[i].history, 1, NULL), 0);
	}
	assert_int_equal(vprof_paired_tree_build(&pair, base ? &tree[0] : NULL, &tree[1], NULL), 0);
	vprof_latency_units_even(&units, &pair, 10, 10);
	assert_int_equal(vprof_latency_rank(&ranking, &pair, &units, 100, NULL), 0);
	assert_int_equal(vprof_latency_describe(r, &pair, &ranking, NULL), 0);
	vprof_latency_ranking_release(&ranking);
	vprof_paired_tree_release(&pair);
	for (int i = !base; i < 2; i++) {
		vprof_annotated_tree_release(&tree[i]);
		latency_text_release(&text[i]);
	}
	return r; /* its texts are its own */
}

static void expect_answer(const struct vprof_latency_results *r, enum vprof_latency_outcome outcome, const char *answer)
{
	struct vprof_answer a = VPROF_ANSWER_INIT;

	assert_int_equal(vprof_latency_outcome(r), outcome);
	vprof_latency_answer(r, &a);
	assert_string_equal(a.sentence.s, answer);
	vprof_answer_release(&a);
}

static void expect_report(const struct vprof_latency_results *r, const char *line)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_report_latency(r, &(struct vprof_report_options){ .width = 100 }, &t);
	if (!strstr(t.s, line))
		fail_msg("\"%s\" is not in\n%s", line, t.s);
	vprof_text_release(&t);
}

static void test_one_run(void **state)
{
	struct vprof_latency_results *r = describe(NULL, bad);

	(void)state;
	expect_answer(r, VPROF_LATENCY_ANSWERED,
		      "main > serve > resolve > [kernel] sys_connect > tcp_connect takes most by itself: 60 % of the "
		      "10.0 s in which threads were not idle, 100 % of it waiting for something or for a CPU.");
	expect_report(r, "1         60 % main > serve > resolve > [kernel] sys_connect > tcp_connect\n");
	expect_report(r, "          1 call of 6.00 s; without a CPU 100 % of its own time\n");
	expect_report(r, "2         40 % main > log\n");
	r->nodes[r->paths[0].steps[r->paths[0].n_steps - 1].context].side[1].call_low_ns = NAN;
	expect_report(r, "          1 call of unknown length; without a CPU 100 % of its own time\n");
	vprof_latency_results_free(r);
}

static void test_difference(void **state)
{
	struct vprof_latency_results *r = describe(good, bad);

	(void)state;
	expect_answer(
		r, VPROF_LATENCY_ANSWERED,
		"main > serve > resolve > [kernel] sys_connect > tcp_connect costs most more than in the base run: "
		"600 ms per s; a call takes 6.00 s, and was not seen in the base run.");
	expect_report(r, "between +600 ms and +600 ms");
	r->unit = "s";
	expect_report(r, "no receipt of requests was seen in both runs");
	r->sides[0].n_few = 5000;
	r->sides[1].n_few = 19;
	expect_report(r, "too few receipts of requests were seen, 5,000 in\n");
	expect_report(r, "base and 19 in new, where 30 of each tell costs per request: record for 2.4 times as long\n");
	vprof_latency_results_free(r);
	r = describe(good, good);
	expect_answer(r, VPROF_LATENCY_SAME,
		      "No function takes longer than in the base run, beyond what varies within both.");
	vprof_latency_results_free(r);
}

/* Never one number where it is not known, and advice. */
static void test_undecided(void **state)
{
	struct vprof_latency_results *r = describe(NULL, wide);

	(void)state;
	expect_answer(
		r, VPROF_LATENCY_UNDECIDED,
		"It is not settled which function takes most: main takes 0 .. 100 % of the time in which threads were "
		"not idle.");
	expect_report(r, "record with more events for narrower bounds");
	r->sides[1].n_windows = 3;
	expect_report(r, "for narrower bounds record for longer");
	vprof_latency_results_free(r);
}

static void test_json(void **state)
{
	struct vprof_latency_results *r = describe(good, bad);
	cJSON *o = vprof_latency_results_json(r), *path, *steps, *context;

	(void)state;
	assert_non_null(o);
	path = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "paths"), 0);
	assert_string_equal(cJSON_GetObjectItem(path, "verdict")->valuestring, "settled");
	steps = cJSON_GetObjectItem(path, "steps");
	assert_int_equal(cJSON_GetArraySize(steps), 5);
	context = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "contexts"),
				     cJSON_GetObjectItem(cJSON_GetArrayItem(steps, 4), "context")->valueint);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(context, "base")));
	assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(context, "new"), "own_off_ns")->valuedouble == 6e9);
	cJSON_Delete(o);
	vprof_latency_results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_one_run), cmocka_unit_test(test_difference),
					    cmocka_unit_test(test_undecided), cmocka_unit_test(test_json) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
