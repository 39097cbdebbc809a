/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of event loops that work for several requests at once: which request each is for, on histories written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "socket_text.h"

#define ROUNDS 20
#define ROUND_NS 40

/* events() writes what happens in each round; requests come by x and z, and others by v, q and k. */
static void find_all(struct socket_text *s, const char *before, size_t (*events)(char *, size_t, uint32_t, uint32_t))
{
	size_t size = 1 << 16, n = 0;
	char *text = malloc(size);

	assert_non_null(text);
	n += (size_t)snprintf(text, size, "conn x - one\nconn z - one\n%s", before);
	for (uint32_t i = 0; i < ROUNDS; i++)
		n += events(text + n, size - n, i, 10 + i * ROUND_NS);
	assert_true(n < size);
	socket_text_find(s, text);
	free(text);
}

/* In each round requests come by x and z only. */
static void find_rounds(struct socket_text *s, const char *before, size_t (*events)(char *, size_t, uint32_t, uint32_t))
{
	find_all(s, before, events);
	assert_int_equal(s->found.trees.requests.n, 2 * ROUNDS);
}

static void expect_round(const struct socket_text *s, uint32_t i, const char *x_calls, const char *z_calls)
{
	char wanted[64];

	snprintf(wanted, sizeof wanted, "x.%u(%s)", i, x_calls);
	assert_string_equal(socket_text_tree(s, 2 * i), wanted);
	snprintf(wanted, sizeof wanted, "z.%u(%s)", i, z_calls);
	assert_string_equal(socket_text_tree(s, 2 * i + 1), wanted);
	for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
		assert_int_not_equal(s->found.trees.requests.v[k].state, VPROF_REQUEST_AMBIGUOUS);
}

static void expect_link(const struct socket_text *s, const char *call, uint32_t nth, const char *visit, uint32_t i,
			const char *how)
{
	char wanted[32];

	snprintf(wanted, sizeof wanted, "%s.%u %s", visit, i, how);
	assert_string_equal(socket_text_link(s, call, nth), wanted);
}

/* In every round the request that came by x called over y, and that by z over w. */
static void expect_calls_of_both(size_t (*events)(char *to, size_t size, uint32_t i, uint32_t t))
{
	struct socket_text s;

	find_rounds(&s, "", events);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char y[16], w[16];

		snprintf(y, sizeof y, "y%u.0", i);
		snprintf(w, sizeof w, "w%u.0", i);
		expect_round(&s, i, y, w);
	}
	socket_text_release(&s);
}

/* A connection is asked for while nobody waits for it; when it is there, another request has been received. */
static size_t connect_without_waiting(char *to, size_t size, uint32_t i, uint32_t t)
{
	return (size_t)snprintf(to, size,
				"conn y%u one two\nconn w%u one two\n"
				"%u one.l < x 10\nask y%u %u\n"
				"%u one.l < z 10\nask w%u %u\n"
				"%u one.l > y%u 5\n%u one.l > w%u 5\n"
				"%u two.1 < y%u 5\n%u two.2 < w%u 5\n%u two.2 > w%u 5\n%u two.1 > y%u 5\n"
				"%u one.l < w%u 5\n%u one.l > z 10\n"
				"%u one.l < y%u 5\n%u one.l > x 10\n",
				i, i, t, i, t + 1, t + 2, i, t + 3, t + 4, i, t + 5, i, t + 6, i, t + 7, i, t + 8, i,
				t + 9, i, t + 10, i, t + 11, t + 12, i, t + 13);
}

static void test_connect_without_waiting(void **state)
{
	(void)state;
	expect_calls_of_both(connect_without_waiting);
}

