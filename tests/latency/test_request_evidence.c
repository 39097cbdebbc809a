/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where requests lie on stacks, by hand: a thread that serves one after the other, an event loop that replies later, a
 * thread for receipts and one for replies, a command with items; little and contradicting evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/latency/item_evidence.h"
#include "common/text.h"
#include "latency_text.h"

static struct latency_text text;
static struct vprof_annotated_tree tree;
static struct vprof_request_evidence found;
static struct vprof_text events = VPROF_TEXT_INIT;
static VPROF_ARRAY(struct vprof_transfer) transfers;

static int setup(void **state)
{
	(void)state;
	events = (struct vprof_text)VPROF_TEXT_INIT;
	transfers.n = 0;
	return 0;
}

static int release(void **state)
{
	(void)state;
	vprof_annotated_tree_release(&tree);
	latency_text_release(&text);
	vprof_text_release(&events);
	VPROF_ARRAY_RELEASE(&transfers);
	return 0;
}

/* A system call from t to t + 1 on this stack; with a connection also a transfer. */
static void call(uint64_t t, const char *stack, const char *name, uint64_t connection, int is_send, uint32_t tid)
{
	struct vprof_transfer *x;

	vprof_text_addf(&events, "event %llu %s | sys_%s:0 ; new\n", (unsigned long long)t, stack, name);
	vprof_text_addf(&events, "event %llu %s | sys_%s:0 ; held\n", (unsigned long long)t + 1, stack, name);
	if (!connection)
		return;
	x = VPROF_PUSH(&transfers);
	*x = (struct vprof_transfer){
		.from = t, .t = t + 1, .connection = connection, .tid = tid, .is_send = is_send, .bytes = 10
	};
}

