/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery on hand-made facts of two small servers: an event loop with a command table, and a pool of workers with a
 * queue and a lock of its own. The draft must be a vprof.json that the reader accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/check/annotations.h"
#include "annotate/discover/discover.h"
#include "common/files.h"
#include "made_facts.h"

static char dir[] = "/tmp/vprof-discover-XXXXXX";

static const char loop_c[] =
	"int main(void) { }\nvoid loop(struct ev *e) { }\nvoid on_readable(struct client *c) { }\n"
	"void on_timer(struct client *c) { }\nvoid process_line(struct client *c) { }\nvoid run_command(struct client *c) { }\n"
	"int cmd_get(struct client *c, int n) { }\nint cmd_set(struct client *c, int n) { }\nint cmd_del(struct client *c, int n) { }\n";

static const char pool_c[] =
	"int main(void) { }\nvoid *worker(void *arg) { }\nvoid jobs_push(struct jobs *q, struct job *item) { }\n"
	"struct job *jobs_pop(struct jobs *q) { }\nvoid serve_job(struct job *j) { }\nvoid spin_acquire(struct spin *s) { }\n"
	"void spin_release(struct spin *s) { }\nvoid list_lock(struct list *l) { }\nvoid list_unlock(struct list *l) { }\n"
	"void start(void *(*f)(void *), int n) { }\nvoid make_child(void) { }\n";

#define CLIENT "[{\"name\":\"c\",\"type\":\"struct client *\"}]"
#define CLIENT_N "[{\"name\":\"c\",\"type\":\"struct client *\"},{\"name\":\"n\",\"type\":\"int\"}]"
#define ONE(name, type) "[{\"name\":\"" name "\",\"type\":\"" type "\"}]"

static int add(struct made *m, const char *name, const char *returns, const char *params, const char *signature)
{
	return made_function(m, &(struct made_function){ name, returns, strcmp(returns, "void") ? "scalar" : "void",
							 params, signature });
}

static void make_loop(struct made *m)
{
	int main_id, loop, readable, line, command;

	made_file(m, "loop.c", loop_c, "c");
	main_id = add(m, "main", "int", "[]", "int (void)");
	loop = add(m, "loop", "void", ONE("e", "struct ev *"), "void (struct ev *)");
	readable = add(m, "on_readable", "void", CLIENT, "void (struct client *)");
	add(m, "on_timer", "void", CLIENT, "void (struct client *)");
	line = add(m, "process_line", "void", CLIENT, "void (struct client *)");
	command = add(m, "run_command", "void", CLIENT, "void (struct client *)");
	add(m, "cmd_get", "int", CLIENT_N, "int (struct client *, int)");
	add(m, "cmd_set", "int", CLIENT_N, "int (struct client *, int)");
	add(m, "cmd_del", "int", CLIENT_N, "int (struct client *, int)");
	made_call(m, main_id, "loop", "direct", "", 0, "[]");
	made_call(m, loop, "epoll_wait", "direct", "", 1, "[]");
	made_call(m, loop, "e->handler", "pointer", "void (struct client *)", 1, "[\"c\"]");
	made_call(m, readable, "read", "direct", "", 0, "[]");
	made_call(m, readable, "process_line", "direct", "", 0, "[\"c\"]");
	made_call(m, readable, "write", "direct", "", 0, "[]");
	made_call(m, line, "run_command", "direct", "", 0, "[\"c\"]");
	made_call(m, command, "c->command->run", "pointer", "int (struct client *, int)", 0, "[\"c\",\"1\"]");
	made_address(m, "on_readable", "void (struct client *)", "assignment", "e->handler", 0);
	made_address(m, "on_timer", "void (struct client *)", "assignment", "e->handler", 0);
	made_address(m, "cmd_get", "int (struct client *, int)", "initializer", "commands", 0);
	made_address(m, "cmd_set", "int (struct client *, int)", "initializer", "commands", 0);
	made_address(m, "cmd_del", "int (struct client *, int)", "initializer", "commands", 0);
}

