/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report on waits: knots in words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/waits/describe.h"
#include "history_text.h"
#include "report/waits/report_waits.h"
#include "report/waits/waits_answer.h"

static struct vprof_waits_results *describe(const char *text)
{
	struct vprof_waits_results *r = vprof_waits_results_new();
	struct vprof_error err = { "" };
	struct history_text t;
	struct vprof_waits w;

	history_text_read(&t, text);
	assert_int_equal(vprof_waits_analyze(&w, &t.history, &t.options, &err), 0);
	assert_int_equal(vprof_waits_describe(r, &w, &t.options, &err), 0);
	vprof_waits_release(&w);
	history_text_release(&t);
	return r;
}

static void expect(const struct vprof_waits_results *r, const char *const *lines)
{
	const struct vprof_report_options o = { .width = 1000 };
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_report_waits(r, NULL, &o, &text);
	for (; *lines; lines++)
		if (!strstr(text.s, *lines))
			fail_msg("\"%s\" is not in:\n%s", *lines, text.s);
	vprof_text_release(&text);
}

static void test_disk(void **state)
{
	static const char *const lines[] = {
		"Throughput is limited by the knot B -> D -> B: B waits for D for 50 % of the recording, in fdatasync < save; "
		"with these waits half as long, throughput would be up to ",
		"knot 1    B -> D -> B\n",
		"B waits for D: 10 waits, 50 % of the recording, 100 % with those who wait for it meanwhile.",
		"Throughput if these waits were half as long: +",
		"; without them: +",
		"100 % in __fsync < fdatasync < save\n",
		"D waits for requests from B: 50 % of the recording; nothing to improve by itself",
		"A waits for B for 80 % of the recording, as a result: outside the knot",
		"usually helps: more work per flush",
		"which unchanged takes 100 % of the real time",
		NULL,
	};
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_waits_results *r;
	cJSON *json;

	(void)state;
	vprof_text_addf(&text, "recording 0 1000\nstack __fsync < fdatasync < save\nthread A\nthread B\ndisk D\n");
	for (int t = 0; t < 1000; t += 100)
		vprof_text_addf(
			&text, "run A %d %d\nwait A %d %d B\nrun B %d %d\nwait B %d %d D 1 0\nrequest D B %d %d 4096\n",
			t, t + 20, t + 20, t + 100, t, t + 50, t + 50, t + 100, t + 50, t + 100);
	r = describe(text.s);
	expect(r, lines);
	assert_false(vprof_waits_is_empty(r));
	json = vprof_waits_results_json(r);
	assert_non_null(json);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "edges")), 3);
	assert_string_equal(
		cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "knots"), 0), "ending")->valuestring,
		"cycle");
	cJSON_Delete(json);
	vprof_waits_results_free(r);
	vprof_text_release(&text);
}

/* A knot that gains little while the CPUs have no time left is not what limits. */
static void test_busy_cpus(void **state)
{
	static const char *const limited[] = {
		"Throughput is limited by the CPUs, which were busy for 95 % of the recording; of the waits, by the knot "
		"B -> D -> B: B waits for D for 50 % of the recording",
		NULL,
	};
	static const char *const hardly[] = { "Throughput is hardly limited by waits: most by the knot B -> D -> B: ",
					      NULL };
	static const char *const gains[] = { "Throughput is limited by the knot B -> D -> B: ", NULL };
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_waits_results *r;

	(void)state;
	vprof_text_addf(&text, "recording 0 1000\nthread A\nthread B\ndisk D\n");
	for (int t = 0; t < 1000; t += 100)
		vprof_text_addf(&text,
				"run A %d %d\nwait A %d %d B\nrun B %d %d\nwait B %d %d D\nrequest D B %d %d 4096\n", t,
				t + 45, t + 45, t + 100, t, t + 50, t + 50, t + 100, t + 50, t + 100);
	r = describe(text.s);
	r->n_cpus = 1;
	expect(r, gains);
	for (size_t i = 0; i < r->n_arcs; i++)
		r->arcs[i].halved = r->arcs[i].gone = r->arcs[i].saved = 0.03;
	expect(r, limited);
	r->n_cpus = 2;
	expect(r, gains);
	for (size_t i = 0; i < r->n_arcs; i++)
		r->arcs[i].own_ns = 90;
	expect(r, hardly);
	vprof_waits_results_free(r);
	vprof_text_release(&text);
}

