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

#include "annotate/check.h"
#include "annotate/discover.h"
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

static struct vprof_facts *facts;

static void write_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_int_equal(vprof_file_write(path, text, strlen(text), NULL), 0);
}

static void scan(void)
{
	char text[1024];
	struct vprof_error err = { "" };

	write_file("pool.c", pool_c);
	snprintf(text, sizeof text,
		 "[{\"directory\": \"%s\", \"file\": \"pool.c\", \"output\": \"pool.o\", \"arguments\": [\"gcc\", \"-O2\", "
		 "\"-fno-tree-vrp\", \"-c\", \"pool.c\", \"-o\", \"pool.o\"]}]\n", dir);
	write_file("compile_commands.json", text);
	snprintf(text, sizeof text, "%s --root %s --facts %s/facts.db %s/compile_commands.json >%s/scan.log", VPROF_SCANNER,
		 dir, dir, dir, dir);
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
	scan();
	if (vprof_callgraph_build(&graph, facts, &err) || vprof_discover(facts, graph, &draft, &err))
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_pool) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
