/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery and check on a small worker pool that vprof-scan itself has read: the draft of a real scan must pass the
 * check without an error, and name the pool's queue, lock and task. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/check/check.h"
#include "annotate/discover/discover.h"
#include "common/facts/never_returns.h"
#include "common/files.h"

static char dir[] = "/tmp/vprof-scanned-XXXXXX";

static const char pool_c[] =
	"#include <pthread.h>\n#include <sched.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
	"struct job { struct job *next; int size; };\n"
	"struct queue { struct job *first; pthread_mutex_t mutex; pthread_cond_t cond; };\n"
	"struct ticket_lock { volatile int held; };\n"
	"static struct queue queue;\nstatic struct ticket_lock lock;\n"
	"static void ticket_acquire(struct ticket_lock *l)\n{\n"
	"\twhile (__sync_lock_test_and_set(&l->held, 1))\n\t\tsched_yield();\n}\n"
	"static void ticket_release(struct ticket_lock *l)\n{\n\t__sync_lock_release(&l->held);\n}\n"
	"static void queue_push(struct queue *q, struct job *item)\n{\n\tpthread_mutex_lock(&q->mutex);\n"
	"\titem->next = q->first;\n\tq->first = item;\n\tpthread_cond_signal(&q->cond);\n"
	"\tpthread_mutex_unlock(&q->mutex);\n}\n"
	"static struct job *queue_pop(struct queue *q)\n{\n\tstruct job *item;\n\n\tpthread_mutex_lock(&q->mutex);\n"
	"\twhile (!q->first)\n\t\tpthread_cond_wait(&q->cond, &q->mutex);\n\titem = q->first;\n\tq->first = item->next;\n"
	"\tpthread_mutex_unlock(&q->mutex);\n\treturn item;\n}\n"
	"static void serve_job(struct job *j)\n{\n\tticket_acquire(&lock);\n\tusleep((unsigned)j->size);\n"
	"\tticket_release(&lock);\n\tfree(j);\n}\n"
	"static void *worker(void *arg)\n{\n\tfor (;;)\n\t\tserve_job(queue_pop(&queue));\n\treturn arg;\n}\n"
	"static void start_thread(void *(*f)(void *))\n{\n\tpthread_t t;\n\n\tpthread_create(&t, NULL, f, NULL);\n}\n"
	"int main(void)\n{\n\tint i;\n\n\tstart_thread(worker);\n\tfor (i = 0; i < 3; i++)\n"
	"\t\tqueue_push(&queue, calloc(1, sizeof(struct job)));\n\treturn 0;\n}\n";

/* A thread for each connection: the receive lies behind a pointer, the lock is a class that waits by futex, a pair of
 * functions around a lock is named like a transaction, and something sleeps by select(). */
