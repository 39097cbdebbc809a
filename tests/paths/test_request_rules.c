/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each rule of algorithm 1 (vPath, section 3.3) and of what goes beyond it, on histories written by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "socket_text.h"

static struct socket_text s; /* of the test that runs */

static int release(void **state)
{
	(void)state;
	socket_text_release(&s);
	return 0;
}

static const struct vprof_exchange *exchange(const char *connection, uint32_t n)
{
	uint32_t found = socket_text_exchange(&s, connection, n);

	assert_int_not_equal(found, VPROF_NONE);
	return &s.found.exchanges.v.v[found];
}

/* Figure 1: component I receives X, asks component II by Y, and replies. */
static void test_figure_1(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "10-20 one.1 < x 100\n"
			     "30 one.1 > y 50\n"
			     "25-32 two.1 < y 50\n"
			     "40 two.1 > y 500\n"
			     "31-42 one.1 < y 500\n"
			     "50-51 one.1 > x 900\n");
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_link(&s, "y", 0), "x.0 thread");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
	/* a receive happened when it ended */
	assert_int_equal(s.found.trees.requests.v[0].from, 20);
	assert_int_equal(s.found.trees.requests.v[0].to, 51);
	assert_int_equal(vprof_exchange_ns(&exchange("y", 0)->client), 12);
	assert_int_equal(vprof_exchange_ns(&exchange("y", 0)->server), 8);
}

/* One message takes several sends, and its other end several receives of other sizes. */
static void test_consecutive(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "10 client.1 > x 60\n"
			     "12 client.1 > x 60\n"
			     "15 one.1 < x 100\n"
			     "16 one.1 < x 20\n"
			     "20 one.1 > x 10\n"
			     "22 one.1 > x 1000\n"
			     "21 client.1 < x 5\n"
			     "23 client.1 < x 1005\n");
	assert_int_equal(s.found.exchanges.v.n, 1);
	assert_int_equal(exchange("x", 0)->request_bytes, 120);
	assert_int_equal(exchange("x", 0)->reply_bytes, 1010);
	assert_int_equal(exchange("x", 0)->client.request_from, 10);
	assert_int_equal(exchange("x", 0)->client.request_to, 12);
	assert_int_equal(exchange("x", 0)->server.request_from, 15);
	assert_int_equal(exchange("x", 0)->server.request_to, 16);
	assert_int_equal(exchange("x", 0)->client.reply_from, 21);
	assert_int_equal(exchange("x", 0)->client.reply_to, 23);
	assert_string_equal(socket_text_link(&s, "x", 0), "origin");
}

/* A connection that is kept: the n-th request goes with the n-th reply. */
static void test_kept_connection(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "10 one.1 < x 10\n"
			     "call 11 one.1 y two.1\n"
			     "call 15 one.1 y two.1\n"
			     "19 one.1 > x 10\n"
			     "30 one.1 < x 10\n"
			     "31 one.1 > x 10\n"
			     "40 one.1 < x 10\n"
			     "call 41 one.1 y two.1\n"
			     "45 one.1 > x 10\n");
	assert_int_equal(s.found.trees.requests.n, 3);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0 y.1)");
	assert_string_equal(socket_text_tree(&s, 1), "x.1");
	assert_string_equal(socket_text_tree(&s, 2), "x.2(y.2)");
}

/* The recorder told when a send had ended: its receiver was quicker. */
static void test_send_told_late(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "14-15 client.1 > x 100\n"
			     "12 one.1 < x 60\n"
			     "13 one.1 < x 40\n"
			     "23-24 one.1 > x 20\n"
			     "22 client.1 < x 20\n"
			     "35 client.1 > x 100\n"
			     "36 one.1 < x 100\n"
			     "37 one.1 > x 20\n"
			     "38 client.1 < x 20\n");
	assert_int_equal(s.found.exchanges.v.n, 2);
	assert_int_equal(exchange("x", 0)->client.request_from, 11);
	assert_int_equal(exchange("x", 0)->server.request_from, 12);
	assert_int_equal(exchange("x", 0)->server.reply_from, 21);
	assert_int_equal(exchange("x", 0)->client.reply_to, 22);
	assert_int_equal(exchange("x", 1)->client.request_from, 35);
}