static void make_pool(struct made *m)
{
	int worker, push, pop, acquire, lock, unlock, start, child, main_id;

	made_file(m, "pool.c", pool_c, "c");
	main_id = add(m, "main", "int", "[]", "int (void)");
	worker = add(m, "worker", "void *", ONE("arg", "void *"), "void *(void *)");
	push = add(m, "jobs_push", "void",
		   "[{\"name\":\"q\",\"type\":\"struct jobs *\"},{\"name\":\"item\",\"type\":\"struct job *\"}]",
		   "void (struct jobs *, struct job *)");
	pop = add(m, "jobs_pop", "struct job *", ONE("q", "struct jobs *"), "struct job *(struct jobs *)");
	add(m, "serve_job", "void", ONE("j", "struct job *"), "void (struct job *)");
	acquire = add(m, "spin_acquire", "void", ONE("s", "struct spin *"), "void (struct spin *)");
	add(m, "spin_release", "void", ONE("s", "struct spin *"), "void (struct spin *)");
	lock = add(m, "list_lock", "void", ONE("l", "struct list *"), "void (struct list *)");
	unlock = add(m, "list_unlock", "void", ONE("l", "struct list *"), "void (struct list *)");
	start = add(m, "start", "void",
		    "[{\"name\":\"f\",\"type\":\"void *(*)(void *)\"},{\"name\":\"n\",\"type\":\"int\"}]",
		    "void (void *(*)(void *), int)");
	child = add(m, "make_child", "void", "[]", "void (void)");
	made_call(m, main_id, "start", "direct", "", 0, "[\"worker\",\"4\"]");
	made_call(m, start, "pthread_create", "direct", "", 1, "[\"&t\",\"0\",\"f\",\"0\"]");
	made_address(m, "worker", "void *(void *)", "argument", "start", 0);
	made_call(m, worker, "jobs_pop", "direct", "", 1, "[\"q\"]");
	made_call(m, worker, "serve_job", "direct", "", 1, "[\"j\"]");
	made_call(m, push, "pthread_cond_signal", "direct", "", 0, "[\"&q->cond\"]");
	made_call(m, pop, "pthread_cond_wait", "direct", "", 1, "[\"&q->cond\",\"&q->mutex\"]");
	made_call(m, acquire, "sched_yield", "direct", "", 1, "[]");
	made_call(m, lock, "pthread_mutex_lock", "direct", "", 0, "[\"&l->mutex\"]");
	made_call(m, unlock, "pthread_mutex_unlock", "direct", "", 0, "[\"&l->mutex\"]");
	made_call(m, child, "fork", "direct", "", 0, "[]");
}

static const char gates_c[] =
	"void doze(struct task *t) { }\nvoid rouse(struct task *t) { }\nint gate_acquire(struct gate *g, int mode) { }\n"
	"void gate_release(struct gate *g) { }\nvoid gate_wake_all(struct gate *g) { }\nint gate_acquire_or_wait(struct gate *g) { }\n"
	"void gate_publish(struct gate *g, long value) { }\nint gate_try(struct gate *g) { }\n";

/* A lock of its own over semaphores, with a second way to wait for it and a second way to tell its waiters. */
static void make_gates(struct made *m)
{
	static const char gate[] = ONE("g", "struct gate *"), task[] = ONE("t", "struct task *");
	int doze, rouse, acquire, release, wake, wait, publish;

	made_file(m, "gates.c", gates_c, "c");
	doze = add(m, "doze", "void", task, "void (struct task *)");
	rouse = add(m, "rouse", "void", task, "void (struct task *)");
	acquire = add(m, "gate_acquire", "int",
		      "[{\"name\":\"g\",\"type\":\"struct gate *\"},{\"name\":\"mode\",\"type\":\"int\"}]",
		      "int (struct gate *, int)");
	release = add(m, "gate_release", "void", gate, "void (struct gate *)");
	wake = add(m, "gate_wake_all", "void", gate, "void (struct gate *)");
	wait = add(m, "gate_acquire_or_wait", "int", gate, "int (struct gate *)");
	publish = add(m, "gate_publish", "void",
		      "[{\"name\":\"g\",\"type\":\"struct gate *\"},{\"name\":\"value\",\"type\":\"long\"}]",
		      "void (struct gate *, long)");
	add(m, "gate_try", "int", gate, "int (struct gate *)");
	made_call(m, doze, "sem_wait", "direct", "", 1, "[\"&t->sem\"]");
	made_call(m, rouse, "sem_post", "direct", "", 0, "[\"&t->sem\"]");
	made_call(m, acquire, "doze", "direct", "", 1, "[\"me\"]");
	made_call(m, acquire, "rouse", "direct", "", 1, "[\"me\"]");
	made_call(m, release, "gate_wake_all", "direct", "", 0, "[\"g\"]");
	made_call(m, wake, "rouse", "direct", "", 1, "[\"t\"]");
	made_call(m, wait, "doze", "direct", "", 1, "[\"me\"]");
	made_call(m, publish, "rouse", "direct", "", 1, "[\"t\"]");
}

