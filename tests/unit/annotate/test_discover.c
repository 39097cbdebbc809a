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
#include "common/files.h"
#include "drafted.h"

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

	snprintf(path, sizeof path, "%s/vprof.json", drafted_dir);
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
	drafted_found = &of_run;
	draft = discover(make_numbers);
	drafted_found = NULL;
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

static void make_nothing(struct made *m)
{
	made_file(m, "lib.c", "int half(int n) { return n / 2; }\n", "c");
	add(m, "half", "int", ONE("n", "int"), "int (int)");
}

static struct vprof_draft *discover_watched(const struct vprof_watched *w)
{
	struct vprof_draft *draft;

	drafted_watched = w;
	draft = discover(make_loop);
	drafted_watched = NULL;
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
	snprintf(path, sizeof path, "%s/vprof.json", drafted_dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", "./run", NULL), 0);
	assert_int_equal(vprof_annotations_read(&a, path, NULL), 0);
	assert_int_equal(a->n_hooks, 2);
	vprof_annotations_free(a);
	finish(draft);

	draft = discover_watched(&unknown);
	assert_string_not_equal(draft->intervals[0].why, "seen");
	assert_null(draft->not_watched);
	finish(draft);
}

/* A loop that reads a request in one call of a function and writes its reply in a later one: that function is neither
 * begin nor end, nor is its caller. With others that can be they are taken; else the draft says why not. */
static void test_watched_in_calls_of_one_function(void **state)
{
	static const struct vprof_watched both = { .begins = { "on_readable", "process_line" },
						   .n_begins = 2,
						   .ends = { "on_readable", "run_command" },
						   .n_ends = 2,
						   .why = "seen",
						   .confidence = "medium",
						   .is_split = 1,
						   .is_left = 1 };
	struct vprof_watched one = both;
	struct vprof_draft *draft = discover_watched(&both);
	char path[128];

	(void)state;
	assert_string_equal(draft->intervals[0].function, "process_line");
	assert_string_equal(draft->intervals[0].end, "run_command");
	assert_null(draft->not_watched);
	finish(draft);

	one.n_ends = 1;
	draft = discover_watched(&one);
	assert_string_not_equal(draft->intervals[0].why, "seen");
	assert_non_null(strstr(draft->not_watched, "in one call of on_readable"));
	snprintf(path, sizeof path, "%s/vprof.json", drafted_dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", "./run", NULL), 0);
	finish(draft);
}

static void test_drafts_are_readable(void **state)
{
	(void)state;
	expect_readable(make_loop, "./run", 2);
	expect_readable(make_pool, NULL, 6);
	expect_readable(make_nothing, NULL, 0);
	expect_readable(make_gates, NULL, 4);
	expect_readable(make_latches, NULL, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_loop),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_uneven_queue),
		cmocka_unit_test(test_watched_in_calls_of_one_function),
		cmocka_unit_test(test_found_queues),
		cmocka_unit_test(test_relatives_of_a_lock),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_drafts_are_readable),
	};

	return cmocka_run_group_tests(tests, drafted_set_up, drafted_tear_down);
}
