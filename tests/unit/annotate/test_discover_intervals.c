/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals that discovery drafts from hand-made facts of whole programs: a database, a library with the program that
 * drives it, a proxy, and servers that answer in turns or by replies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drafted.h"

static const char units_c[] =
	"void StartTransaction(void) { }\nvoid CommitTransaction(void) { }\nvoid StartSubTransaction(void) { }\n"
	"void CommitSubTransaction(void) { }\nint trx_begin(struct trx *t, int mode) { }\nint trx_commit(struct session *s) { }\n"
	"void begin_request(struct request *r) { }\nvoid end_request(struct request *r) { }\nint main(void) { }\n"
	"void serve(void) { }\nvoid AbortTransaction(void) { }\n";
static const char tool_c[] =
	"int main(void) { }\nvoid start_query(struct request *q) { }\nvoid end_query(struct request *q) { }\n";

static void make_units(struct made *m)
{
	static const char request[] = ONE("r", "struct request *"), query[] = ONE("q", "struct request *");
	int main_id, serve, tool;

	made_file(m, "units.c", units_c, "c");
	add(m, "StartTransaction", "void", "[]", "void (void)");
	add(m, "CommitTransaction", "void", "[]", "void (void)");
	add(m, "StartSubTransaction", "void", "[]", "void (void)");
	add(m, "CommitSubTransaction", "void", "[]", "void (void)");
	add(m, "AbortTransaction", "void", "[]", "void (void)");
	/* a callback: called through pointers only */
	add(m, "begin_request", "void", request, "void (struct request *)");
	add(m, "end_request", "void", request, "void (struct request *)");
	main_id = add(m, "main", "int", "[]", "int (void)");
	serve = add(m, "serve", "void", "[]", "void (void)");
	made_call(m, main_id, "serve", "direct", "", 0, "[]");
	made_call(m, serve, "accept", "direct", "", 0, "[]");
	made_call(m, serve, "StartTransaction", "direct", "", 0, "[]");
	made_call(m, serve, "StartSubTransaction", "direct", "", 0, "[]");
	add(m, "trx_begin", "int", "[{\"name\":\"t\",\"type\":\"struct trx *\"},{\"name\":\"mode\",\"type\":\"int\"}]",
	    "int (struct trx *, int)");
	add(m, "trx_commit", "int", ONE("s", "struct session *"), "int (struct session *)");
	made_call(m, serve, "trx_begin", "direct", "", 0, "[]");
	made_file(m, "tool.c", tool_c, "c");
	tool = add(m, "main", "int", "[]", "int (void)");
	add(m, "start_query", "void", query, "void (struct request *)");
	add(m, "end_query", "void", query, "void (struct request *)");
	made_call(m, tool, "start_query", "direct", "", 0, "[]");
}

/* What one function begins and another ends, best in the program that accepts connections; not where the end does not
 * know which one it ends. */
static void test_units(void **state)
{
	struct vprof_draft *draft = discover(make_units);

	(void)state;
	assert_string_equal(draft->intervals[0].function, "StartTransaction");
	assert_string_equal(draft->intervals[0].end, "CommitTransaction");
	assert_string_equal(draft->intervals[0].end_id, "1");
	assert_string_equal(draft->intervals[0].given_up, "AbortTransaction");
	assert_string_equal(draft->intervals[0].given_up_id, "1");
	for (size_t i = 0; i < draft->n_intervals; i++)
		assert_true(strcmp(draft->intervals[i].function, "trx_begin") &&
			    strcmp(draft->intervals[i].function, "begin_request"));
	finish(draft);
}

static const char library_c[] =
	"struct parse;\nstruct log;\nstruct client;\n"
	"void beginTransaction(struct parse *p) { }\nvoid endTransaction(struct parse *p) { }\n"
	"void log_begin_transaction(struct log *l) { }\nvoid log_end_transaction(struct log *l) { }\n"
	"void step(void) { }\n"
	"void run_transaction(struct client *c) { }\n"
	"void *run_client(void *arg) { }\n"
	"int main(void) { }\n";