/* The client does not wait for a reply before its next request; the server takes one after the other. */
static void test_pipelined_requests(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "conn y one two\n"
			     "10 client.1 > x 100\n"
			     "11 client.1 > x 50\n"
			     "12 one.1 < x 100\n"
			     "call 13 one.1 y two.1\n"
			     "17 one.1 > x 20\n"
			     "18 one.1 < x 50\n"
			     "19 one.1 > x 30\n"
			     "20 client.1 < x 50\n");
	assert_int_equal(s.found.exchanges.v.n, 3);
	assert_int_equal(exchange("x", 1)->client.request_from, 11);
	assert_int_equal(exchange("x", 0)->client.reply_to, 20);
	assert_int_equal(exchange("x", 1)->client.reply_from, 20);
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_tree(&s, 1), "x.1");
}

/* Parts of a reply are passed on as they come, and another call follows the first part (section 4.4). */
static void test_pipelined_replies(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "10 one.1 < x 100\n"
			     "11 one.1 > y 5\n"
			     "12 two.1 < y 5\n"
			     "13 two.1 > y 100\n"
			     "14 one.1 < y 100\n"
			     "15 one.1 > x 100\n"
			     "16 two.1 > y 100\n"
			     "17 one.1 < y 100\n"
			     "18 one.1 > x 100\n"
			     "19 one.1 > y 5\n"
			     "20 two.1 < y 5\n"
			     "21 two.1 > y 100\n"
			     "22 one.1 < y 100\n"
			     "23 one.1 > x 100\n");
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0 y.1)");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
	assert_int_equal(s.found.trees.requests.v[0].to, 23);
}

/* A dispatcher receives, workers call and reply; both requests are under way at once, and nobody saw a wake-up. */
static void test_dispatcher(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y1 one two\n"
			     "conn y2 one two\n"
			     "10 one.d < x 10\n"
			     "11 one.d < z 10\n"
			     "12 one.1 > y1 5\n"
			     "13 one.2 > y2 5\n"
			     "14 two.1 < y1 5\n"
			     "15 two.2 < y2 5\n"
			     "16 two.2 > y2 5\n"
			     "17 two.1 > y1 5\n"
			     "18 one.2 < y2 5\n"
			     "19 one.1 < y1 5\n"
			     "20 one.2 > z 10\n"
			     "21 one.1 > x 10\n");
	assert_string_equal(socket_text_link(&s, "y1", 0), "x.0 reply");
	assert_string_equal(socket_text_link(&s, "y2", 0), "z.0 reply");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_INFERRED);
}

/* The same with the wake-ups: two observations that agree. */
static void test_dispatcher_wakes(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y1 one two\n"
			     "10 one.d < x 10\n"
			     "11 one.d ~ one.1\n"
			     "12 one.d < z 10\n"
			     "13 one.d ~ one.2\n"
			     "14 one.2 ~ one.1\n"
			     "call 15 one.1 y1 two.1\n"
			     "20 one.2 > z 10\n"
			     "21 one.1 > x 10\n");
	assert_string_equal(socket_text_link(&s, "y1", 0), "x.0 thread");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
}

/* z came after x, but if its thread kept it until its reply, that called for it before the thread that replied to x had
 * x. So threads may pass requests on, if they wake one another; whether they do is not known. */
static void expect_taken(const char *wake, const char *link)
{
	char text[512];

	snprintf(text, sizeof text,
		 "conn a - one\nconn b - one\nconn x - one\nconn z - one\nconn y one two\n"
		 "1 one.d < a 10\n2 one.d < b 10\n3 one.d < x 10\n4 one.d < z 10\n%s20 one.2 > a 10\n"
		 "call 30 one.2 y two.1\n50 one.1 > b 10\n60 one.1 > x 10\n70 one.2 > z 10\n",
		 wake);
	socket_text_find(&s, text);
	assert_string_equal(socket_text_link(&s, "y", 0), link);
}

