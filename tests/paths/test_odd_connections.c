/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unusual connections: closed in one direction, behind a network address translation, with a
 * handshake of their own, of a host without a recorder, and of which bytes are missing. What cannot be known must show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/requests/described/unusual_connections.h"
#include "socket_text.h"

static struct vprof_unusual_connections count(const struct socket_text *s)
{
	struct vprof_unusual_connections odd;

	assert_int_equal(vprof_unusual_connections_count(&odd, &s->found), 0);
	return odd;
}

/* The client closes its direction after the request; the reply comes all the same. */
static void test_half_closed(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(
		&s, "conn x client one\nconn y one two\n"
		    "10 client.1 > x 10\n11 one.1 < x 10\n12 one.1 < x 0\n"
		    "13 one.1 > y 5\n14 two.1 < y 5\n15 two.1 < y 0\n16 two.1 > y 5\n17 one.1 < y 5\n18 one.1 < y 0\n"
		    "19 one.1 > x 10\n20 client.1 < x 10\n21 client.1 < x 0\n");
	assert_int_equal(s.found.trees.requests.n, 1);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
	assert_true(s.found.trees.requests.v[0].is_whole);
	assert_int_equal(count(&s).n_half_closed, 2);
	socket_text_release(&s);
}

/* Closed in both directions, one after the other, as usual. */
static void test_closed(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s,
			 "conn x client one\n10 client.1 > x 10\n11 one.1 < x 10\n12 one.1 > x 10\n13 client.1 < x 10\n"
			 "14 one.1 < x 0\n15 client.1 < x 0\n");
	assert_int_equal(count(&s).n_half_closed, 0);
	socket_text_release(&s);
}

/* What is sent again has its numbers: nothing of the history changes, and it is counted. */
static void test_resent(void **state)
{
	struct socket_text s;
	struct vprof_unusual_connections odd;

	(void)state;
	socket_text_find(&s,
			 "conn x client one\nconn y client one\n10 client.1 > x 10\n11 one.1 < x 10\n12 one.1 > x 10\n"
			 "13 client.1 < x 10\n14 client.1 > y 5\n15 one.1 < y 5\n");
	assert_int_equal(count(&s).n_resent, 0);
	s.history.sockets.v[0].n_resent = 2;
	s.history.sockets.v[1].n_resent = 3;
	odd = count(&s);
	assert_int_equal(odd.n_resent, 5);
	assert_int_equal(odd.n_resent_connections, 1);
	socket_text_release(&s);
}

/* Between the two ends addresses are translated: both ends count the bytes alike, which tells. Of a connection that is
 * older than the recording they stay apart, as two with one end each: the caller's request contains the call; what was
 * called looks like a request from outside. */
static void test_translated(void **state)
{
	static const char events[] =
		"10 one.1 < x 10\n11 one.1 > y 5\n12 two.1 < y 5\n13 two.1 > y 5\n14 one.1 < y 5\n15 one.1 > x 10\n";
	struct socket_text s;
	char text[512];

	(void)state;
	for (int is_older = 0; is_older < 2; is_older++) {
		uint64_t n_one_end = 0;

		snprintf(text, sizeof text, "conn x - one\nconn y one two%s nat\nconn z one two\n%s",
			 is_older ? " later" : "", events);
		socket_text_find(&s, text);
		assert_int_equal(s.found.trees.requests.n, 1 + is_older);
		assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
		for (size_t i = 0; i < s.found.connections.v.n; i++)
			n_one_end += s.found.connections.v.v[i].client == VPROF_NONE ||
				     s.found.connections.v.v[i].server == VPROF_NONE;
		assert_int_equal(n_one_end, is_older ? 3 : 1);
		assert_int_equal(s.found.connections.n_translated, !is_older);
		socket_text_release(&s);
	}
}

/* A client whose one thread wakes the other by a pair of sockets serves nobody; a pair between two processes is a
 * connection like others. */