static const char latches_c[] =
	"int wait_latch(struct latch *l, long timeout) { }\nint wait_latch_or_socket(struct latch *l, int fd) { }\n"
	"void set_latch(struct latch *l) { }\nvoid init_latch(struct latch *l) { }\nint poll_once(int fd) { }\n"
	"void tell_process(int pid) { }\nvoid cond_sleep(struct cond *c) { }\nvoid cond_signal(struct cond *c) { }\n"
	"void cond_broadcast(struct cond *c) { }\nvoid cond_prepare_to_sleep(struct cond *c) { }\nvoid event_wait(struct event *e) { }\nvoid event_set(struct event *e) { }\n"
	"void wait_socket(struct sock *s) { }\nvoid set_socket(struct sock *s) { }\n";

/* Sleepers that poll and are told by a signal; beside them an event over pthread conditions, and a wait that nobody
 * ends. */
static void make_latches(struct made *m)
{
	static const char latch[] = ONE("l", "struct latch *"), cond[] = ONE("c", "struct cond *"),
			  event[] = ONE("e", "struct event *"), sock[] = ONE("s", "struct sock *");
	int wait, both, set, once, tell, sleep, signal, broadcast, prepare, event_wait, event_set, wait_socket;

	made_file(m, "latches.c", latches_c, "c");
	wait = add(m, "wait_latch", "int",
		   "[{\"name\":\"l\",\"type\":\"struct latch *\"},{\"name\":\"timeout\",\"type\":\"long\"}]",
		   "int (struct latch *, long)");
	both = add(m, "wait_latch_or_socket", "int",
		   "[{\"name\":\"l\",\"type\":\"struct latch *\"},{\"name\":\"fd\",\"type\":\"int\"}]",
		   "int (struct latch *, int)");
	set = add(m, "set_latch", "void", latch, "void (struct latch *)");
	add(m, "init_latch", "void", latch, "void (struct latch *)");
	once = add(m, "poll_once", "int", ONE("fd", "int"), "int (int)");
	tell = add(m, "tell_process", "void", ONE("pid", "int"), "void (int)");
	sleep = add(m, "cond_sleep", "void", cond, "void (struct cond *)");
	signal = add(m, "cond_signal", "void", cond, "void (struct cond *)");
	broadcast = add(m, "cond_broadcast", "void", cond, "void (struct cond *)");
	prepare = add(m, "cond_prepare_to_sleep", "void", cond, "void (struct cond *)");
	event_wait = add(m, "event_wait", "void", event, "void (struct event *)");
	event_set = add(m, "event_set", "void", event, "void (struct event *)");
	wait_socket = add(m, "wait_socket", "void", sock, "void (struct sock *)");
	add(m, "set_socket", "void", sock, "void (struct sock *)");
	made_call(m, once, "epoll_wait", "direct", "", 1, "[]");
	made_call(m, tell, "kill", "direct", "", 0, "[\"pid\"]");
	made_call(m, wait, "poll_once", "direct", "", 1, "[\"fd\"]");
	made_call(m, both, "poll_once", "direct", "", 1, "[\"fd\"]");
	made_call(m, set, "tell_process", "direct", "", 0, "[\"l->owner\"]");
	made_call(m, sleep, "wait_latch", "direct", "", 1, "[\"mine\"]");
	made_call(m, signal, "set_latch", "direct", "", 0, "[\"first\"]");
	made_call(m, broadcast, "set_latch", "direct", "", 1, "[\"each\"]");
	made_call(m, event_wait, "pthread_cond_wait", "direct", "", 1, "[\"&e->cond\",\"&e->mutex\"]");
	made_call(m, event_set, "pthread_cond_broadcast", "direct", "", 0, "[\"&e->cond\"]");
	made_call(m, prepare, "wait_latch", "direct", "", 0, "[\"mine\"]");
	made_call(m, wait_socket, "poll", "direct", "", 1, "[]");
}