static void test_kinds(void **state)
{
	static const char *const sink[] = {
		"Throughput is limited by the work of C, which runs for 100 % of the recording",
		"sink 1    C: running 100 % of the recording\n", "its own work is the limit", NULL
	};
	static const char *const starved[] = {
		"Throughput is limited by the lack of CPUs for C, which runs for 30 % of the recording, is ready to run "
		"without a CPU for 70 %, and waits for nobody.",
		NULL
	};
	static const char *const idle[] = { "No wait limits throughput in this recording",
					    "set aside H: no I/O, busy 10 % of the recording", NULL };
	static const char *const sleeps[] = { "No wait limits throughput",
					      "set aside ",
					      "L, M: no I/O",
					      "L waits for T: 1 wait, 90 % of the recording, 180 % with those who wait",
					      "If these sleeps are part of the work, they limit it, too",
					      NULL };
	static const char *const pool[] = { "knot 1    w* (2 threads)\n",
					    "w*: its threads wait for one another: 3 waits", "smaller locks", NULL };
	struct vprof_waits_results *r;

	(void)state;
	r = describe("recording 0 100\nthread A\nthread C\nwait A 0 90 C\nrun A 90 100\nrun C 0 100\n");
	expect(r, sink);
	vprof_waits_results_free(r);
	r = describe("recording 0 100\nthread A\nthread C\nwait A 0 90 C\nrun A 90 100\nrun C 0 30\nready C 30 100\n");
	expect(r, starved);
	vprof_waits_results_free(r);
	r = describe("recording 0 100\nthread H\ntimer T\nrun H 0 10\nwait H 10 100 T\n");
	expect(r, idle);
	assert_true(vprof_waits_is_empty(r));
	vprof_waits_results_free(r);
	r = describe("recording 0 100\noptions 0.2 0.99 0 2\nthread L\nthread M\ntimer T\nwait L 0 90 T\nrun L 90 96\n"
		     "wait L 96 98 M\nrun L 98 100\nwait M 0 95 L\nrun M 95 100\n");
	expect(r, sleeps);
	vprof_waits_results_free(r);
	r = describe("recording 0 100\nthread w1\nthread w2\nrun w1 0 20\nwait w1 20 60 w2\nrun w1 60 100\n"
		     "wait w2 0 20 w1\nrun w2 20 60\nwait w2 60 100 w1\n");
	expect(r, pool);
	vprof_waits_results_free(r);
}

/* Threads of one name are told apart by the function that they begin in, by their numbers only where that is the same,
 * too; one of which nothing was told but its number has that function beside it. */
static void test_roles(void **state)
{
	static const struct {
		const char *names[2], *roles[2];
		const char *lines[4];
	} all[] = {
		{ { "server", "server" },
		  { "serve", "write_log" },
		  { "server (serve) waits for server (write_log): ", "server (write_log) waits for server (serve): ",
		    NULL } },
		{ { "server", "server" },
		  { "main", "write_log" },
		  { "server (main) waits for server (write_log): ", "server (write_log) waits for server (main): ",
		    NULL } },
		{ { "server", "server" },
		  { "main", "main" },
		  { "server 71 waits for server 72: ", "server 72 waits for server 71: ", NULL } },
		{ { "server", "server" },
		  { "serve", "serve" },
		  { "server 71 (serve) waits for server 72 (serve): ",
		    "server 72 (serve) waits for server 71 (serve): ", NULL } },
		{ { "server", "server" },
		  { NULL, NULL },
		  { "server 71 waits for server 72: ", "server 72 waits for server 71: ", NULL } },
		{ { "front", "thread 72" },
		  { "serve", "write_log" },
		  { "front begins in serve\n", "front waits for thread 72 (write_log): ", NULL } },
		{ { "front", "log" },
		  { "main", "write_log" },
		  { "log begins in write_log\n", "front waits for log: ", NULL } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct vprof_waits_results *r = vprof_waits_results_new();
		struct vprof_error err = { "" };
		struct history_text t;
		struct vprof_waits w;
		cJSON *json;

		history_text_read(&t, "recording 0 100\nthread A\nthread B\nrun A 0 30\nwait A 30 60 B\nrun A 60 100\n"
				      "wait B 0 25 A\nrun B 25 70\nwait B 70 95 A\nrun B 95 100\n");
		for (uint32_t k = 0; k < 2; k++) {
			struct vprof_waits_entity *e = &t.history.entities.v[k];

			e->name = all[i].names[k];
			e->role = all[i].roles[k];
			e->tid = 71 + k;
			e->pid = 71 + k;
		}
		assert_int_equal(vprof_waits_analyze(&w, &t.history, &t.options, &err), 0);
		assert_int_equal(vprof_waits_describe(r, &w, &t.options, &err), 0);
		expect(r, all[i].lines);
		json = vprof_waits_results_json(r);
		assert_string_equal(
			cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "parties"), 1), "role")
				->valuestring,
			all[i].roles[1] ? all[i].roles[1] : "");
		cJSON_Delete(json);
		vprof_waits_results_free(r);
		vprof_waits_release(&w);
		history_text_release(&t);
	}
}