static void make_library(struct made *m)
{
	static const char parse[] = ONE("p", "struct parse *"), log[] = ONE("l", "struct log *");
	int step, client;

	made_file(m, "library.c", library_c, "c");
	add(m, "beginTransaction", "void", parse, "void (struct parse *)");
	add(m, "endTransaction", "void", parse, "void (struct parse *)");
	add(m, "log_begin_transaction", "void", log, "void (struct log *)");
	add(m, "log_end_transaction", "void", log, "void (struct log *)");
	step = add(m, "step", "void", "[]", "void (void)");
	add(m, "run_transaction", "void", ONE("c", "struct client *"), "void (struct client *)");
	client = add(m, "run_client", "void *", ONE("arg", "void *"), "void *(void *)");
	add(m, "main", "int", "[]", "int (void)");
	made_address(m, "run_client", "void *(void *)", "argument", "pthread_create", 2);
	made_call(m, client, "run_transaction", "direct", "", 1, "[\"c\"]");
	made_call(m, step, "beginTransaction", "direct", "", 0, "[\"p\"]");
	made_call(m, step, "log_begin_transaction", "direct", "", 0, "[\"l\"]");
}

/* A library with a program that drives it: what the driver's threads do in their loop comes before a part of it that
 * the library begins and ends. What a parser begins is none. */
static void test_driver_of_a_library(void **state)
{
	struct vprof_draft *draft = discover(make_library);

	(void)state;
	assert_int_equal(draft->n_intervals, 2);
	assert_string_equal(draft->intervals[0].function, "run_transaction");
	assert_string_equal(draft->intervals[0].id, "c");
	assert_string_equal(draft->intervals[1].function, "log_begin_transaction");
	assert_string_equal(draft->intervals[1].end, "log_end_transaction");
	finish(draft);
}

static const char proxy_c[] = "struct conn;\n"
			      "int readline(int fd) { }\nint relay(struct conn *c) { }\n"
			      "void handle_connection(struct conn *c) { }\nvoid *child_thread(void *data) { }\n"
			      "int read_buffer(int fd) { }\nint write_buffer(int fd) { }\n"
			      "int main(void) { }\n";

static void make_proxy(struct made *m)
{
	static const char conn[] = ONE("c", "struct conn *"), fd[] = ONE("fd", "int");
	int readline, relay, handle, child, in, out;

	made_file(m, "proxy.c", proxy_c, "c");
	readline = add(m, "readline", "int", fd, "int (int)");
	relay = add(m, "relay", "int", conn, "int (struct conn *)");
	handle = add(m, "handle_connection", "void", conn, "void (struct conn *)");
	child = add(m, "child_thread", "void *", ONE("data", "void *"), "void *(void *)");
	in = add(m, "read_buffer", "int", fd, "int (int)");
	out = add(m, "write_buffer", "int", fd, "int (int)");
	add(m, "main", "int", "[]", "int (void)");
	made_address(m, "child_thread", "void *(void *)", "argument", "pthread_create", 2);
	made_call(m, child, "handle_connection", "direct", "", 0, "[\"c\"]");
	made_call(m, readline, "recv", "direct", "", 1, "[\"fd\"]");
	made_call(m, in, "read", "direct", "", 0, "[\"fd\"]");
	made_call(m, out, "write", "direct", "", 0, "[\"fd\"]");
	made_call(m, relay, "poll", "direct", "", 1, "[]");
	made_call(m, relay, "read_buffer", "direct", "", 1, "[\"c->fd\"]");
	made_call(m, relay, "write_buffer", "direct", "", 1, "[\"c->fd\"]");
	made_call(m, handle, "readline", "direct", "", 0, "[\"c->fd\"]");
	for (int i = 0; i < 8; i++)
		made_call(m, handle, i < 7 ? "strdup" : "relay", "direct", "", 0, "[\"c\"]");
}

/* A thread for each connection, with one request: the function that its thread calls, not the buffers of its loop. */
static void test_whole_connection(void **state)
{
	struct vprof_draft *draft = discover(make_proxy);

	(void)state;
	assert_string_equal(draft->intervals[0].function, "handle_connection");
	assert_string_equal(draft->intervals[0].id, "c");
	finish(draft);
}

static const char turns_cc[] =
	"struct Database;\nstruct Batch;\nstruct Mutex;\n"
	"void Lock(Mutex *m) { }\nvoid Unlock(Mutex *m) { }\nvoid Wait() { }\nvoid Signal() { }\n"
	"void Write(Batch *b) { }\n"
	"void Push(Batch *b) { }\n"
	"void step() { }\n";