static void test_order_of_taking(void **state)
{
	(void)state;
	expect_taken("", "z.0 reply");
	socket_text_release(&s);
	expect_taken("5 one.1 ~ one.2\n", "ambiguous");
}

/* A worker that is still busy when its next request comes in: what it does until then is for the one before. */
static void test_busy_worker(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y one two\n"
			     "10 one.d < x 10\n"
			     "11 one.d < z 10\n"
			     "call 12 one.1 y two.1\n"
			     "16 one.1 > x 10\n"
			     "call 17 one.1 y two.1\n"
			     "21 one.1 > z 10\n");
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_tree(&s, 1), "z.0(y.1)");
}

/* It found its request without having slept, calls for it, and then waits for a lock, until one wakes it that has
 * another request: it has not been given that. */
static void test_busy_worker_at_lock(void **state)
{
	(void)state;
	socket_text_find(&s, "conn a - one\n"
			     "conn x - one\n"
			     "conn z - one\n"
			     "conn y one two\n"
			     "1 one.d < a 10\n"
			     "2 one.d ~ one.1 7\n"
			     "3 one.d < x 10\n"
			     "4 one.1 > a 10\n"
			     "5 one.d < z 10\n"
			     "6 one.d ~ one.2 7\n"
			     "call 10 one.1 y two.1\n"
			     "20 one.d ~ one.1 9\n"
			     "30 one.1 > x 10\n"
			     "40 one.2 > z 10\n");
	assert_string_equal(socket_text_link(&s, "y", 0), "x.0 reply");
}

/* A request comes back to the tier where it began (figure 10 visits components more than once). */
static void test_recursion(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "conn z two one\n"
			     "conn w one two\n"
			     "10 one.1 < x 10\n"
			     "11 one.1 > y 5\n"
			     "12 two.1 < y 5\n"
			     "13 two.1 > z 5\n"
			     "14 one.2 < z 5\n"
			     "call 15 one.2 w two.2\n"
			     "19 one.2 > z 5\n"
			     "20 two.1 < z 5\n"
			     "21 two.1 > y 5\n"
			     "22 one.1 < y 5\n"
			     "23 one.1 > x 10\n");
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0(z.0(w.0)))");
}

/* Calls leave from threads that the worker made or woke, and that never reply to anybody. */
static void test_several_threads(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y1 one two\n"
			     "conn y2 one two\n"
			     "10 one.1 < x 10\n"
			     "11 one.2 < z 10\n"
			     "12 one.1 + one.h\n"
			     "13 one.2 ~ one.p\n"
			     "14 one.h > y1 5\n"
			     "15 one.p > y2 5\n"
			     "16 two.1 < y1 5\n"
			     "17 two.2 < y2 5\n"
			     "18 two.1 > y1 5\n"
			     "19 two.2 > y2 5\n"
			     "20 one.h < y1 5\n"
			     "21 one.p < y2 5\n"
			     "22 one.1 > x 10\n"
			     "23 one.2 > z 10\n");
	assert_string_equal(socket_text_link(&s, "y1", 0), "x.0 created");
	/* Nothing shows how far a wake-up can be trusted: no reply was sent by a thread that was woken. */
	assert_string_equal(socket_text_link(&s, "y2", 0), "ambiguous");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_AMBIGUOUS);
	assert_int_equal(s.found.trees.requests.v[1].state, VPROF_REQUEST_AMBIGUOUS);
	assert_int_equal(s.found.trees.n_detached, 1);
}

/* One request alone: whoever calls, calls for it. */
static void test_only_one(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "10 one.1 < x 10\n"
			     "call 12 one.p y two.1\n"
			     "16 one.1 > x 10\n"
			     "20 one.1 < x 10\n"
			     "call 21 one.p y two.1\n"
			     "call 25 one.p y two.1\n"
			     "29 one.1 > x 10\n");
	assert_string_equal(socket_text_link(&s, "y", 0), "x.0 only");
	assert_string_equal(socket_text_link(&s, "y", 1), "x.1 only");
	assert_string_equal(socket_text_link(&s, "y", 2), "x.1 only");
}