/* C is a client: what it waits for says nothing. Of what the server S waits for, the disk is told, unless a wait for
 * the client's next request gains twice as much. */
static void test_answer(void **state)
{
	struct vprof_waits_results *r = vprof_waits_results_new();
	struct vprof_answer answer = VPROF_ANSWER_INIT;
	struct vprof_waits_party parties[3] = { { .name = "C", .n_threads = 1, .is_outside = 1 },
						{ .name = "S", .n_threads = 1 },
						{ .name = "D", .n_threads = 1, .kind = VPROF_WAITS_PARTY_DISK } };
	struct vprof_waits_arc arcs[3] = {
		{ .from = 0, .to = 1, .own_ns = 9e9, .weight_ns = 9e9, .halved = 0.9, .gone = 1 },
		{ .from = 1, .to = 0, .own_ns = 5e9, .weight_ns = 5e9, .halved = 0.1, .gone = 1.1 },
		{ .from = 1, .to = 2, .own_ns = 4e9, .weight_ns = 4e9, .halved = 0.5, .gone = 0.6 },
	};
	uint32_t members[] = { 0, 1, 2 };
	struct vprof_waits_group group = { .verdict = VPROF_WAITS_KNOT,
					   .ending = VPROF_WAITS_ENDING_HEAVY,
					   .parties = members,
					   .arcs = members,
					   .n_parties = 3,
					   .n_arcs = 3 };

	(void)state;
	assert_non_null(r);
	r->duration_ns = 1e10;
	r->missing = "";
	r->parties = parties;
	r->arcs = arcs;
	r->groups = &group;
	r->n_parties = r->n_arcs = 3;
	r->n_groups = 1;
	r->fidelity = r->replayed = 1;
	vprof_waits_answer(r, &answer);
	assert_non_null(strstr(answer.sentence.s,
			       ": S waits for D for 40 % of the recording; with these waits half as long, "
			       "throughput would be up to 50 % higher; without them, up to 60 %."));
	for (int i = 0; i < 3; i++)
		arcs[i].halved = arcs[i].gone = 0;
	group.runnable_ns = 6e9;
	vprof_answer_release(&answer);
	vprof_waits_answer(r, &answer);
	assert_non_null(strstr(
		answer.sentence.s,
		"throughput would hardly change. No wait of the knot gains anything by itself; its threads were ready to run "
		"without a CPU for 60 % of the recording (summed)."));
	arcs[2].stacks =
		&(struct vprof_waits_stack){ .wait = "__poll < __pread64 < server+0x1c3d0 < main", .waker = "" };
	arcs[2].n_stacks = 1;
	r->fidelity = INFINITY;
	vprof_answer_release(&answer);
	vprof_waits_answer(r, &answer);
	assert_non_null(
		strstr(answer.sentence.s, ": S waits for D for 40 % of the recording, in __pread64 < server+0x1c3d0."));
	assert_int_equal(answer.n_warnings, 1);
	assert_non_null(strstr(answer.warnings[0].s, "does not come to its end"));
	r->parties = NULL;
	r->arcs = NULL;
	r->groups = NULL;
	r->n_parties = r->n_arcs = r->n_groups = 0;
	vprof_waits_results_free(r);
	vprof_answer_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_disk), cmocka_unit_test(test_busy_cpus),
					    cmocka_unit_test(test_kinds), cmocka_unit_test(test_roles),
					    cmocka_unit_test(test_answer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