/* A reply ends where its connection does, and it is passed on then, when another reply has been received. */
static size_t end_of_connection(char *to, size_t size, uint32_t i, uint32_t t)
{
	return (size_t)snprintf(to, size,
				"conn y%u one two\nconn w%u one two\n"
				"%u one.l < x 10\n%u one.l > y%u 5\n"
				"%u one.l < z 10\n%u one.l > w%u 5\n"
				"%u two.1 < y%u 5\n%u two.2 < w%u 5\n%u two.2 > w%u 5\n%u two.1 > y%u 5\n"
				"%u one.l < y%u 5\n%u one.l < w%u 5\n"
				"%u one.l < y%u 0\n%u one.l > x 10\n"
				"%u one.l < w%u 0\n%u one.l > z 10\n",
				i, i, t, t + 1, i, t + 2, t + 3, i, t + 4, i, t + 5, i, t + 6, i, t + 7, i, t + 8, i,
				t + 9, i, t + 10, i, t + 11, t + 12, i, t + 13);
}

static void test_end_of_connection(void **state)
{
	(void)state;
	expect_calls_of_both(end_of_connection);
}

/* The bytes of both replies come before either ends, and lead to nothing: each is passed on once its connection has
 * ended. The order of calls, and that in which the bytes came, would name the other request. */
static size_t wait_for_end(char *to, size_t size, uint32_t i, uint32_t t)
{
	return (size_t)snprintf(to, size,
				"conn y%u one two\nconn w%u one two\n"
				"%u one.l < x 10\n%u one.l < z 10\n%u one.l > w%u 5\n%u one.l > y%u 5\n"
				"%u one.l < v 10\n%u one.l > v 5\n"
				"%u two.1 < y%u 5\n%u two.2 < w%u 5\n%u two.2 > w%u 5\n%u two.1 > y%u 5\n"
				"%u one.l < y%u 5\n%u one.l < w%u 5\n"
				"%u one.l < w%u 0\n%u one.l > z 10\n"
				"%u one.l < y%u 0\n%u one.l > x 10\n",
				i, i, t, t + 1, t + 2, i, t + 3, i, t + 4, t + 5, t + 6, i, t + 7, i, t + 8, i, t + 9,
				i, t + 10, i, t + 11, i, t + 12, i, t + 13, t + 14, i, t + 15);
}

static void test_wait_for_end(void **state)
{
	struct socket_text s;

	(void)state;
	find_all(&s, "conn v - one\n", wait_for_end);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char y[16], w[16];

		snprintf(y, sizeof y, "y%u", i);
		snprintf(w, sizeof w, "w%u", i);
		expect_link(&s, y, 0, "x", i, "matched");
		expect_link(&s, w, 0, "z", i, "matched");
	}
	socket_text_release(&s);
}

/* Calls one after the other, while those for another request are under way; the end of an idle connection comes between
 * and changes nothing. */
static size_t call_again(char *to, size_t size, uint32_t i, uint32_t t)
{
	return (size_t)snprintf(to, size,
				"conn v%u one two\n"
				"%u one.l < x 10\n%u one.l > y 5\n%u two.1 < y 5\n%u two.1 > y 5\n"
				"%u one.l < z 10\n%u one.l > v%u 5\n%u two.2 < v%u 5\n%u two.2 > v%u 5\n"
				"%u one.l < y 5\n%u one.l > w 5\n%u two.1 < w 5\n"
				"%u one.l < v%u 5\n%u one.l > z 10\n"
				"%u two.1 > w 5\n%u one.l < w 5\n%u one.l < v%u 0\n%u one.l > x 10\n",
				i, t, t + 1, t + 2, t + 3, t + 4, t + 5, i, t + 6, i, t + 7, i, t + 8, t + 9, t + 10,
				t + 11, i, t + 12, t + 13, t + 14, t + 15, i, t + 16);
}

static void test_call_again(void **state)
{
	struct socket_text s;

	(void)state;
	find_rounds(&s, "conn y one two\nconn w one two\n", call_again);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char x[32], z[16];

		snprintf(x, sizeof x, "y.%u w.%u", i, i);
		snprintf(z, sizeof z, "v%u.0", i);
		expect_round(&s, i, x, z);
	}
	socket_text_release(&s);
}

/* It receives all that is there before it sends. Where the replies come one by one, these tell. In the last round they
 * come together, too: then only the order of requests and calls tells, which the other rounds have shown. */