/* A batch waits until those before it are written; a bounded queue, until there is room. */
static void make_turns(struct made *m)
{
	static const char batch[] = ONE("b", "Batch *");
	int lock, unlock, wait, signal, write, push, i;

	made_file(m, "turns.cc", turns_cc, "c++");
	lock = add(m, "Lock", "void", ONE("m", "Mutex *"), "void (Mutex *)");
	unlock = add(m, "Unlock", "void", ONE("m", "Mutex *"), "void (Mutex *)");
	wait = made_function(
		m, &(struct made_function){ "Wait", "void", "void", "[]", "void ()", .display = "Signal::Wait" });
	signal = made_function(
		m, &(struct made_function){ "Signal", "void", "void", "[]", "void ()", .display = "Signal::Signal" });
	write = made_function(m, &(struct made_function){ "Write", "void", "void", batch, "void (Batch *)",
							  .display = "Database::Write" });
	push = made_function(m, &(struct made_function){ "Push", "void", "void", batch, "void (Batch *)",
							 .display = "Queue::Push" });
	add(m, "step", "void", "[]", "void ()");
	made_call(m, lock, "std::mutex::lock", "direct", "", 0, "[\"m->mutex\"]");
	made_call(m, unlock, "std::mutex::unlock", "direct", "", 0, "[\"m->mutex\"]");
	made_call(m, wait, "std::condition_variable::wait", "direct", "", 0, "[\"lock\"]");
	made_call(m, signal, "std::condition_variable::notify_one", "direct", "", 0, "[]");
	for (i = 0; i < 2; i++) {
		made_call(m, i ? push : write, "Wait", "direct", "", 1, "[]");
		made_call(m, i ? push : write, "Signal", "direct", "", 0, "[]");
	}
	for (i = 0; i < 10; i++)
		made_call(m, write, "step", "direct", "", 0, "[]");
}

static void test_turns(void **state)
{
	struct vprof_draft *draft = discover(make_turns);

	(void)state;
	assert_int_equal(draft->n_intervals, 1);
	assert_string_equal(draft->intervals[0].function, "Database::Write");
	assert_string_equal(draft->intervals[0].id, "b");
	assert_int_equal(draft->n_sync, 1);
	assert_string_equal(draft->sync[0].acquire, "Lock");
	assert_string_equal(draft->sync[0].release, "Unlock");
	assert_int_equal(draft->sync[0].custom, 0);
	finish(draft);
}

static const char replies_c[] =
	"struct conn;\nstruct client;\n"
	"long conn_read(struct conn *n, char *to, long size) { }\nlong conn_write(struct conn *n, const char *from, long size) { }\n"
	"struct client *client_of(struct conn *n) { }\nvoid parse(struct client *c) { }\nint pending(struct client *c) { }\n"
	"void on_readable(struct conn *n) { }\nint send_reply(struct client *c, int all) { }\nvoid on_writable(struct conn *n) { }\n"
	"void flush_all(void) { }\nvoid end_session(struct client *c) { }\nvoid send_snapshot(struct conn *n) { }\nint main(void) { }\n";

/* The reader gets the client from the connection; the reply is sent by another handler, from a list, or when a session
 * ends. */
static void make_replies(struct made *m)
{
	static const char conn[] = ONE("n", "struct conn *"), client[] = ONE("c", "struct client *");
	int read_id, write_id, readable, reply, writable, flush, end, snapshot;

	made_file(m, "replies.c", replies_c, "c");
	read_id = add(m, "conn_read", "long", conn, "long (struct conn *, char *, long)");
	write_id = add(m, "conn_write", "long", conn, "long (struct conn *, const char *, long)");
	add(m, "client_of", "struct client *", conn, "struct client *(struct conn *)");
	add(m, "parse", "void", client, "void (struct client *)");
	add(m, "pending", "int", client, "int (struct client *)");
	readable = add(m, "on_readable", "void", conn, "void (struct conn *)");
	reply = add(m, "send_reply", "int", client, "int (struct client *, int)");
	writable = add(m, "on_writable", "void", conn, "void (struct conn *)");
	flush = add(m, "flush_all", "void", "[]", "void (void)");
	end = add(m, "end_session", "void", client, "void (struct client *)");
	snapshot = add(m, "send_snapshot", "void", conn, "void (struct conn *)");
	made_address(m, "on_readable", "void (struct conn *)", "argument", "event_set", 2);
	made_address(m, "send_snapshot", "void (struct conn *)", "argument", "event_set", 2);
	made_call(m, read_id, "read", "direct", "", 0, "[\"n->fd\",\"to\",\"size\"]");
	made_call(m, write_id, "write", "direct", "", 0, "[\"n->fd\",\"from\",\"size\"]");
	made_call(m, readable, "client_of", "direct", "", 0, "[\"n\"]");
	made_call(m, readable, "conn_read", "direct", "", 0, "[\"c->conn\",\"c->line\",\"80\"]");
	made_call(m, readable, "parse", "direct", "", 0, "[\"c\"]");
	made_call(m, reply, "pending", "direct", "", 1, "[\"c\"]");
	made_call(m, reply, "conn_write", "direct", "", 1, "[\"c->conn\",\"c->reply\",\"c->n\"]");
	made_call(m, reply, "pending", "direct", "", 0, "[\"c\"]");
	made_call(m, writable, "send_reply", "direct", "", 0, "[\"client_of(n)\",\"1\"]");
	made_call(m, flush, "send_reply", "direct", "", 1, "[\"list->client\",\"0\"]");
	made_call(m, end, "send_reply", "direct", "", 0, "[\"c\",\"0\"]");
	made_call(m, snapshot, "conn_write", "direct", "", 0, "[\"n\",\"page\",\"4096\"]");
	made_call(m, snapshot, "client_of", "direct", "", 0, "[\"n\"]");
	made_call(m, snapshot, "client_of", "direct", "", 0, "[\"n\"]");
}