/* Twenty rounds of an event loop. events: of a round, one after the other, without their times. */
static void find_rounds(const char *const events[12])
{
	char text[8192] = "conn x - one\nconn z - one\nconn y one two\nconn w one two\n";
	size_t n = strlen(text);

	for (unsigned int round = 0; round < 20; round++)
		for (unsigned int i = 0; i < 12; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%u %s\n", 10 + round * 20 + i, events[i]);
	assert_true(n < sizeof text);
	socket_text_find(&s, text);
}

/* An event loop: a call belongs to what was received last, which the replies confirm. */
static void test_event_loop(void **state)
{
	(void)state;
	find_rounds((const char *const[]){ "one.l < x 10", "one.l > y 5", "one.l < z 10", "one.l > w 5", "two.1 < y 5",
					   "two.2 < w 5", "two.2 > w 5", "two.1 > y 5", "one.l < y 5", "one.l > x 10",
					   "one.l < w 5", "one.l > z 10" });
	assert_int_equal(s.found.trees.requests.n, 40);
	for (uint32_t i = 0; i < 20; i++) {
		char wanted[32];

		snprintf(wanted, sizeof wanted, "x.%u(y.%u)", i, i);
		assert_string_equal(socket_text_tree(&s, 2 * i), wanted);
		snprintf(wanted, sizeof wanted, "z.%u(w.%u)", i, i);
		assert_string_equal(socket_text_tree(&s, 2 * i + 1), wanted);
		assert_int_not_equal(s.found.trees.requests.v[2 * i].state, VPROF_REQUEST_AMBIGUOUS);
	}
}

/* An event loop that takes all that is there before it works on any of it: what it received last tells nothing, and the
 * replies show that it does not. */
static void test_event_loop_batches(void **state)
{
	(void)state;
	find_rounds((const char *const[]){ "one.l < x 10", "one.l < z 10", "one.l > y 5", "one.l > w 5", "two.1 < y 5",
					   "two.2 < w 5", "two.2 > w 5", "two.1 > y 5", "one.l < y 5", "one.l < w 5",
					   "one.l > x 10", "one.l > z 10" });
	for (uint32_t i = 0; i < 20; i++) {
		assert_string_not_equal(socket_text_link(&s, "y", i), "x.0 thread");
		assert_int_equal(s.found.trees.requests.v[2 * i].state, VPROF_REQUEST_AMBIGUOUS);
		assert_int_equal(s.found.trees.requests.v[2 * i + 1].state, VPROF_REQUEST_AMBIGUOUS);
	}
}

/* The same addresses and ports twice: each end goes with the one of its time. */
static void test_ports_used_again(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x1 client one port 5000\n"
			     "conn x2 client one port 5000\n"
			     "10 client.1 > x1 100\n"
			     "11 one.1 < x1 100\n"
			     "12 one.1 > x1 7\n"
			     "13 client.1 < x1 7\n"
			     "1000 client.1 > x2 100\n"
			     "1001 one.1 < x2 100\n"
			     "1002 one.1 > x2 9\n"
			     "1003 client.1 < x2 9\n");
	assert_int_equal(s.found.connections.v.n, 2);
	assert_int_equal(exchange("x1", 0)->reply_bytes, 7);
	assert_int_equal(exchange("x1", 0)->client.reply_to, 13);
	assert_int_equal(exchange("x2", 0)->client.request_from, 1000);
	assert_int_equal(exchange("x2", 0)->server.reply_to, 1002);
}

/* Hosts whose clocks differ by more than a request takes. */
static void test_clocks(void **state)
{
	(void)state;
	socket_text_find(&s, "host two h2\n"
			     "conn x - one\n"
			     "conn y one two\n"
			     "10 one.1 < x 10\n"
			     "11 one.1 > y 5\n"
			     "5002 two.1 < y 5\n"
			     "5004 two.1 > y 5\n"
			     "17 one.1 < y 5\n"
			     "18 one.1 > x 10\n"
			     "30 one.1 < x 10\n"
			     "31 one.1 > y 5\n"
			     "5022 two.1 < y 5\n"
			     "5024 two.1 > y 5\n"
			     "37 one.1 < y 5\n"
			     "38 one.1 > x 10\n");
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_tree(&s, 1), "x.1(y.1)");
	assert_int_equal(vprof_exchange_ns(&exchange("y", 1)->server), 2);
	assert_int_equal(vprof_exchange_ns(&exchange("y", 1)->client), 6);
}