static void test_pairs(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn w client client pair\nconn x client one\nconn p one two pair\n"
			     "10 client.1 > w 1\n11 client.2 < w 1\n12 client.2 > x 10\n13 one.1 < x 10\n"
			     "14 one.1 > p 5\n15 two.1 < p 5\n16 two.1 > p 5\n17 one.1 < p 5\n18 one.1 > x 10\n"
			     "19 client.2 < x 10\n20 client.1 > w 1\n21 client.2 < w 1\n22 client.2 > x 10\n"
			     "23 one.1 < x 10\n24 one.1 > x 10\n25 client.2 < x 10\n");
	assert_int_equal(s.found.connections.n_inside, 1);
	assert_int_equal(s.found.connections.n_guessed, 1);
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(p.0)");
	assert_string_equal(socket_text_tree(&s, 1), "x.1");
	assert_int_equal(s.found.trees.requests.v[0].state, VPROF_REQUEST_CERTAIN);
	assert_int_equal(s.found.trees.requests.v[1].state, VPROF_REQUEST_CERTAIN);
	socket_text_release(&s);
}

/* An encrypted connection, as TLS 1.3 has it: hello and answer, then the client's last word together with the request.
 * The handshake is an exchange of its own; contents are not looked at. */
static void test_encrypted(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x client one\nconn y one two\n"
			     "10 client.1 > x 517\n11 one.1 < x 517\n12 one.1 > x 1400\n13 client.1 < x 1400\n"
			     "14 client.1 > x 180\n15 one.1 < x 5\n16 one.1 < x 53\n17 one.1 < x 5\n18 one.1 < x 117\n"
			     "19 one.1 > y 5\n20 two.1 < y 5\n21 two.1 > y 5\n22 one.1 < y 5\n"
			     "23 one.1 > x 300\n24 client.1 < x 300\n");
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_string_equal(socket_text_tree(&s, 0), "x.0");
	assert_string_equal(socket_text_tree(&s, 1), "x.1(y.0)");
	assert_int_equal(s.found.trees.requests.v[1].from, 14);
	assert_int_equal(count(&s).n_encrypted, 0); /* too few records to be sure */
	socket_text_release(&s);
}

/* Three records or more, each read as its header and the rest, are TLS; a message that is not is not. */
static void test_looks_encrypted(void **state)
{
	static const char records[] =
		"11 one.1 < x 5\n12 one.1 < x 512\n13 one.1 > x 1400\n15 one.1 < x 5\n16 one.1 < x 53\n"
		"17 one.1 < x 5\n18 one.1 < x 117\n23 one.1 > x 300\n";
	struct socket_text s;
	char text[512];

	(void)state;
	for (int is_plain = 0; is_plain < 2; is_plain++) {
		snprintf(text, sizeof text, "conn x - one\n%s%s", records, is_plain ? "30 one.1 < x 60\n" : "");
		socket_text_find(&s, text);
		assert_int_equal(count(&s).n_encrypted, !is_plain);
		socket_text_release(&s);
	}
}

/* A host in the middle has no recorder: both sides are told, each by itself, and nothing is linked across it. */
static void test_recorder_missing(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(
		&s,
		"host three h2\nconn x - one\nconn y one -\nconn z - three\n"
		"10 one.1 < x 10\n11 one.1 > y 5\n12 three.1 < z 5\n13 three.1 > z 5\n14 one.1 < y 5\n15 one.1 > x 10\n"
		"30 one.1 < x 10\n31 one.1 > y 5\n32 three.1 < z 5\n33 three.1 > z 5\n34 one.1 < y 5\n35 one.1 > x 10\n");
	assert_int_equal(s.found.trees.requests.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(s.found.trees.requests.v[i].is_whole);
	assert_string_equal(socket_text_tree(&s, 0), "x.0(y.0)");
	assert_string_equal(socket_text_tree(&s, 1), "z.0");
	socket_text_release(&s);
}

/* Bytes that nobody was seen to receive: the request that they are of lacks something, the next one does not. */
static void test_missing_bytes(void **state)
{
	struct socket_text s;

	(void)state;
	socket_text_find(&s, "conn x - one\n"
			     "10 one.1 < x 10\nskip x up 50\n11 one.1 < x 10\n12 one.1 > x 10\n"
			     "20 one.1 < x 10\n21 one.1 > x 10\n");
	assert_int_equal(s.found.trees.requests.n, 2);
	assert_false(s.found.trees.requests.v[0].is_whole);
	assert_true(s.found.trees.requests.v[1].is_whole);
	assert_int_equal(s.found.exchanges.n_bytes_missing, 50);
	socket_text_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_closed),   cmocka_unit_test(test_closed),
		cmocka_unit_test(test_resent),	      cmocka_unit_test(test_looks_encrypted),
		cmocka_unit_test(test_translated),    cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_encrypted),     cmocka_unit_test(test_recorder_missing),
		cmocka_unit_test(test_missing_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