/* The ends of a queue whose names differ in more than the opposite words; the same with nothing that goes in and comes
 * out. */
static const char uneven_c[] =
	"void q_push_socket(struct q *q, struct sock *s) {}\nvoid q_push_timer(struct q *q, struct timer *t) {}\n"
	"int q_pop_something(struct q *q, struct sock **out, struct timer **due) {}\n"
	"void r_push_socket(struct r *r, struct sock *s) {}\nint r_pop_something(struct r *r, struct timer **out) {}\n";

static void make_uneven(struct made *m)
{
	int in, out;

	made_file(m, "uneven.c", uneven_c, "c");
	in = add(m, "q_push_socket", "void",
		 "[{\"name\":\"q\",\"type\":\"struct q *\"},{\"name\":\"s\",\"type\":\"struct sock *\"}]",
		 "void (struct q *, struct sock *)");
	made_call(m, in, "pthread_cond_signal", "direct", "", 0, "[\"&q->cond\"]");
	in = add(m, "q_push_timer", "void",
		 "[{\"name\":\"q\",\"type\":\"struct q *\"},{\"name\":\"t\",\"type\":\"struct timer *\"}]",
		 "void (struct q *, struct timer *)");
	made_call(m, in, "pthread_cond_signal", "direct", "", 0, "[\"&q->cond\"]");
	out = add(m, "q_pop_something", "int",
		  "[{\"name\":\"q\",\"type\":\"struct q *\"},{\"name\":\"out\",\"type\":\"struct sock **\"},"
		  "{\"name\":\"due\",\"type\":\"struct timer **\"}]",
		  "int (struct q *, struct sock **, struct timer **)");
	made_call(m, out, "pthread_cond_wait", "direct", "", 1, "[\"&q->cond\",\"&q->mutex\"]");
	in = add(m, "r_push_socket", "void",
		 "[{\"name\":\"r\",\"type\":\"struct r *\"},{\"name\":\"s\",\"type\":\"struct sock *\"}]",
		 "void (struct r *, struct sock *)");
	made_call(m, in, "pthread_cond_signal", "direct", "", 0, "[\"&r->cond\"]");
	out = add(m, "r_pop_something", "int",
		  "[{\"name\":\"r\",\"type\":\"struct r *\"},{\"name\":\"out\",\"type\":\"struct timer **\"}]",
		  "int (struct r *, struct timer **)");
	made_call(m, out, "pthread_cond_wait", "direct", "", 1, "[\"&r->cond\",\"&r->mutex\"]");
}

static struct vprof_facts *facts; /* the draft's strings refer to them */

static void finish(struct vprof_draft *draft)
{
	vprof_draft_free(draft);
	vprof_facts_free(facts);
	facts = NULL;
}

static const struct vprof_watched *watched;    /* what a load showed; NULL: there was none */
static const struct vprof_found_queues *found; /* what a discovery run found; NULL: there was none */

static struct vprof_draft *discover(void (*make)(struct made *))
{
	struct vprof_callgraph *graph;
	struct vprof_draft *draft;
	struct vprof_error err = { "" };
	struct made m;
	char path[128];

	made_open(&m, dir);
	make(&m);
	made_close(&m);
	snprintf(path, sizeof path, "%s/facts.db", dir);
	if (vprof_facts_open(&facts, path, &err) || vprof_callgraph_build(&graph, facts, &err) ||
	    vprof_discover(facts, graph, watched, found, &draft, &err))
		fail_msg("%s", err.message);
	vprof_callgraph_free(graph);
	return draft;
}