static int by_time(const void *a, const void *b)
{
	const struct vprof_transfer *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static void find(const char *not_project)
{
	unsigned char is_project[64];

	latency_text_read(&text, events.s);
	assert_int_equal(vprof_latency_history_check(&text.history, NULL), 0);
	for (size_t i = 0; i < text.history.threads.n; i++)
		text.history.threads.v[i].pid = text.history.threads.v[i].tid = (uint32_t)i + 1;
	for (size_t i = 0; i < text.history.functions.n; i++)
		text.history.functions.v[i].is_idle = !strcmp(text.history.functions.v[i].name, "sys_epoll_wait");
	assert_int_equal(vprof_annotated_tree_build(&tree, &text.history, 1, NULL), 0);
	assert_true(text.history.functions.n <= 64);
	for (size_t i = 0; i < text.history.functions.n; i++)
		is_project[i] = text.history.functions.v[i].layer == VPROF_LATENCY_PROGRAM &&
				!strstr(not_project, text.history.functions.v[i].name);
	if (transfers.n)
		qsort(transfers.v, transfers.n, sizeof *transfers.v, by_time);
	assert_int_equal(vprof_request_evidence_find(&found, &tree, transfers.v, transfers.n, is_project), 0);
	if (found.kind == VPROF_EVIDENCE_NONE && !found.n_transfers)
		assert_int_equal(vprof_item_evidence_find(&found, &tree, is_project), 0);
}

static const char *name(const uint32_t *functions, uint32_t n)
{
	return n ? text.history.functions.v[functions[0]].name : "-";
}

static void expect(enum vprof_evidence_kind kind, const char *begin, const char *end,
		   enum vprof_evidence_confidence confidence)
{
	assert_int_equal(found.kind, kind);
	assert_string_equal(name(found.begins, found.n_begins), begin);
	assert_string_equal(name(found.ends, found.n_ends), end);
	assert_int_equal(found.confidence, confidence);
}

/* worker waits, then serves: the outermost call that is one request's alone */
static void add_worker(int n)
{
	vprof_text_add(&events, "recording 0 100000\nthread worker 0 100000\n");
	for (int i = 0; i < n; i++) {
		uint64_t t = 100 * (uint64_t)i;

		call(t + 1, "main:1 worker:1", "epoll_wait", 0, 0, 1);
		call(t + 10, "main:1 worker:2 serve:1 get_line:1", "read", 7, 0, 1);
		call(t + 20, "main:1 worker:2 serve:1 get_line:1", "read", 7, 0, 1); /* the rest of the request */
		call(t + 40, "main:1 worker:2 serve:2 answer:1", "write", 7, 1, 1);
		call(t + 50, "main:1 worker:2 serve:2 answer:1", "write", 7, 1, 1); /* the rest of the reply */
		call(t + 60, "main:1 worker:2 serve:3 write_log:1", "write", 0, 0, 1);
	}
}

static void test_worker(void **state)
{
	(void)state;
	add_worker(40);
	find("");
	expect(VPROF_EVIDENCE_CALL, "serve", "-", VPROF_EVIDENCE_HIGH);
	assert_int_equal(found.n_requests, 40); /* the last one is held against the one before it */
	assert_int_equal(found.n_agreeing, 40);
}

/* What is a library's is no interval. */
static void test_not_project(void **state)
{
	(void)state;
	add_worker(40);
	find("serve");
	expect(VPROF_EVIDENCE_SPLIT, "get_line", "answer", VPROF_EVIDENCE_HIGH);
}

static void test_few(void **state)
{
	(void)state;
	add_worker(12);
	find("");
	expect(VPROF_EVIDENCE_CALL, "serve", "-", VPROF_EVIDENCE_MEDIUM);
	release(state);
	setup(state);
	add_worker(5);
	find("");
	expect(VPROF_EVIDENCE_CALL, "serve", "-", VPROF_EVIDENCE_LOW);
}

/* Receipts of several connections, then all replies, in one turn of the loop. */
static void test_event_loop(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\ncannot on_readable 2 1\nthread loop 0 1000000\n");
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t t = 1000 * i;

		call(t + 1, "main:1 turn:1 poll:1", "epoll_wait", 0, 0, 1);
		for (uint64_t c = 1; c <= 3; c++) {
			call(t + 10 * c, "main:1 turn:2 on_readable:1 receive:1", "read", c, 0, 1);
			vprof_text_addf(&events, "event %llu main:1 turn:2 on_readable:2 execute:1\n",
					(unsigned long long)(t + 10 * c + 5));
		}
		for (uint64_t c = 1; c <= 3; c++) {
			vprof_text_addf(&events, "event %llu main:1 turn:3 flush:1\n",
					(unsigned long long)(t + 100 + 10 * c));
			call(t + 101 + 10 * c, "main:1 turn:3 flush:2 reply:1", "write", c, 1, 1);
		}
		call(t + 200, "main:1 turn:4 tick:1", "getpid", 0, 0, 1);
	}
	find("");
	/* flush encloses three replies, but for the last of a turn: of that it is not known */
	expect(VPROF_EVIDENCE_SPLIT, "on_readable", "reply", VPROF_EVIDENCE_HIGH);
	assert_int_equal(found.n_begins, 2); /* receive, too */
}

/* One thread receives, another one replies. */
static void test_hand_over(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread listener 0 1000000\n");
	for (uint64_t i = 0; i < 50; i++) {
		call(1000 * i + 10, "listen:1 take:1", "read", 7, 0, 1);
		call(1000 * i + 20, "listen:2 hand_out:1", "futex", 0, 0, 1);
	}
	vprof_text_add(&events, "thread worker 0 1000000\n");
	for (uint64_t i = 0; i < 50; i++) {
		call(1000 * i + 100, "work:1", "futex", 0, 0, 2);
		call(1000 * i + 200, "work:2 answer:1", "write", 7, 1, 2);
	}
	find("");
	expect(VPROF_EVIDENCE_SPLIT, "take", "answer", VPROF_EVIDENCE_HIGH);
}

/* Two functions receive, one works: it is called behind each receipt. */
static void test_behind(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread loop 0 1000000\n");
	for (int i = 0; i < 40; i++) {
		const char *how = i % 2 ? "main:1 loop:2 fresh" : "main:1 loop:2 kept";
		uint64_t t = 100 * (uint64_t)i;
		char stack[100];

		call(t + 1, "main:1 loop:1", "epoll_wait", 0, 0, 1);
		snprintf(stack, sizeof stack, "%s:1 take:1", how);
		call(t + 10, stack, "read", 7, 0, 1);
		snprintf(stack, sizeof stack, "%s:2 work:1 look:1", how);
		call(t + 14, stack, "openat", 0, 0, 1);
		snprintf(stack, sizeof stack, "%s:2 work:2 reply:1", how);
		call(t + 60, stack, "write", 7, 1, 1);
	}
	find("main");
	expect(VPROF_EVIDENCE_CALL, "work", "-", VPROF_EVIDENCE_HIGH);
	assert_int_equal(found.n_agreeing, 40);
}