static size_t batches(char *to, size_t size, uint32_t i, uint32_t t)
{
	int is_last = i == ROUNDS - 1;
	size_t n = (size_t)snprintf(to, size,
				    "%u one.l < x 10\n%u one.l < z 10\n%u one.l > y 5\n%u one.l > w 5\n"
				    "%u two.1 < y 5\n%u two.2 < w 5\n%u two.2 > w 5\n%u two.1 > y 5\n",
				    t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7);

	return n + (size_t)snprintf(to + n, size - n,
				    is_last ? "%u one.l < w 5\n%u one.l < y 5\n%u one.l > z 10\n%u one.l > x 10\n" :
					      "%u one.l < w 5\n%u one.l > z 10\n%u one.l < y 5\n%u one.l > x 10\n",
				    t + 8, t + 9, t + 10, t + 11);
}

static void test_batches(void **state)
{
	struct socket_text s;

	(void)state;
	find_rounds(&s, "conn y one two\nconn w one two\n", batches);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char y[16], w[16];

		snprintf(y, sizeof y, "y.%u", i);
		snprintf(w, sizeof w, "w.%u", i);
		expect_round(&s, i, y, w);
		expect_link(&s, "y", i, "x", i, i == ROUNDS - 1 ? "order" : "matched");
	}
	assert_true(s.found.trees.requests.v[2 * ROUNDS - 1].confidence < 0.99F);
	socket_text_release(&s);
}

/* A request whose last bytes are read after the reply to it: they do not begin another one. */
static void test_read_after_reply(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(
		&s, "conn x client one\n"
		    "10 client.1 > x 100\n11 one.1 < x 90\n12 one.1 > x 50\n13 client.1 < x 50\n14 one.1 < x 10\n"
		    "20 client.1 > x 100\n21 one.1 < x 90\n22 one.1 > x 50\n23 client.1 < x 50\n24 one.1 < x 10\n");
	assert_int_equal(s.found.exchanges.v.n, 2);
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_int_equal(s.found.trees.n_cut, 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(s.found.exchanges.v.v[i].request_bytes, 100);
		assert_int_equal(s.found.exchanges.v.v[i].client.request_from, 10 + 10 * i);
		assert_int_equal(s.found.exchanges.v.v[i].server.request_from, 11 + 10 * i);
	}
	socket_text_release(&s);
}

/* The message that ends a connection is not replied to; the request that it was sent for lacks nothing, unless events
 * are missing. */
static void expect_last_message(const char *lost, int is_whole)
{
	struct socket_text s;
	char text[512];

	snprintf(text, sizeof text,
		 "%sconn x - one\nconn y one two\n"
		 "10 one.1 < x 10\n11 one.1 > y 5\n12 two.1 < y 5\n13 two.1 > y 5\n14 one.1 < y 5\n"
		 "15 one.1 > y 1\n16 two.1 < y 1\n17 one.1 > x 10\n",
		 lost);
	socket_text_find(&s, text);
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0 y.1)");
	assert_int_equal(s.found.trees.requests.v[0].is_whole, is_whole);
	socket_text_release(&s);
}

static void test_last_message(void **state)
{
	(void)state;
	expect_last_message("", 1);
	expect_last_message("lost 1\n", 0);
}

/* What it received last and whom it replied to contradict each other: that is told, not decided. */
static size_t contradict(char *to, size_t size, uint32_t i, uint32_t t)
{
	int is_odd = i == ROUNDS - 1;

	return (size_t)snprintf(to, size,
				"%u one.l < x 10\n%u one.l > y 5\n%u one.l < z 10\n%u one.l > w 5\n"
				"%u two.1 < y 5\n%u two.2 < w 5\n%u two.2 > w 5\n%u two.1 > y 5\n"
				"%u one.l < w 5\n%u one.l > %s 10\n%u one.l < y 5\n%u one.l > %s 10\n",
				t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, is_odd ? "x" : "z",
				t + 10, t + 11, is_odd ? "z" : "x");
}