static const char sessions_cpp[] =
	"#include <linux/futex.h>\n#include <pthread.h>\n#include <sys/select.h>\n#include <sys/socket.h>\n"
	"#include <sys/syscall.h>\n#include <unistd.h>\n"
	"struct Latch {\n\tint word;\n\tbool lock_try() { return !__sync_lock_test_and_set(&word, 1); }\n"
	"\tvoid wait_and_lock();\n\tvoid wake();\n\tvoid wait(int seen);\n"
	"\tvoid lock() { if (!lock_try()) wait_and_lock(); }\n\tvoid unlock() { __sync_lock_release(&word); wake(); }\n};\n"
	"void Latch::wait(int seen) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0); }\n"
	"void Latch::wake() { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }\n"
	"void Latch::wait_and_lock()\n{\n\twhile (!lock_try())\n\t\twait(1);\n}\n"
	"struct Cache { Latch latch; int rows; };\n"
	"void trx_cache_start_read(Cache *cache) { cache->latch.lock(); }\n"
	"void trx_cache_end_read(Cache *cache) { cache->latch.unlock(); }\n"
	"struct Channel { int fd; long (*fetch)(Channel *, char *, unsigned long); };\n"
	"static long plain_fetch(Channel *c, char *to, unsigned long n) { return recv(c->fd, to, n, 0); }\n"
	"struct Session { Channel channel; Cache *cache; int state; char line[80]; };\n"
	"static void nap(long us) { struct timeval t = { 0, us }; select(0, NULL, NULL, NULL, &t); }\n"
	"static long fetch_part(Session *s) { return s->channel.fetch(&s->channel, s->line, sizeof s->line); }\n"
	"static long fetch_line(Session *s) { long n = fetch_part(s); s->state = (int)n; return n; }\n"
	"bool trans_begin(Session *s, int flags)\n{\n\ts->state = flags;\n\tnap(1);\n\treturn true;\n}\n"
	"bool trans_commit(Session *s)\n{\n\tnap(2);\n\ts->state = 0;\n\treturn true;\n}\n"
	"static int read_rows(Session *s)\n{\n\ttrx_cache_start_read(s->cache);\n\tint rows = s->cache->rows;\n"
	"\ttrx_cache_end_read(s->cache);\n\treturn rows;\n}\n"
	"struct Counter {\n\tint n;\n\tCounter &operator+=(int by) { nap(by); nap(n); n += by; return *this; }\n};\n"
	"static Counter served;\n"
	"bool run_line(Session *s)\n{\n\tfor (int i = 0; i < 3; i++)\n\t\tserved += i;\n\tif (s->line[0] == 'b')\n\t\treturn trans_begin(s, 1);\n"
	"\tif (s->line[0] == 'c')\n\t\treturn trans_commit(s);\n\tnap(read_rows(s));\n\tnap(read_rows(s));\n"
	"\tnap(read_rows(s));\n\tsend(s->channel.fd, \"ok\", 2, 0);\n\treturn true;\n}\n"
	"static bool serve_one(Session *s)\n{\n\tif (fetch_line(s) <= 0)\n\t\treturn false;\n\treturn run_line(s);\n}\n"
	"static void session_loop(Session *s)\n{\n\tfor (;;)\n\t\tif (!serve_one(s))\n\t\t\tbreak;\n}\n"
	"static void *session_thread(void *arg)\n{\n\tSession *s = static_cast<Session *>(arg);\n"
	"\ts->channel.fetch = plain_fetch;\n\tsession_loop(s);\n\treturn nullptr;\n}\n"
	"int main()\n{\n\tstatic Session s;\n\tstatic Cache cache;\n\tpthread_t t;\n\n\ts.cache = &cache;\n"
	"\tpthread_create(&t, NULL, session_thread, &s);\n\tpthread_join(t, NULL);\n\treturn 0;\n}\n";

/* A process for each connection, which ends the process instead of returning. */
static const char forking_c[] =
	"#include <stdlib.h>\n#include <sys/select.h>\n#include <sys/socket.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
	"static int fd;\nstatic char line[80];\n"
	"static void wait_until_closed(void)\n{\n\tselect(1, NULL, NULL, NULL, NULL);\n}\n"
	"static void finish(int status)\n{\n\twait_until_closed();\n#ifdef NOT\n\tclose(fd);\n#endif /* NOT */\n"
	"\t/* \"lingers }\" */\n\texit(status); // }\n}\n"
	"static long get(void)\n{\n\treturn recv(fd, line, sizeof line, 0);\n}\n"
	"static void may_return(int n)\n{\n\tif (n > 3) {\n\t\texit(n);\n\t}\n}\n"
	"static void may_return_too(int n)\n{\n\tif (n > 3)\n\t\texit(n);\n}\n"
	"static void handle(void)\n{\n\tlong n = get();\n\n\tmay_return((int)n);\n\tmay_return_too((int)n);\n"
	"\tsend(fd, line, (size_t)n, 0);\n\tfinish(0);\n}\n"
	"int main(void)\n{\n\tfor (;;) {\n\t\tfd = accept(0, NULL, NULL);\n\t\tif (!fork())\n\t\t\thandle();\n"
	"\t\tclose(fd);\n\t\twhile (waitpid(-1, NULL, WNOHANG) > 0)\n\t\t\t;\n\t}\n}\n";

