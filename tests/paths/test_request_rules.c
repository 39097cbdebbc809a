/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each rule of algorithm 1 (vPath, section 3.3) and of what goes beyond it, on histories written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "socket_text.h"

static const struct vprof_exchange *exchange(const struct socket_text *s, const char *connection, uint32_t n)
{
	uint32_t found = socket_text_exchange(s, connection, n);

	assert_int_not_equal(found, VPROF_NONE);
	return &s->found.exchanges.v.v[found];
}

/* Figure 1: component I receives X, asks component II by Y, and replies. */
static void test_figure_1(void **state)
{
	struct socket_text s;

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
	assert_int_equal(vprof_exchange_ns(&exchange(&s, "y", 0)->client), 12);
	assert_int_equal(vprof_exchange_ns(&exchange(&s, "y", 0)->server), 8);
	socket_text_release(&s);
}

/* One message takes several sends, and its other end several receives of other sizes. */
static void test_consecutive(void **state)
{
	struct socket_text s;

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
	assert_int_equal(exchange(&s, "x", 0)->request_bytes, 120);
	assert_int_equal(exchange(&s, "x", 0)->reply_bytes, 1010);
	assert_int_equal(exchange(&s, "x", 0)->client.request_from, 10);
	assert_int_equal(exchange(&s, "x", 0)->client.request_to, 12);
	assert_int_equal(exchange(&s, "x", 0)->server.request_from, 15);
	assert_int_equal(exchange(&s, "x", 0)->server.request_to, 16);
	assert_int_equal(exchange(&s, "x", 0)->client.reply_from, 21);
	assert_int_equal(exchange(&s, "x", 0)->client.reply_to, 23);
	assert_string_equal(socket_text_link(&s, "x", 0), "origin");
	socket_text_release(&s);
}

/* A connection that is kept: the n-th request goes with the n-th reply. */
static void test_kept_connection(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "10 one.1 < x 10\n"
			     "11 one.1 > y 5\n"
			     "12 two.1 < y 5\n"
			     "13 two.1 > y 5\n"
			     "14 one.1 < y 5\n"
			     "15 one.1 > y 5\n"
			     "16 two.1 < y 5\n"
			     "17 two.1 > y 5\n"
			     "18 one.1 < y 5\n"
			     "19 one.1 > x 10\n"
			     "30 one.1 < x 10\n"
			     "31 one.1 > x 10\n"
			     "40 one.1 < x 10\n"
			     "41 one.1 > y 5\n"
			     "42 two.1 < y 5\n"
			     "43 two.1 > y 5\n"
			     "44 one.1 < y 5\n"
			     "45 one.1 > x 10\n");
	assert_int_equal(s.found.trees.requests.n, 3);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0 y.1)");
	assert_string_equal(socket_text_tree(&s, 1), "x.1");
	assert_string_equal(socket_text_tree(&s, 2), "x.2(y.2)");
	socket_text_release(&s);
}

/* The client does not wait for a reply before its next request; the server takes one after the other. */
static void test_pipelined_requests(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "conn y one two\n"
			     "10 client.1 > x 100\n"
			     "11 client.1 > x 50\n"
			     "12 one.1 < x 100\n"
			     "13 one.1 > y 5\n"
			     "14 two.1 < y 5\n"
			     "15 two.1 > y 5\n"
			     "16 one.1 < y 5\n"
			     "17 one.1 > x 20\n"
			     "18 one.1 < x 50\n"
			     "19 one.1 > x 30\n"
			     "20 client.1 < x 50\n");
	assert_int_equal(s.found.exchanges.v.n, 3);
	assert_int_equal(exchange(&s, "x", 1)->client.request_from, 11);
	assert_int_equal(exchange(&s, "x", 0)->client.reply_to, 20);
	assert_int_equal(exchange(&s, "x", 1)->client.reply_from, 20);
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_tree(&s, 1), "x.1");
	socket_text_release(&s);
}

/* Parts of a reply are passed on as they come, and another call follows the first part (section 4.4). */
static void test_pipelined_replies(void **state)
{
	struct socket_text s;

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
	socket_text_release(&s);
}

/* A dispatcher receives, workers call and reply; both requests are under way at once, and nobody saw a wake-up. */
static void test_dispatcher(void **state)
{
	struct socket_text s;

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
	socket_text_release(&s);
}