/* Another program of the load serves requests, too. */
static void test_foreign(void **state)
{
	(void)state;
	add_worker(40);
	vprof_text_add(&events, "thread other 0 100000\n");
	for (uint64_t i = 0; i < 90; i++) {
		call(100 * i + 10, "alien:1 proxy:1", "read", 9, 0, 2);
		call(100 * i + 50, "alien:1 proxy:2", "write", 9, 1, 2);
	}
	find("alien proxy");
	expect(VPROF_EVIDENCE_CALL, "serve", "-", VPROF_EVIDENCE_HIGH);
	assert_int_equal(found.n_requests, 40);
	assert_false(found.has_processes);
}

/* A scheduler's call runs the task that receives and the one that replies; it loops. n requests in each turn of the
 * loop around it. */
static void add_scheduler(uint64_t n)
{
	vprof_text_add(&events, "recording 0 1000000\ncannot other 1 2\nthread loop 0 1000000\n");
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t t = 1000 * i;

		call(t + 1, "main:1 turn:1 poll:1", "epoll_wait", 0, 0, 1);
		for (uint64_t c = 1; c <= n; c++) {
			call(t + 100 * c, "main:1 turn:2 run:1 take:1", "read", c, 0, 1);
			call(t + 100 * c + 40, "main:1 turn:2 run:1 answer:1", "write", c, 1, 1);
			call(t + 100 * c + 60, "main:1 turn:3 tick:1", "getpid", 0, 0, 1);
		}
	}
}

/* That its call has one request each is sure only where others were waiting. */
static void test_scheduler(void **state)
{
	(void)state;
	add_scheduler(1);
	find("main");
	expect(VPROF_EVIDENCE_SPLIT, "take", "answer", VPROF_EVIDENCE_HIGH);
	release(state);
	setup(state);
	add_scheduler(2);
	find("main");
	expect(VPROF_EVIDENCE_CALL, "run", "-", VPROF_EVIDENCE_HIGH);
}

/* Of requests whose stacks are not known nothing is said. */
static void test_unplaced(void **state)
{
	(void)state;
	add_worker(40);
	for (size_t i = 0; i < transfers.n; i++)
		transfers.v[i].tid = 99;
	find("");
	expect(VPROF_EVIDENCE_NONE, "-", "-", VPROF_EVIDENCE_LOW);
	assert_int_equal(found.n_unplaced, 40);
}

/* A command: no connection, but one function that comes again. */
static void test_items(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 100000\nthread main 0 100000\n");
	for (uint64_t i = 0; i < 100; i++) {
		call(1000 * i + 10, "main:1 run:1", "read", 0, 0, 1);
		call(1000 * i + 100, "main:1 run:2 item:1", "write", 0, 0, 1);
		call(1000 * i + 900, "main:1 run:2 item:1", "fsync", 0, 0, 1);
	}
	find("");
	expect(VPROF_EVIDENCE_ITEMS, "item", "-", VPROF_EVIDENCE_MEDIUM);
	assert_int_equal(found.n_requests, 100);
}

/* n files, each opened and read in a call of pack */
static void add_files(int n, int n_further)
{
	vprof_text_add(&events, "recording 0 1000000\nthread main 0 1000000\n");
	call(1, "main:1", "openat", 0, 0, 1); /* before the first one */
	for (int i = 0; i < n; i++) {
		uint64_t t = 1000 * (uint64_t)(i + 1);

		if (i < n_further)
			call(t + 5, "main:2", "openat", 0, 0, 1);
		call(t + 10, "main:3 pack:1 open_it:1", "openat", 0, 0, 1);
		call(t + 100, "main:3 pack:2", "read", 0, 0, 1);
		call(t + 900, "main:3 pack:2", "write", 0, 0, 1);
		call(t + 950, "main:4", "getpid", 0, 0, 1);
	}
}