static void expect_clock(uint32_t host, double ahead, uint64_t n_messages)
{
	const struct vprof_host_clock *clock = &s.found.clocks.v.v[host];

	assert_true(clock->is_known);
	assert_int_equal(clock->n_messages, n_messages);
	assert_true(clock->error_ns >= 0);
	assert_true(fabs(clock->ahead_ns - ahead) <= clock->error_ns + 0.01);
}

/* A send counts from when its last packet left: its receiver may have had the first ones before. */
static void test_clocks_long_reply(void **state)
{
	(void)state;
	socket_text_find(&s, "host two h2\n"
			     "conn y one two\n"
			     "11 one.1 > y 5\n"
			     "5012 two.1 < y 5\n"
			     "18 one.1 < y 10\n"
			     "5020 two.1 > y 60\n"
			     "21 one.1 < y 50\n");
	expect_clock(1, 5000, 2);
}

/* A firewall makes the numbers of x's ends unlike: nobody knows which receive belongs to which send. y tells alone. */
static void expect_other_numbers(const char *shift)
{
	char text[1000];

	snprintf(text, sizeof text,
		 "host two h2\n"
		 "conn x one two\n"
		 "conn y one two\n"
		 "shift x %s\n"
		 "10 one.1 > x 50\n"
		 "5011 two.1 < x 50\n"
		 "5012 two.1 > x 50\n"
		 "13 one.1 < x 50\n"
		 "14 one.1 > y 5\n"
		 "5015 two.1 < y 5\n"
		 "5016 two.1 > y 5\n"
		 "17 one.1 < y 5\n"
		 "910 one.1 > x 50\n"
		 "5911 two.1 < x 50\n"
		 "5912 two.1 > x 50\n"
		 "913 one.1 < x 50\n",
		 shift);
	socket_text_find(&s, text);
	expect_clock(1, 5000, 2);
}

static void test_clocks_higher_numbers(void **state)
{
	(void)state;
	expect_other_numbers("1000");
}

static void test_clocks_lower_numbers(void **state)
{
	(void)state;
	expect_other_numbers("-1000");
}

/* A host that only sends is no measure for others, though it is the first. */
static void test_clocks_one_way(void **state)
{
	(void)state;
	socket_text_find(&s, "host two h2\n"
			     "host three h3\n"
			     "conn x one two\n"
			     "conn y two three\n"
			     "10 one.1 > x 50\n"
			     "5011 two.1 < x 50\n"
			     "5014 two.1 > y 5\n"
			     "9015 three.1 < y 5\n"
			     "9016 three.1 > y 5\n"
			     "5017 two.1 < y 5\n");
	assert_false(s.found.clocks.v.v[0].is_known);
	assert_true(s.found.clocks.v.v[1].is_known);
	expect_clock(2, 4000, 2);
}

/* The server speaks first, as databases do. */
static void test_greeting(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one db\n"
			     "10 one.1 < x 10\n"
			     "11 db.1 > y 70\n"
			     "12 one.1 < y 70\n"
			     "call 13 one.1 y db.1\n"
			     "18 one.1 > x 10\n");
	assert_int_equal(s.found.exchanges.n_greetings, 1);
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.1)");
}

/* Nobody saw who connected: the port that several connections share is the server's. */
static void test_older_connections(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x client one later port 70\n"
			     "conn y client one later port 71\n"
			     "10 client.1 > x 10\n"
			     "11 one.1 < x 10\n"
			     "12 one.1 > x 10\n"
			     "13 client.1 < x 10\n"
			     "14 client.1 > y 10\n"
			     "15 one.1 < y 10\n"
			     "16 one.1 > y 10\n"
			     "17 client.1 < y 10\n");
	assert_int_equal(s.found.connections.n_guessed, 2);
	assert_int_equal(s.found.trees.requests.n, 2);
}