/* The same with the wake-ups: two observations that agree. */
static void test_dispatcher_wakes(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y1 one two\n"
			     "10 one.d < x 10\n"
			     "11 one.d ~ one.1\n"
			     "12 one.d < z 10\n"
			     "13 one.d ~ one.2\n"
			     "14 one.2 ~ one.1\n"
			     "15 one.1 > y1 5\n"
			     "16 two.1 < y1 5\n"
			     "17 two.1 > y1 5\n"
			     "18 one.1 < y1 5\n"
			     "20 one.2 > z 10\n"
			     "21 one.1 > x 10\n");
	assert_string_equal(socket_text_link(&s, "y1", 0), "x.0 thread");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
	socket_text_release(&s);
}

/* A worker that is still busy when its next request comes in: what it does until then is for the one before. */
static void test_busy_worker(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn z - one\n"
			     "conn y one two\n"
			     "10 one.d < x 10\n"
			     "11 one.d < z 10\n"
			     "12 one.1 > y 5\n"
			     "13 two.1 < y 5\n"
			     "14 two.1 > y 5\n"
			     "15 one.1 < y 5\n"
			     "16 one.1 > x 10\n"
			     "17 one.1 > y 5\n"
			     "18 two.1 < y 5\n"
			     "19 two.1 > y 5\n"
			     "20 one.1 < y 5\n"
			     "21 one.1 > z 10\n");
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_tree(&s, 1), "z.0(y.1)");
	socket_text_release(&s);
}

/* A request comes back to the tier where it began (figure 10 visits components more than once). */
static void test_recursion(void **state)
{
	struct socket_text s;

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
			     "15 one.2 > w 5\n"
			     "16 two.2 < w 5\n"
			     "17 two.2 > w 5\n"
			     "18 one.2 < w 5\n"
			     "19 one.2 > z 5\n"
			     "20 two.1 < z 5\n"
			     "21 two.1 > y 5\n"
			     "22 one.1 < y 5\n"
			     "23 one.1 > x 10\n");
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0(z.0(w.0)))");
	socket_text_release(&s);
}

/* Calls leave from threads that the worker made or woke, and that never reply to anybody. */
static void test_several_threads(void **state)
{
	struct socket_text s;

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
	socket_text_release(&s);
}

/* One request alone: whoever calls, calls for it. */
static void test_only_one(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "10 one.1 < x 10\n"
			     "12 one.p > y 5\n"
			     "13 two.1 < y 5\n"
			     "14 two.1 > y 5\n"
			     "15 one.p < y 5\n"
			     "16 one.1 > x 10\n"
			     "20 one.1 < x 10\n"
			     "21 one.p > y 5\n"
			     "22 two.1 < y 5\n"
			     "23 two.1 > y 5\n"
			     "24 one.p < y 5\n"
			     "25 one.p > y 5\n"
			     "26 two.1 < y 5\n"
			     "27 two.1 > y 5\n"
			     "28 one.p < y 5\n"
			     "29 one.1 > x 10\n");
	assert_string_equal(socket_text_link(&s, "y", 0), "x.0 only");
	assert_string_equal(socket_text_link(&s, "y", 1), "x.1 only");
	assert_string_equal(socket_text_link(&s, "y", 2), "x.1 only");
	socket_text_release(&s);
}

/* An event loop: a call belongs to what was received last, which the replies confirm. */
static void test_event_loop(void **state)
{
	struct socket_text s;
	char text[4096] = "conn x - one\nconn z - one\nconn y one two\nconn w one two\n";
	size_t n = strlen(text);

	(void)state;
	for (unsigned int t = 10; t < 10 + 20 * 20; t += 20)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "%u one.l < x 10\n%u one.l > y 5\n"
				      "%u one.l < z 10\n%u one.l > w 5\n"
				      "%u two.1 < y 5\n%u two.2 < w 5\n%u two.2 > w 5\n%u two.1 > y 5\n"
				      "%u one.l < y 5\n%u one.l > x 10\n"
				      "%u one.l < w 5\n%u one.l > z 10\n",
				      t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11);
	socket_text_find(&s, text);
	assert_int_equal(s.found.trees.requests.n, 40);
	for (uint32_t i = 0; i < 20; i++) {
		char wanted[32];

		snprintf(wanted, sizeof wanted, "x.%u(y.%u)", i, i);
		assert_string_equal(socket_text_tree(&s, 2 * i), wanted);
		snprintf(wanted, sizeof wanted, "z.%u(w.%u)", i, i);
		assert_string_equal(socket_text_tree(&s, 2 * i + 1), wanted);
		assert_int_not_equal(s.found.trees.requests.v[2 * i].state, VPROF_REQUEST_AMBIGUOUS);
	}
	socket_text_release(&s);
}

/* An event loop that takes all that is there before it works on any of it: what it received last tells nothing, and the
 * replies show that it does not. */