/* Each call opens a file and reads: that is proof. */
static void test_files(void **state)
{
	(void)state;
	add_files(40, 0);
	find("main");
	expect(VPROF_EVIDENCE_ITEMS, "pack", "-", VPROF_EVIDENCE_HIGH);
	assert_int_equal(found.n_agreeing, 40);
	assert_int_equal(found.n_opened, 1);
	assert_int_equal(found.n_outside, 0);
	release(state);
	setup(state);
	add_files(25, 0); /* too few */
	find("main");
	expect(VPROF_EVIDENCE_ITEMS, "pack", "-", VPROF_EVIDENCE_MEDIUM);
	release(state);
	setup(state);
	add_files(40, 20); /* others are opened in between */
	find("main");
	expect(VPROF_EVIDENCE_ITEMS, "pack", "-", VPROF_EVIDENCE_MEDIUM);
	assert_int_equal(found.n_agreeing, 0);
}

/* Files are opened now and then only: an item is something else. */
static void test_files_of_some(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread main 0 1000000\n");
	for (int i = 0; i < 60; i++) {
		uint64_t t = 1000 * (uint64_t)i;

		if (i % 3 == 0)
			call(t + 10, "main:1 step:1", "openat", 0, 0, 1);
		call(t + 100, "main:1 step:2", "read", 0, 0, 1);
		call(t + 900, "main:1 step:3", "write", 0, 0, 1);
		call(t + 950, "main:2", "getpid", 0, 0, 1);
	}
	find("main");
	expect(VPROF_EVIDENCE_ITEMS, "step", "-", VPROF_EVIDENCE_MEDIUM);
}

/* A function that calls itself has items within items: what it calls is one. */
static void test_folders(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread main 0 1000000\n");
	for (int i = 0; i < 40; i++) {
		const char *inner = i % 2 ? "main:1 walk:1 walk:1 walk:2 list:1" : "main:1 walk:1 walk:2 list:1";
		uint64_t t = 1000 * (uint64_t)i;

		call(t + 10, inner, "openat", 0, 0, 1);
		call(t + 100, inner, "getdents64", 0, 0, 1);
		call(t + 900, inner, "close", 0, 0, 1);
		call(t + 950, "main:1 walk:3", "write", 0, 0, 1);
	}
	find("main");
	expect(VPROF_EVIDENCE_ITEMS, "list", "-", VPROF_EVIDENCE_HIGH);
}

/* A process for each connection, which begins within its maker's calls: what it has of its own is the request. */
static void test_processes(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\n");
	for (int i = 0; i < 40; i++) {
		uint64_t t = 1000 * (uint64_t)i + 1;
		uint32_t tid = (uint32_t)i + 1;

		vprof_text_addf(&events, "thread child %llu %llu\n", (unsigned long long)t,
				(unsigned long long)t + 500);
		call(t, "main:1 accept_one:1 fork:1", "set_robust_list", 0, 0, tid);
		call(t + 10, "main:1 accept_one:2 serve:1", "read", tid, 0, tid);
		call(t + 100, "main:1 accept_one:2 serve:2", "write", tid, 1, tid);
	}
	find("main");
	expect(VPROF_EVIDENCE_CALL, "serve", "-", VPROF_EVIDENCE_HIGH);
	assert_int_equal(found.n_requests, 40);
	assert_true(found.has_processes);
}

/* A thread that sleeps in the receipt: the request begins behind the function that received it. */
static void test_waits(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread worker 0 1000000\n");
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = 100 * i;
		struct vprof_transfer *x;

		vprof_text_addf(&events, "event %llu main:1 serve:1 get:1 | sys_read:0 ; new\n", (unsigned long long)t);
		vprof_text_addf(&events, "event %llu main:1 serve:1 get:1 | sys_read:0 wait:1 ; held\n",
				(unsigned long long)t + 1);
		vprof_text_addf(&events, "event %llu main:1 serve:1 get:1 | sys_read:0 wait:1 ; held off\n",
				(unsigned long long)t + 50);
		vprof_text_addf(&events, "event %llu main:1 serve:1 get:1 | sys_read:0 ; held\n",
				(unsigned long long)t + 51);
		x = VPROF_PUSH(&transfers);
		*x = (struct vprof_transfer){ .from = t, .t = t + 51, .connection = 7, .tid = 1, .bytes = 10 };
		call(t + 60, "main:1 serve:2 put:1", "write", 7, 1, 1);
		call(t + 70, "main:2 tick:1", "getpid", 0, 0, 1);
	}
	find("");
	expect(VPROF_EVIDENCE_SPLIT, "get", "serve", VPROF_EVIDENCE_HIGH);
	assert_true(found.waits);
	assert_false(found.is_left);
}