static void test_event_loop(void **state)
{
	struct vprof_draft *draft = discover(make_loop);
	size_t i;

	(void)state;
	assert_true(draft->n_intervals >= 3);
	/* dispatcher, its caller and the handler are all good places; handlers that only share the type come later */
	for (i = 0; i < 3; i++) {
		assert_true(!strcmp(draft->intervals[i].function, "on_readable") ||
			    !strcmp(draft->intervals[i].function, "process_line") ||
			    !strcmp(draft->intervals[i].function, "run_command"));
		assert_string_equal(draft->intervals[i].id, "c");
		assert_true(draft->intervals[i].why[0] != 0);
	}
	assert_string_equal(draft->intervals[0].confidence, "high");
	assert_string_equal(draft->type_function, "run_command");
	assert_non_null(strstr(draft->type_hint, "c->command"));
	assert_int_equal(draft->n_entries, 1);
	assert_int_equal(draft->entries[0].kind, VPROF_ENTRY_MAIN);
	finish(draft);
}

static void test_uneven_queue(void **state)
{
	struct vprof_draft *draft = discover(make_uneven);

	(void)state;
	assert_int_equal(draft->n_queues, 1); /* a second push would tell ends apart that a pop does not */
	assert_string_equal(draft->queues[0].enqueue, "q_push_socket");
	assert_string_equal(draft->queues[0].enqueue_item, "s");
	assert_string_equal(draft->queues[0].dequeue, "q_pop_something");
	assert_string_equal(draft->queues[0].dequeue_item, "*out");
	finish(draft);
}

/* Two ends that hand over numbers, which no run sees. */
static void make_numbers(struct made *m)
{
	static const char text[] = "void fds_push(struct fds *q, int fd) { }\nint fds_pop(struct fds *q) { }\n";
	int in, out;

	make_pool(m);
	made_file(m, "fds.c", text, "c");
	in = add(m, "fds_push", "void",
		 "[{\"name\":\"q\",\"type\":\"struct fds *\"},{\"name\":\"fd\",\"type\":\"int\"}]",
		 "void (struct fds *, int)");
	made_call(m, in, "pthread_cond_signal", "direct", "", 0, "[\"&q->filled\"]");
	out = add(m, "fds_pop", "int", ONE("q", "struct fds *"), "int (struct fds *)");
	made_call(m, out, "pthread_cond_wait", "direct", "", 1, "[\"&q->filled\",\"&q->lock\"]");
}