static void test_event_loop_batches(void **state)
{
	struct socket_text s;
	char text[4096] = "conn x - one\nconn z - one\nconn y one two\nconn w one two\n";
	size_t n = strlen(text);

	(void)state;
	for (unsigned int t = 10; t < 10 + 20 * 20; t += 20)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "%u one.l < x 10\n%u one.l < z 10\n"
				      "%u one.l > y 5\n%u one.l > w 5\n"
				      "%u two.1 < y 5\n%u two.2 < w 5\n%u two.2 > w 5\n%u two.1 > y 5\n"
				      "%u one.l < y 5\n%u one.l < w 5\n"
				      "%u one.l > x 10\n%u one.l > z 10\n",
				      t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11);
	socket_text_find(&s, text);
	for (uint32_t i = 0; i < 20; i++) {
		assert_string_not_equal(socket_text_link(&s, "y", i), "x.0 thread");
		assert_int_equal(s.found.trees.requests.v[2 * i].state, VPROF_REQUEST_AMBIGUOUS);
		assert_int_equal(s.found.trees.requests.v[2 * i + 1].state, VPROF_REQUEST_AMBIGUOUS);
	}
	socket_text_release(&s);
}

/* The same addresses and ports twice: each end goes with the one of its time. */
static void test_ports_used_again(void **state)
{
	struct socket_text s;

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
	assert_int_equal(exchange(&s, "x1", 0)->reply_bytes, 7);
	assert_int_equal(exchange(&s, "x1", 0)->client.reply_to, 13);
	assert_int_equal(exchange(&s, "x2", 0)->client.request_from, 1000);
	assert_int_equal(exchange(&s, "x2", 0)->server.reply_to, 1002);
	socket_text_release(&s);
}

/* Hosts whose clocks differ by more than a request takes. */
static void test_clocks(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one two\n"
			     "host two h2\n"
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
	assert_int_equal(vprof_exchange_ns(&exchange(&s, "y", 1)->server), 2);
	assert_int_equal(vprof_exchange_ns(&exchange(&s, "y", 1)->client), 6);
	socket_text_release(&s);
}

/* The server speaks first, as databases do. */
static void test_greeting(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "conn y one db\n"
			     "10 one.1 < x 10\n"
			     "11 db.1 > y 70\n"
			     "12 one.1 < y 70\n"
			     "13 one.1 > y 5\n"
			     "14 db.1 < y 5\n"
			     "15 db.1 > y 5\n"
			     "16 one.1 < y 5\n"
			     "18 one.1 > x 10\n");
	assert_int_equal(s.found.exchanges.n_greetings, 1);
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.1)");
	socket_text_release(&s);
}

/* Nobody saw who connected: the port that several connections share is the server's. */
static void test_older_connections(void **state)
{
	struct socket_text s;

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
	socket_text_release(&s);
}

/* Bytes that nobody was seen to transfer: the request is not whole. What follows is paired all the same. */
static void test_lost_events(void **state)
{
	struct socket_text s;

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
	assert_int_equal(exchange(&s, "x", 1)->client.request_from, 30);
	assert_int_equal(exchange(&s, "x", 1)->server.reply_to, 32);
	assert_int_equal(s.found.exchanges.n_bytes_missing, 40);
	socket_text_release(&s);
}

/* What the recording's end cut off is no request; what a server does by itself neither. */
static void test_cut_and_outside(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x client one\n"
			     "conn y one two\n"
			     "5 one.t > y 5\n"
			     "6 two.1 < y 5\n"
			     "7 two.1 > y 5\n"
			     "8 one.t < y 5\n"
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
	socket_text_release(&s);
}

/* Links that contradict time form no circle. */
static void test_no_circles(void **state)
{
	struct socket_text s;

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
	socket_text_release(&s);
}

static void test_nothing(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "");
	assert_int_equal(s.found.trees.requests.n, 0);
	socket_text_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_1),
		cmocka_unit_test(test_consecutive),
		cmocka_unit_test(test_kept_connection),
		cmocka_unit_test(test_pipelined_requests),
		cmocka_unit_test(test_pipelined_replies),
		cmocka_unit_test(test_dispatcher),
		cmocka_unit_test(test_dispatcher_wakes),
		cmocka_unit_test(test_busy_worker),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_several_threads),
		cmocka_unit_test(test_only_one),
		cmocka_unit_test(test_event_loop),
		cmocka_unit_test(test_event_loop_batches),
		cmocka_unit_test(test_ports_used_again),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_greeting),
		cmocka_unit_test(test_older_connections),
		cmocka_unit_test(test_lost_events),
		cmocka_unit_test(test_cut_and_outside),
		cmocka_unit_test(test_no_circles),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