/* The loop receives itself, and calls a function that replies. */
static void test_loop_receives(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread worker 0 1000000\n");
	for (uint64_t i = 0; i < 40; i++) {
		call(100 * i + 1, "main:1", "read", 7, 0, 1);
		call(100 * i + 30, "main:2 answer:1", "pread", 0, 0, 1);
		call(100 * i + 60, "main:2 answer:2 put:1", "write", 7, 1, 1);
	}
	find("main");
	expect(VPROF_EVIDENCE_CALL, "answer", "-", VPROF_EVIDENCE_HIGH);
}

/* The stacks of replies are not known (cut): what was there before and behind them encloses them. */
static void test_unknown_reply(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread worker 0 1000000\n");
	for (uint64_t i = 0; i < 40; i++) {
		struct vprof_transfer *x;

		call(100 * i + 1, "main:1", "epoll_wait", 0, 0, 1);
		call(100 * i + 10, "main:2 serve:1", "read", 7, 0, 1);
		x = VPROF_PUSH(&transfers);
		*x = (struct vprof_transfer){
			.from = 100 * i + 20, .t = 100 * i + 30, .connection = 7, .tid = 1, .is_send = 1, .bytes = 9
		};
		call(100 * i + 40, "main:2 serve:1", "read", 0, 0, 1);
	}
	find("main");
	expect(VPROF_EVIDENCE_CALL, "serve", "-", VPROF_EVIDENCE_HIGH);
}

/* One turn of a loop for each request: the turn waits for it, so it is not the request. */
static void test_turns(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 1000000\nthread loop 0 1000000\n");
	for (uint64_t i = 0; i < 40; i++) {
		call(100 * i + 1, "main:1 turn:1", "epoll_wait", 0, 0, 1);
		call(100 * i + 10, "main:1 turn:2 handle:1", "read", 7, 0, 1);
		call(100 * i + 40, "main:1 turn:2 handle:2", "write", 7, 1, 1);
		call(100 * i + 60, "main:2", "getpid", 0, 0, 1);
	}
	find("main");
	expect(VPROF_EVIDENCE_CALL, "handle", "-", VPROF_EVIDENCE_HIGH);
}

static void test_nothing(void **state)
{
	(void)state;
	vprof_text_add(&events, "recording 0 100\n");
	find("");
	expect(VPROF_EVIDENCE_NONE, "-", "-", VPROF_EVIDENCE_LOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_worker, setup, release),
		cmocka_unit_test_setup_teardown(test_not_project, setup, release),
		cmocka_unit_test_setup_teardown(test_few, setup, release),
		cmocka_unit_test_setup_teardown(test_event_loop, setup, release),
		cmocka_unit_test_setup_teardown(test_hand_over, setup, release),
		cmocka_unit_test_setup_teardown(test_behind, setup, release),
		cmocka_unit_test_setup_teardown(test_foreign, setup, release),
		cmocka_unit_test_setup_teardown(test_scheduler, setup, release),
		cmocka_unit_test_setup_teardown(test_unplaced, setup, release),
		cmocka_unit_test_setup_teardown(test_items, setup, release),
		cmocka_unit_test_setup_teardown(test_files, setup, release),
		cmocka_unit_test_setup_teardown(test_files_of_some, setup, release),
		cmocka_unit_test_setup_teardown(test_folders, setup, release),
		cmocka_unit_test_setup_teardown(test_processes, setup, release),
		cmocka_unit_test_setup_teardown(test_waits, setup, release),
		cmocka_unit_test_setup_teardown(test_loop_receives, setup, release),
		cmocka_unit_test_setup_teardown(test_unknown_reply, setup, release),
		cmocka_unit_test_setup_teardown(test_turns, setup, release),
		cmocka_unit_test_setup_teardown(test_nothing, setup, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