static struct vprof_facts *facts;

static void write_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(vprof_file_write(path, text, strlen(text), NULL), 0);
}

static void scan(const char *source, const char *text_of_source, const char *compiler)
{
	char text[1024];
	struct vprof_error err = { "" };

	write_file(source, text_of_source);
	snprintf(text, sizeof text,
		 "[{\"directory\": \"%s\", \"file\": \"%s\", \"output\": \"%s.o\", \"arguments\": [\"%s\", \"-O2\", "
		 "\"-fno-tree-vrp\", \"-c\", \"%s\", \"-o\", \"%s.o\"]}]\n",
		 dir, source, source, compiler, source, source);
	write_file("compile_commands.json", text);
	snprintf(text, sizeof text, "%s --root %s --facts %s/facts.db %s/compile_commands.json >%s/scan.log",
		 VPROF_SCANNER, dir, dir, dir, dir);
	assert_int_equal(system(text), 0);
	snprintf(text, sizeof text, "%s/facts.db", dir);
	if (vprof_facts_open(&facts, text, &err))
		fail_msg("%s", err.message);
}

static void check_draft(const char *path, size_t n_hooks)
{
	struct vprof_annotations *a;
	struct vprof_findings findings;
	struct vprof_error err = { "" };
	size_t i;

	if (vprof_annotations_read(&a, path, &err) || vprof_annotations_check(a, facts, &findings, &err))
		fail_msg("%s", err.message);
	assert_int_equal(a->n_hooks, n_hooks);
	for (i = 0; i < findings.n; i++)
		if (findings.items[i].severity != VPROF_FINDING_OK)
			fail_msg("%s: %s", findings.items[i].place.key, findings.items[i].message);
	vprof_findings_release(&findings);
	vprof_annotations_free(a);
}