static void expect_in_draft(const struct vprof_draft *draft, const char *const *words, size_t n)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_annotations *a;
	struct vprof_error err = { "" };
	char path[128];

	snprintf(path, sizeof path, "%s/vprof.json", dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", "./run", &err), 0);
	if (vprof_annotations_read(&a, path, &err))
		fail_msg("%s", err.message);
	vprof_annotations_free(a);
	assert_int_equal(vprof_file_read(path, &text, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (!strstr(text.s, words[i]))
			fail_msg("\"%s\" is not in: %s", words[i], text.s);
	vprof_text_release(&text);
}

/* What a discovery run found is in force; what only names suggest is a remark then, with what the run says of it. */
static void test_found_queues(void **state)
{
	static const struct vprof_queue_proposal queues[] = {
		{ "serve_job", "j", "worker", "$return", 1, 0, "pool.c:5", "found by a discovery run: 9 items" },
		{ "start", "f", "worker", "$return", 1, 0, "pool.c:9", "found by a discovery run: 8 items" },
	};
	static const struct vprof_seen_flow seen[] = {
		{ "jobs_push", "jobs_pop", "allocator", "300 of 300 only written", NULL },
		{ "list_lock", "list_unlock", "flow", "", "items are copied" },
	};
	static const struct vprof_found_queues of_run = { queues, seen, 2, 2 };
	static const char *const words[] = {
		"{ \"enqueue\": \"serve_job\", \"item\": \"j\"",
		"{ \"enqueue\": \"start\", \"item\": \"f\"",
		"{ \"dequeue\": \"worker\", \"item\": \"$return\", \"at\": \"exit\" }",
		"\"queues_not_confirmed\": [\n      { \"enqueue\": \"jobs_push\"",
		"{ \"from\": \"list_lock\", \"to\": \"list_unlock\"",
	};
	struct vprof_draft *draft;

	(void)state;
	found = &of_run;
	draft = discover(make_numbers);
	found = NULL;
	assert_int_equal(draft->n_queues, 4);
	assert_string_equal(draft->queues[1].enqueue, "start");
	assert_false(draft->queues[1].is_unconfirmed);
	assert_string_equal(draft->queues[2].enqueue, "jobs_push");
	assert_true(draft->queues[2].is_unconfirmed);
	assert_non_null(strstr(draft->queues[2].why, "it is no queue (allocator): 300 of 300 only written"));
	assert_string_equal(draft->queues[3].enqueue, "fds_push");
	assert_string_equal(draft->queues[3].enqueue_item, "fd");
	assert_string_equal(draft->queues[3].dequeue_item, "$return");
	assert_true(draft->queues[3].is_unconfirmed);
	assert_non_null(strstr(draft->queues[3].why, "numbers, which no run can see"));
	expect_in_draft(draft, words, sizeof words / sizeof *words);
	finish(draft);
}

static void test_pool(void **state)
{
	struct vprof_draft *draft = discover(make_pool);
	size_t i;

	(void)state;
	assert_string_equal(draft->intervals[0].function, "serve_job");
	assert_string_equal(draft->intervals[0].id, "j");
	assert_int_equal(draft->n_queues, 1);
	assert_string_equal(draft->queues[0].enqueue, "jobs_push");
	assert_string_equal(draft->queues[0].enqueue_item, "item");
	assert_string_equal(draft->queues[0].dequeue, "jobs_pop");
	assert_string_equal(draft->queues[0].dequeue_item, "$return");
	assert_int_equal(draft->n_sync, 2);
	for (i = 0; i < 2; i++) {
		int custom = draft->sync[i].custom;

		assert_string_equal(draft->sync[i].acquire, custom ? "spin_acquire" : "list_lock");
		assert_string_equal(draft->sync[i].release, custom ? "spin_release" : "list_unlock");
		assert_string_equal(draft->sync[i].acquire_object, custom ? "s" : "l");
	}
	assert_int_equal(draft->n_entries, 3);
	assert_string_equal(draft->entries[1].function, "worker");
	assert_int_equal(draft->entries[1].kind, VPROF_ENTRY_THREAD);
	assert_string_equal(draft->entries[1].why, "its address is passed to start");
	assert_string_equal(draft->entries[2].function, "make_child");
	assert_int_equal(draft->entries[2].kind, VPROF_ENTRY_PROCESS);
	finish(draft);
}

static void test_relatives_of_a_lock(void **state)
{
	struct vprof_draft *draft = discover(make_gates);

	(void)state;
	assert_int_equal(draft->n_sync, 3);
	assert_string_equal(draft->sync[0].acquire, "gate_acquire");
	assert_string_equal(draft->sync[0].release, "gate_release");
	assert_string_equal(draft->sync[1].acquire, "gate_acquire_or_wait");
	assert_string_equal(draft->sync[1].acquire_object, "g");
	assert_null(draft->sync[1].release);
	assert_string_equal(draft->sync[2].release, "gate_publish");
	assert_string_equal(draft->sync[2].release_object, "g");
	assert_null(draft->sync[2].acquire);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(draft->sync[i].custom, 1);
	finish(draft);
}

/* What polls and is told is proposed with everything that sleeps on it or tells; what vprof sees by itself is not, and
 * a wait that nobody of the program ends neither. */
static void test_events(void **state)
{
	static const char *const wanted[][2] = { { "wait_latch", NULL },	   { NULL, "set_latch" },
						 { "wait_latch_or_socket", NULL }, { "cond_sleep", NULL },
						 { NULL, "cond_signal" },	   { NULL, "cond_broadcast" } };
	struct vprof_draft *draft = discover(make_latches);

	(void)state;
	assert_int_equal(draft->n_sync, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct vprof_sync_proposal *p = &draft->sync[i];

		assert_int_equal(p->custom, 1);
		if (wanted[i][0])
			assert_string_equal(p->acquire, wanted[i][0]);
		else
			assert_null(p->acquire);
		if (wanted[i][1])
			assert_string_equal(p->release, wanted[i][1]);
		else
			assert_null(p->release);
		assert_string_equal(p->acquire ? p->acquire_object : p->release_object, i < 3 ? "l" : "c");
	}
	finish(draft);
}

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

static void make_nothing(struct made *m)
{
	made_file(m, "lib.c", "int half(int n) { return n / 2; }\n", "c");
	add(m, "half", "int", ONE("n", "int"), "int (int)");
}

static struct vprof_draft *discover_watched(const struct vprof_watched *w)
{
	struct vprof_draft *draft;

	watched = w;
	draft = discover(make_loop);
	watched = NULL;
	return draft;
}

/* What a load showed comes first, and makes all else a guess; a function that is not the project's is passed over. */
static void test_watched(void **state)
{
	static const struct vprof_watched call = {
		.begins = { "no_such", "process_line" }, .n_begins = 2, .why = "seen", .confidence = "high"
	};
	static const struct vprof_watched split = { .begins = { "on_readable" },
						    .n_begins = 1,
						    .ends = { "no_such", "run_command" },
						    .n_ends = 2,
						    .why = "seen",
						    .confidence = "medium",
						    .begins_at_exit = 1 };
	static const struct vprof_watched unknown = {
		.begins = { "no_such" }, .n_begins = 1, .why = "seen", .confidence = "high"
	};
	static const struct vprof_watched guess = {
		.begins = { "run_command" }, .n_begins = 1, .why = "seen", .confidence = "medium", .is_guess = 1
	};
	struct vprof_annotations *a;
	struct vprof_draft *draft = discover_watched(&guess);
	char path[128];

	(void)state;
	/* what the code alone says with high confidence stays, and stays before a guess */
	for (size_t i = 0, seen = 0; i < draft->n_intervals; i++) {
		seen |= !strcmp(draft->intervals[i].why, "seen");
		assert_true(!seen || strcmp(draft->intervals[i].confidence, "high"));
		assert_true(seen || i + 1 < draft->n_intervals);
	}
	finish(draft);

	draft = discover_watched(&call);
	assert_string_equal(draft->intervals[0].function, "process_line");
	assert_string_equal(draft->intervals[0].confidence, "high");
	assert_string_equal(draft->intervals[0].why, "seen");
	for (size_t i = 1; i < draft->n_intervals; i++) {
		assert_string_not_equal(draft->intervals[i].function, "process_line");
		assert_string_equal(draft->intervals[i].confidence, "low");
	}
	finish(draft);

	draft = discover_watched(&split);
	assert_string_equal(draft->intervals[0].function, "on_readable");
	assert_string_equal(draft->intervals[0].end, "run_command");
	snprintf(path, sizeof path, "%s/vprof.json", dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", "./run", NULL), 0);
	assert_int_equal(vprof_annotations_read(&a, path, NULL), 0);
	assert_int_equal(a->n_hooks, 2);
	vprof_annotations_free(a);
	finish(draft);

	draft = discover_watched(&unknown);
	assert_string_not_equal(draft->intervals[0].why, "seen");
	finish(draft);
}

static void test_drafts_are_readable(void **state)
{
	static void (*const makes[])(struct made *) = { make_loop,  make_pool,	  make_nothing, make_gates,
							make_units, make_latches, make_replies };
	static const size_t n_hooks[] = { 2, 6, 0, 4, 3, 6, 4 };
	struct vprof_annotations *a;
	struct vprof_error err = { "" };
	char path[128];
	size_t i;

	(void)state;
	snprintf(path, sizeof path, "%s/vprof.json", dir);
	for (i = 0; i < sizeof makes / sizeof makes[0]; i++) {
		struct vprof_draft *draft = discover(makes[i]);

		assert_int_equal(vprof_draft_write(draft, path, "make \"CC=gcc -g\"\\\n all", i ? NULL : "./run", &err),
				 0);
		if (vprof_annotations_read(&a, path, &err))
			fail_msg("%s", err.message);
		assert_int_equal(a->n_hooks, n_hooks[i]);
		assert_string_equal(a->build, "make \"CC=gcc -g\"\\\n all");
		assert_int_equal(a->run != NULL, i == 0);
		vprof_annotations_free(a);
		finish(draft);
	}
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return vprof_dir_remove(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_loop),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_uneven_queue),
		cmocka_unit_test(test_found_queues),
		cmocka_unit_test(test_relatives_of_a_lock),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_driver_of_a_library),
		cmocka_unit_test(test_whole_connection),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_drafts_are_readable),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