static void test_contradiction(void **state)
{
	struct socket_text s;

	(void)state;
	find_rounds(&s, "conn y one two\nconn w one two\n", contradict);
	for (uint32_t i = 0; i + 1 < ROUNDS; i++) {
		char y[16], w[16];

		snprintf(y, sizeof y, "y.%u", i);
		snprintf(w, sizeof w, "w.%u", i);
		expect_round(&s, i, y, w);
	}
	assert_string_equal(socket_text_link(&s, "y", ROUNDS - 1), "ambiguous");
	assert_string_equal(socket_text_link(&s, "w", ROUNDS - 1), "ambiguous");
	for (uint32_t k = 2 * ROUNDS - 2; k < 2 * ROUNDS; k++)
		assert_int_equal(s.found.trees.requests.v[k].state, VPROF_REQUEST_AMBIGUOUS);
	socket_text_release(&s);
}

/* One request after the other, which shows what becomes of a request of some length; or both at once, in turns that
 * tell nothing: calls in one order and the other, and all replies together. */
static size_t pass_on(char *to, size_t size, uint32_t i, uint32_t t)
{
	int is_apart = i % 2 == 0, is_turned = i % 4 == 1;

	if (is_apart)
		return (size_t)snprintf(
			to, size,
			"%u one.1 < x 10\n%u one.1 > y 15\n%u two.1 < y 15\n%u one.1 < z 20\n%u one.1 > w 25\n%u two.1 > y 5\n"
			"%u one.1 < y 5\n%u one.1 > x 5\n%u two.2 < w 25\n%u two.2 > w 5\n%u one.1 < w 5\n%u one.1 > z 5\n",
			t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11);
	return (size_t)snprintf(
		to, size,
		"%u one.1 < x 10\n%u one.1 < z 20\n%u one.1 > %s\n%u one.1 > %s\n%u two.1 < y 15\n%u two.2 < w 25\n%u two.1 > y 5\n"
		"%u two.2 > w 5\n%u one.1 < y 5\n%u one.1 < w 5\n%u one.1 > z 5\n%u one.1 > x 5\n",
		t, t + 1, t + 2, is_turned ? "w 25" : "y 15", t + 3, is_turned ? "y 15" : "w 25", t + 4, t + 5, t + 6,
		t + 7, t + 8, t + 9, t + 10, t + 11);
}

/* Where neither turns nor order tell, lengths do. */
static void test_lengths(void **state)
{
	struct socket_text s;

	(void)state;
	find_rounds(&s, "conn y one two\nconn w one two\n", pass_on);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char y[16], w[16];

		snprintf(y, sizeof y, "y.%u", i);
		snprintf(w, sizeof w, "w.%u", i);
		expect_round(&s, i, y, w);
	}
	assert_string_equal(socket_text_link(&s, "y", 1), "x.1 length");
	assert_string_equal(socket_text_link(&s, "w", 3), "z.3 length");
	socket_text_release(&s);
}

#define OTHERS                                                                                                         \
	"conn v - one\nconn q - one\nconn k - one\nconn y one two\nconn w one two\nconn u one two\nconn r one two\n"

/* In each round that for x is called over y, that for z over w, and so on. */
static void expect_called(size_t (*events)(char *to, size_t size, uint32_t i, uint32_t t), const char *pairs)
{
	struct socket_text s;

	find_all(&s, OTHERS, events);
	for (uint32_t i = 0; i < ROUNDS; i++)
		for (const char *pair = pairs; *pair; pair += 2) {
			char call[2] = { pair[1], 0 }, wanted[16], link[32];

			snprintf(wanted, sizeof wanted, "%c.%u ", pair[0], i);
			snprintf(link, sizeof link, "%s", socket_text_link(&s, call, i));
			assert_memory_equal(link, wanted, strlen(wanted));
		}
	for (size_t k = 0; k < s.found.trees.requests.n; k++)
		assert_int_not_equal(s.found.trees.requests.v[k].state, VPROF_REQUEST_AMBIGUOUS);
	socket_text_release(&s);
}

/* In every other round the call of the request that came first is made last, since its connection is made first.
 * Replies are passed on in their order, as the known one that comes with another shows. In the last round two come
 * together of which nothing else tells. */