/* Bytes that nobody was seen to transfer: the request is not whole. What follows is paired all the same. */
static void test_lost_events(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "10 client.1 > x 10\n"
			     "11 one.1 < x 10\n"
			     "12 one.1 > x 10\n"
			     "13 client.1 < x 10\n"
			     "skip x up 40\n"
			     "20 one.1 > x 10\n"
			     "21 client.1 < x 10\n"
			     "30 client.1 > x 10\n"
			     "31 one.1 < x 10\n"
			     "32 one.1 > x 10\n"
			     "33 client.1 < x 10\n");
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_true(s.found.trees.requests.v[0].is_whole);
	assert_int_equal(exchange("x", 1)->client.request_from, 30);
	assert_int_equal(exchange("x", 1)->server.reply_to, 32);
	assert_int_equal(s.found.exchanges.n_bytes_missing, 40);
}

/* What the recording's end cut off is no request; what a server does by itself neither. */
static void test_cut_and_outside(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "conn y one two\n"
			     "call 5 one.t y two.1\n"
			     "10 client.1 > x 10\n"
			     "11 one.1 < x 10\n"
			     "12 one.1 > x 10\n"
			     "13 client.1 < x 10\n"
			     "20 client.1 > x 10\n"
			     "21 one.1 < x 10\n");
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_int_equal(s.found.trees.n_cut, 1);
	assert_int_equal(s.found.trees.n_outside, 1);
	assert_string_equal(socket_text_link(&s, "y", 0), "outside");
}

/* Links that contradict time form no circle. */
static void test_no_circles(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x one two\n"
			     "conn y two one\n"
			     "10 one.1 < y 5\n"
			     "11 one.1 > x 5\n"
			     "9 two.1 < x 5\n"
			     "10 two.1 > y 5\n"
			     "12 two.1 < y 5\n"
			     "13 two.1 > x 5\n"
			     "14 one.1 < x 5\n"
			     "15 one.1 > y 5\n");
	assert_int_equal(s.found.trees.n_circular, 1);
}

static void test_nothing(void **state)
{
	(void)state;
	socket_text_find(&s, "");
	assert_int_equal(s.found.trees.requests.n, 0);
}

/* A thread that calls and never replies: the program says for whom it works. */
static void test_marked_work(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y1 one two\n"
			     "conn y2 one two\n"
			     "10 one.d < x 10\n"
			     "11 one.d < z 10\n"
			     "12-22 one.1 * 0\n"
			     "12-22 one.2 * 1\n"
			     "call 15 one.1 y1 two.1\n"
			     "call 16 one.2 y2 two.2\n"
			     "23-40 one.s * 1\n"
			     "41-50 one.s * 0\n"
			     "30 one.s > z 10\n"
			     "45 one.s > x 10\n");
	assert_string_equal(socket_text_link(&s, "y1", 0), "x.0 marked");
	assert_string_equal(socket_text_link(&s, "y2", 0), "z.0 marked");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
}

/* An interval in which several requests are replied to says nothing. */
static void test_marks_of_several(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "1-100 one.1 * 0\n"
			     "10 one.1 < x 10\n"
			     "call 15 one.1 y two.1\n"
			     "20 one.1 > x 10\n"
			     "30 one.1 < x 10\n"
			     "call 35 one.1 y two.1\n"
			     "40 one.1 > x 10\n");
	assert_string_equal(socket_text_link(&s, "y", 0), "x.0 thread");
	assert_string_equal(socket_text_link(&s, "y", 1), "x.1 thread");
}

/* ... or it names its queues, through which requests pass out of order. */
static void test_named_queues(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y1 one two\n"
			     "conn y2 one two\n"
			     "10 one.d < x 10\n"
			     "11-14 one.d ! one.1\n"
			     "12 one.d < z 10\n"
			     "13-15 one.d ! one.2\n"
			     "call 16 one.1 y1 two.1\n"
			     "call 17 one.2 y2 two.2\n"
			     "21-31 one.1 ! one.s\n"
			     "22-25 one.2 ! one.s\n"
			     "30 one.s > z 10\n"
			     "45 one.s > x 10\n");
	assert_string_equal(socket_text_link(&s, "y1", 0), "x.0 handed");
	assert_string_equal(socket_text_link(&s, "y2", 0), "z.0 handed");
}