static const char machine_c[] =
	"struct conn;\nlong plain_read(struct conn *c, void *p, long n) { }\nlong plain_write(struct conn *c, void *p, long n) { }\n"
	"int fetch(struct conn *c) { }\nint transmit(struct conn *c) { }\nvoid step(struct conn *c) { }\n"
	"void machine(struct conn *c) { }\nint main(void) { }\n";

/* One function of an event loop calls both; what reads and what writes have one type, and are told apart by where they
 * are put. */
static void make_machine(struct made *m)
{
	static const char conn[] = ONE("c", "struct conn *"), io[] = "long (struct conn *, void *, long)";
	int read_id, write_id, fetch, transmit, machine;

	made_file(m, "machine.c", machine_c, "c");
	read_id = add(m, "plain_read", "long", conn, io);
	write_id = add(m, "plain_write", "long", conn, io);
	fetch = add(m, "fetch", "int", conn, "int (struct conn *)");
	transmit = add(m, "transmit", "int", conn, "int (struct conn *)");
	add(m, "step", "void", conn, "void (struct conn *)");
	machine = add(m, "machine", "void", conn, "void (struct conn *)");
	made_address(m, "machine", "void (struct conn *)", "argument", "event_set", 2);
	made_address(m, "plain_write", io, "assignment", "c->write", 0);
	made_address(m, "plain_read", io, "assignment", "c->read", 0);
	made_call(m, read_id, "read", "direct", "", 0, "[\"c->fd\",\"p\",\"n\"]");
	made_call(m, write_id, "write", "direct", "", 0, "[\"c->fd\",\"p\",\"n\"]");
	made_call(m, fetch, "c->read", "pointer", io, 1, "[\"c\",\"c->line\",\"80\"]");
	made_call(m, transmit, "step", "direct", "", 0, "[\"c\"]");
	made_call(m, transmit, "c->write", "pointer", io, 0, "[\"c\",\"c->line\",\"80\"]");
	made_call(m, transmit, "step", "direct", "", 0, "[\"c\"]");
	made_call(m, machine, "fetch", "direct", "", 1, "[\"c\"]");
	made_call(m, machine, "step", "direct", "", 1, "[\"c\"]");
	made_call(m, machine, "transmit", "direct", "", 1, "[\"c\"]");
}

/* What is received on a connection is over when the answer was sent to it; where nothing calls both, the thread works
 * on other requests in between. */
static void test_replies(void **state)
{
	struct vprof_draft *draft = discover(make_replies);

	(void)state;
	assert_string_equal(draft->intervals[0].function, "on_readable");
	assert_string_equal(draft->intervals[0].id, "n");
	assert_string_equal(draft->intervals[0].end, "send_reply");
	assert_string_equal(draft->intervals[0].end_id, "c->conn");
	assert_int_equal(draft->intervals[0].is_left, 1);
	finish(draft);
	draft = discover(make_machine);
	assert_string_equal(draft->intervals[0].function, "fetch");
	assert_string_equal(draft->intervals[0].id, "c");
	assert_string_equal(draft->intervals[0].end_id, "c");
	assert_int_equal(draft->intervals[0].is_left, 0);
	for (size_t i = 1; i < draft->n_intervals; i++)
		assert_null(draft->intervals[i].end);
	finish(draft);
}

static void test_drafts_are_readable(void **state)
{
	(void)state;
	expect_readable(make_units, NULL, 3);
	expect_readable(make_replies, NULL, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_driver_of_a_library),
		cmocka_unit_test(test_whole_connection),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_drafts_are_readable),
	};

	return cmocka_run_group_tests(tests, drafted_set_up, drafted_tear_down);
}