static size_t late_calls(char *to, size_t size, uint32_t i, uint32_t t)
{
	int is_late = i % 2;
	size_t n = (size_t)snprintf(
		to, size,
		"%u one.l < v 10\n%u one.l > u 5\n%u one.l < x 10\n%u one.l < z 10\n%u one.l > %c 5\n%u one.l > %c 5\n"
		"%u two.1 < y 5\n%u two.2 < w 5\n%u two.3 < u 5\n%u two.1 > y 5\n%u two.2 > w 5\n%u two.3 > u 5\n",
		t, t + 1, t + 2, t + 3, t + 4, is_late ? 'w' : 'y', t + 5, is_late ? 'y' : 'w', t + 6, t + 7, t + 8,
		t + 9, t + 10, t + 11);

	return n + (size_t)snprintf(to + n, size - n,
				    i == ROUNDS - 1 ?
					    "%u one.l < w 5\n%u one.l < y 5\n%u one.l > z 10\n%u one.l > x 10\n"
					    "%u one.l < u 5\n%u one.l > v 10\n" :
					    "%u one.l < w 5\n%u one.l < u 5\n%u one.l > z 10\n%u one.l > v 10\n"
					    "%u one.l < y 5\n%u one.l > x 10\n",
				    t + 12, t + 13, t + 14, t + 15, t + 16, t + 17);
}

static void test_late_calls(void **state)
{
	(void)state;
	expect_called(late_calls, "vuxyzw");
}

/* The replies of y and w come one by one, and tell for whom they are. */
static size_t one_by_one(char *to, size_t size, uint32_t t)
{
	return (size_t)snprintf(to, size,
				"%u two.1 < y 5\n%u two.2 < w 5\n%u two.2 > w 5\n%u two.1 > y 5\n"
				"%u one.l < w 5\n%u one.l > z 10\n%u one.l < y 5\n%u one.l > x 10\n",
				t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7);
}

/* It receives a reply and two requests, and has passed on the reply when it receives another request: the requests
 * wait, although they were received later. */
static size_t requests_wait(char *to, size_t size, uint32_t i, uint32_t t)
{
	size_t n = (size_t)snprintf(to, size,
				    "%u one.l < v 10\n%u one.l > u 5\n%u two.3 < u 5\n%u two.3 > u 5\n"
				    "%u one.l < u 5\n%u one.l < x 10\n%u one.l < z 10\n%u one.l > v 10\n"
				    "%u one.l < k 10\n%u one.l > k 10\n%u one.l > y 5\n%u one.l > w 5\n",
				    t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11);

	(void)i;
	return n + one_by_one(to + n, size - n, t + 12);
}

static void test_requests_wait(void **state)
{
	(void)state;
	expect_called(requests_wait, "vuxyzw");
}

/* It receives on while it works off what it had received before, so that the last one waits. */
static size_t receive_on(char *to, size_t size, uint32_t i, uint32_t t)
{
	size_t n = (size_t)snprintf(to, size,
				    "%u one.l < x 10\n%u one.l < z 10\n%u one.l < k 10\n%u one.l > k 10\n"
				    "%u one.l < q 10\n%u one.l > y 5\n%u one.l > w 5\n"
				    "%u one.l < k 10\n%u one.l > k 10\n%u one.l > r 5\n%u two.3 < r 5\n",
				    t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10);

	(void)i;
	n += one_by_one(to + n, size - n, t + 11);
	return n + (size_t)snprintf(to + n, size - n, "%u two.3 > r 5\n%u one.l < r 5\n%u one.l > q 10\n", t + 20,
				    t + 21, t + 22);
}

static void test_receive_on(void **state)
{
	(void)state;
	expect_called(receive_on, "xyzwqr");
}

/* ... and the one that waits is not the one that was received first, which only the replies show. */
static size_t first_come(char *to, size_t size, uint32_t i, uint32_t t)
{
	size_t n =
		(size_t)snprintf(to, size,
				 "%u one.l < x 10\n%u one.l < k 10\n%u one.l > k 10\n%u one.l < z 10\n%u one.l > y 5\n"
				 "%u one.l < k 10\n%u one.l > k 10\n%u one.l > w 5\n",
				 t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7);

	(void)i;
	return n + one_by_one(to + n, size - n, t + 8);
}