/* A place where threads are woken that then reply to other requests is a lock's; a queue is where they reply to their
 * waker's. Once that is known, who wakes a caller tells its request, and so does who replies to what it passes on. */
static void test_wake_places(void **state)
{
	char text[8192], line[400];

	(void)state;
	strcpy(text, "conn x - one\nconn z - one\nconn y1 one two\nconn y2 one two\n");
	for (int i = 0; i < 20; i++) {
		int t = 100 * i;

		snprintf(
			line, sizeof line,
			"%d one.d < x 10\n%d one.d ~ one.1 7\n%d one.d < z 10\n%d one.d ~ one.1 9\n%d one.d ~ one.2 7\n"
			"call %d one.1 y1 two.1\ncall %d one.2 y2 two.2\n%d one.1 ~ one.s 8\n%d one.s > x 10\n"
			"%d one.2 ~ one.s 8\n%d one.s > z 10\n",
			t + 10, t + 11, t + 12, t + 13, t + 14, t + 20, t + 21, t + 30, t + 32, t + 33, t + 35);
		strcat(text, line);
	}
	socket_text_find(&s, text);
	for (uint32_t i = 0; i < 20; i++) {
		char wanted[32];

		snprintf(wanted, sizeof wanted, "x.%u handed", i);
		assert_string_equal(socket_text_link(&s, "y1", i), wanted);
	}
}

/* Requests that a client sends without waiting, taken by one receive. How both send else shows that each send is one.
 */
static void test_taken_together(void **state)
{
	(void)state;
	socket_text_find(&s, "conn x user one\n"
			     "conn y one two\n"
			     "10 user.1 > x 10\n11 one.1 < x 10\n12 one.1 > x 10\n13 user.1 < x 10\n"
			     "20 user.1 > x 10\n21 one.1 < x 10\n22 one.1 > x 10\n23 user.1 < x 10\n"
			     "30 user.1 > x 10\n31 one.1 < x 10\n32 user.1 > x 10\n33 one.1 > x 10\n34 one.1 < x 10\n"
			     "35 one.1 > x 10\n36 user.1 < x 20\n"
			     "40 user.1 > x 10\n41 user.1 > x 10\n42 user.1 > x 10\n43 one.1 < x 30\n44 one.1 > x 10\n"
			     "call 45 one.1 y two.1\n50 one.1 > x 10\n51 one.1 > x 10\n60 user.1 < x 30\n");
	assert_int_equal(s.found.trees.requests.n, 7);
	assert_int_equal(s.found.exchanges.n_divided, 3);
	assert_string_equal(socket_text_link(&s, "y", 0), "x.5 thread");
}

#define RULE(test) cmocka_unit_test_teardown(test, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(test_figure_1),
		RULE(test_consecutive),
		RULE(test_kept_connection),
		RULE(test_send_told_late),
		RULE(test_pipelined_requests),
		RULE(test_pipelined_replies),
		RULE(test_dispatcher),
		RULE(test_dispatcher_wakes),
		RULE(test_busy_worker),
		RULE(test_busy_worker_at_lock),
		RULE(test_recursion),
		RULE(test_several_threads),
		RULE(test_only_one),
		RULE(test_event_loop),
		RULE(test_event_loop_batches),
		RULE(test_ports_used_again),
		RULE(test_clocks),
		RULE(test_clocks_long_reply),
		RULE(test_clocks_higher_numbers),
		RULE(test_clocks_lower_numbers),
		RULE(test_clocks_one_way),
		RULE(test_greeting),
		RULE(test_older_connections),
		RULE(test_lost_events),
		RULE(test_cut_and_outside),
		RULE(test_no_circles),
		RULE(test_nothing),
		RULE(test_marked_work),
		RULE(test_marks_of_several),
		RULE(test_named_queues),
		RULE(test_wake_places),
		RULE(test_taken_together),
		RULE(test_order_of_taking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