static void test_pool(void **state)
{
	struct vprof_callgraph *graph;
	struct vprof_draft *draft;
	struct vprof_error err = { "" };
	char path[128];

	(void)state;
	scan("pool.c", pool_c, "gcc");
	if (vprof_callgraph_build(&graph, facts, &err) || vprof_discover(facts, graph, NULL, NULL, &draft, &err))
		fail_msg("%s", err.message);
	assert_string_equal(draft->intervals[0].function, "serve_job");
	assert_string_equal(draft->intervals[0].id, "j");
	assert_int_equal(draft->n_queues, 1);
	assert_string_equal(draft->queues[0].enqueue, "queue_push");
	assert_string_equal(draft->queues[0].dequeue, "queue_pop");
	assert_int_equal(draft->n_sync, 1);
	assert_true(draft->sync[0].custom);
	assert_string_equal(draft->sync[0].acquire, "ticket_acquire");
	assert_string_equal(draft->sync[0].release, "ticket_release");
	assert_int_equal(draft->n_entries, 2);
	snprintf(path, sizeof path, "%s/vprof.json", dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", NULL, &err), 0);
	check_draft(path, 6);
	vprof_draft_free(draft);
	vprof_callgraph_free(graph);
	vprof_facts_free(facts);
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

static const struct vprof_interval_proposal *proposed(const struct vprof_draft *draft, const char *function)
{
	size_t i;

	for (i = 0; i < draft->n_intervals; i++)
		if (!strcmp(draft->intervals[i].function, function))
			return &draft->intervals[i];
	return NULL;
}

static void test_sessions(void **state)
{
	const struct vprof_interval_proposal *one;
	struct vprof_callgraph *graph;
	struct vprof_draft *draft;
	struct vprof_error err = { "" };
	char path[128];
	size_t i;

	(void)state;
	scan("sessions.cpp", sessions_cpp, "g++");
	if (vprof_callgraph_build(&graph, facts, &err) || vprof_discover(facts, graph, NULL, NULL, &draft, &err))
		fail_msg("%s", err.message);
	one = proposed(draft, "trans_begin");
	assert_non_null(one);
	assert_string_equal(one->id, "s");
	assert_string_equal(one->end, "trans_commit");
	one = proposed(draft, "run_line");
	assert_non_null(one);
	assert_string_equal(one->id, "s");
	assert_null(one->end);
	assert_non_null(strstr(one->why, "called by serve_one after a receive"));
	one = proposed(draft, "trx_cache_start_read"); /* not as a pair: it locks */
	assert_true(!one || !one->end);
	for (i = 0; i < draft->n_intervals; i++)
		assert_null(strstr(draft->intervals[i].function, "operator"));
	for (i = 0; i < draft->n_sync && !draft->sync[i].custom; i++)
		;
	assert_true(i < draft->n_sync);
	assert_string_equal(draft->sync[i].acquire, "Latch::wait_and_lock");
	assert_string_equal(draft->sync[i].acquire_object, "this");
	assert_string_equal(draft->sync[i].release, "Latch::wake");
	assert_string_equal(draft->sync[i].release_object, "this");
	snprintf(path, sizeof path, "%s/vprof.json", dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", NULL, &err), 0);
	check_draft(path, 4);
	vprof_draft_free(draft);
	vprof_callgraph_free(graph);
	vprof_facts_free(facts);
}

static uint32_t index_of(const char *name)
{
	uint32_t f = 0;

	assert_int_equal(vprof_facts_find(facts, name, NULL, &f, 1), 1);
	return f;
}

static void test_forking(void **state)
{
	struct vprof_callgraph *graph;
	struct vprof_draft *draft;
	struct vprof_annotations *a;
	struct vprof_findings findings;
	struct vprof_error err = { "" };
	char path[128];

	(void)state;
	scan("forking.c", forking_c, "gcc");
	assert_string_equal(vprof_facts_final_call(facts, index_of("finish"))->callee, "exit");
	assert_string_equal(vprof_facts_final_call(facts, index_of("handle"))->callee, "finish");
	assert_null(vprof_facts_final_call(facts, index_of("may_return")));
	assert_null(vprof_facts_final_call(facts, index_of("may_return_too")));
	assert_null(vprof_facts_final_call(facts, index_of("main")));
	if (vprof_callgraph_build(&graph, facts, &err) || vprof_discover(facts, graph, NULL, NULL, &draft, &err))
		fail_msg("%s", err.message);
	assert_string_equal(draft->intervals[0].function, "handle");
	assert_string_equal(draft->intervals[0].id, "getpid()");
	assert_string_equal(draft->intervals[0].end, "finish");
	assert_true(draft->intervals[0].ends_at_entry);
	snprintf(path, sizeof path, "%s/vprof.json", dir);
	assert_int_equal(vprof_draft_write(draft, path, "make", NULL, &err), 0);
	check_draft(path, 2);
	write_file("vprof.json", "{\"build\": \"make\", \"intervals\": [{\"name\": \"request\",\n"
				 "\"begin\": {\"function\": \"handle\", \"id\": \"1\"},\n"
				 "\"end\": {\"function\": \"handle\", \"at\": \"exit\", \"id\": \"1\"}}]}\n");
	if (vprof_annotations_read(&a, path, &err) || vprof_annotations_check(a, facts, &findings, &err))
		fail_msg("%s", err.message);
	assert_int_equal(findings.n_warnings, 1);
	for (size_t i = 0; i < findings.n; i++)
		if (findings.items[i].severity == VPROF_FINDING_WARNING &&
		    !strstr(findings.items[i].message,
			    "handle never returns, it ends with exit (line 19): this end never "
			    "happens; put it at the entry of finish"))
			fail_msg("%s", findings.items[i].message);
	vprof_findings_release(&findings);
	vprof_annotations_free(a);
	vprof_draft_free(draft);
	vprof_callgraph_free(graph);
	vprof_facts_free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_pool), cmocka_unit_test(test_sessions),
					    cmocka_unit_test(test_forking) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