static void test_first_come(void **state)
{
	(void)state;
	expect_called(first_come, "xyzw");
}

/* The rest of a reply, after what it had passed on of it was all that the client waited for, comes with the next
 * request. */
static size_t rest_of_reply(char *to, size_t size, uint32_t i, uint32_t t)
{
	(void)i;
	return (size_t)snprintf(to, size,
				"%u one.l < x 10\n%u one.l > y 5\n%u one.l < k 10\n%u one.l > k 10\n"
				"%u two.1 < y 5\n%u two.1 > y 8\n%u one.l < y 6\n%u one.l > x 10\n"
				"%u one.l < z 10\n%u one.l < y 2\n%u one.l > w 5\n%u one.l < k 10\n%u one.l > k 10\n"
				"%u two.2 < w 5\n%u two.2 > w 5\n%u one.l < w 5\n%u one.l > z 10\n",
				t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11,
				t + 12, t + 13, t + 14, t + 15, t + 16);
}

static void test_rest_of_reply(void **state)
{
	(void)state;
	expect_called(rest_of_reply, "xyzw");
}

/* It passes on parts of replies: a further part of one comes with the first of another, and is passed on before that.
 */
static size_t parts_of_replies(char *to, size_t size, uint32_t i, uint32_t t)
{
	(void)i;
	return (size_t)snprintf(to, size,
				"%u one.l < x 10\n%u one.l > y 5\n%u one.l < z 10\n%u one.l > w 5\n"
				"%u two.1 < y 5\n%u two.1 > y 8\n%u two.2 < w 5\n%u two.2 > w 8\n"
				"%u one.l < y 4\n%u one.l > x 5\n%u one.l < y 4\n%u one.l < w 4\n%u one.l > x 5\n"
				"%u one.l < k 10\n%u one.l > k 10\n%u one.l > z 5\n%u one.l < w 4\n%u one.l > z 5\n",
				t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11,
				t + 12, t + 13, t + 14, t + 15, t + 16, t + 17);
}

static void test_parts_of_replies(void **state)
{
	(void)state;
	expect_called(parts_of_replies, "xyzw");
}

/* What the client does in each round before, so that its sends and the server's are known to be messages. */
#define NOT_WAITING                                                                                                    \
	"%u cl.1 > q 10\n%u one.l < q 10\n%u cl.1 > q 10\n%u one.l > q 10\n%u one.l < q 10\n%u one.l > q 10\n"         \
	"%u cl.1 < q 20\n"

/* Two requests of a client come at once over p; it works on the second once it has replied to the first, without
 * receiving anything. */
static size_t pipelined(char *to, size_t size, uint32_t i, uint32_t t)
{
	(void)i;
	return (size_t)snprintf(
		to, size,
		NOT_WAITING
		"%u cl.1 > p 10\n%u cl.1 > p 10\n"
		"%u one.l < p 20\n%u one.l > y 5\n%u one.l < k 10\n%u one.l > u 5\n"
		"%u two.1 < y 5\n%u two.1 > y 5\n%u one.l < y 5\n%u one.l > p 10\n%u one.l > w 5\n%u cl.1 < p 10\n"
		"%u two.3 < u 5\n%u two.3 > u 5\n%u one.l < u 5\n%u one.l > k 10\n"
		"%u two.2 < w 5\n%u two.2 > w 5\n%u one.l < w 5\n%u one.l > p 10\n%u cl.1 < p 10\n",
		t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11, t + 12, t + 13,
		t + 14, t + 15, t + 16, t + 17, t + 18, t + 19, t + 20, t + 21, t + 22, t + 23, t + 24, t + 25, t + 26,
		t + 27);
}

/* In each round the call over `call` is for request n * i + nth of `parent`, and found like that. */
struct expected {
	const char *call;
	char parent;
	uint32_t n, nth;
	const char *how; /* or its beginning */
};

static void expect_pipelined(size_t (*events)(char *to, size_t size, uint32_t i, uint32_t t), struct expected first,
			     struct expected second)
{
	const struct expected all[] = { first, second };
	struct socket_text s;

	find_all(
		&s,
		"conn p cl one\nconn q cl one\nconn z - one\nconn k - one\nconn y one two\nconn w one two\nconn u one two\n",
		events);
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		const struct expected *e = &all[i % 2];
		char wanted[32];

		snprintf(wanted, sizeof wanted, "%c.%u %s", e->parent, e->n * (i / 2) + e->nth, e->how);
		assert_memory_equal(socket_text_link(&s, e->call, i / 2), wanted, strlen(wanted));
	}
	socket_text_release(&s);
}

static void test_pipelined(void **state)
{
	(void)state;
	expect_pipelined(pipelined, (struct expected){ "y", 'p', 2, 0, "matched" },
			 (struct expected){ "w", 'p', 2, 1, "matched" });
}

/* It works on both at the same time, and replies in their order. */
static size_t pipelined_at_once(char *to, size_t size, uint32_t i, uint32_t t)
{
	(void)i;
	return (size_t)snprintf(to, size,
				NOT_WAITING
				"%u cl.1 > p 10\n%u cl.1 > p 10\n%u one.l < p 20\n%u one.l > y 5\n%u one.l > w 5\n"
				"%u two.1 < y 5\n%u two.2 < w 5\n%u two.1 > y 5\n%u one.l < y 5\n%u one.l > p 10\n"
				"%u two.2 > w 5\n%u one.l < w 5\n%u one.l > p 10\n%u cl.1 < p 20\n",
				t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11,
				t + 12, t + 13, t + 14, t + 15, t + 16, t + 17, t + 18, t + 19, t + 20);
}

static void test_pipelined_at_once(void **state)
{
	(void)state;
	expect_pipelined(pipelined_at_once, (struct expected){ "y", 'p', 2, 0, "matched" },
			 (struct expected){ "w", 'p', 2, 1, "matched" });
}

/* The first of two is replied to after a call for z: the second, which is free then, is not its reason. */
static size_t pipelined_later(char *to, size_t size, uint32_t i, uint32_t t)
{
	(void)i;
	return (size_t)snprintf(
		to, size,
		NOT_WAITING
		"%u cl.1 > p 10\n%u cl.1 > p 10\n%u one.l < z 10\n%u one.l < p 20\n%u one.l > u 5\n%u one.l > p 10\n"
		"%u one.l < k 10\n%u one.l > k 10\n%u one.l > y 5\n%u two.1 < y 5\n%u two.3 < u 5\n%u two.3 > u 5\n"
		"%u one.l < u 5\n%u one.l > z 10\n%u two.1 > y 5\n%u one.l < y 5\n%u one.l > p 10\n%u cl.1 < p 20\n",
		t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 7, t + 8, t + 9, t + 10, t + 11, t + 12, t + 13,
		t + 14, t + 15, t + 16, t + 17, t + 18, t + 19, t + 20, t + 21, t + 22, t + 23, t + 24);
}

static void test_pipelined_later(void **state)
{
	(void)state;
	expect_pipelined(pipelined_later, (struct expected){ "y", 'p', 2, 1, "" },
			 (struct expected){ "u", 'z', 1, 0, "" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connect_without_waiting),
		cmocka_unit_test(test_end_of_connection),
		cmocka_unit_test(test_wait_for_end),
		cmocka_unit_test(test_call_again),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_read_after_reply),
		cmocka_unit_test(test_last_message),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_late_calls),
		cmocka_unit_test(test_requests_wait),
		cmocka_unit_test(test_receive_on),
		cmocka_unit_test(test_first_come),
		cmocka_unit_test(test_rest_of_reply),
		cmocka_unit_test(test_parts_of_replies),
		cmocka_unit_test(test_pipelined),
		cmocka_unit_test(test_pipelined_at_once),
		cmocka_unit_test(test_pipelined_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
