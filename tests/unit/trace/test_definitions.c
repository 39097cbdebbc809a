/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a live session keeps of what its processes have defined, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "trace/collector/collector_inside.h"
#include "trace/collector/collector_live.h"
#include "trace/collector/definitions.h"
#include "trace/reader.h"
#include "trace_writer.h"

#define N_PROCESSES 10000u
#define N_AT_ONCE 10u
#define NO_PID 0x7f000000u /* above what Linux gives to processes: such a process is dead */
#define NAMESPACE 77u

static char *folder;
static struct vprof_collector *collector;

struct threads {
	size_t n;
	uint32_t thread_seq, process_seq; /* of the last one */
};

static int count_thread(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	struct threads *t = arg;

	(void)units;
	if (!t->n || t->thread_seq != h->thread_seq || t->process_seq != h->process_seq)
		*t = (struct threads){ t->n + 1, h->thread_seq, h->process_seq };
	return 0;
}

/* Threads of which something is kept. */
static size_t n_defining(const struct vprof_definitions *d)
{
	struct threads t = { 0 };

	assert_int_equal(vprof_definitions_store(d, count_thread, &t), 0);
	return t.n;
}

static struct vp_shm *start(void)
{
	struct vprof_collector_options o = { .trace_dir = folder, .memory_bytes = 4 << 20, .is_live = 1 };
	struct vprof_error err = { "" };

	if (vprof_collector_open(&collector, &o, &err))
		fail_msg("%s", err.message);
	return writer_map(vprof_collector_shm(collector));
}

/* What every process writes once: 2 + 2 + 3 + 3 units. */
static void define(struct writer *w, uint32_t pid, uint64_t pid_namespace)
{
	const struct vp_unit begin[2] = { { 1000, VP_W(VP_KIND_START, 0) }, { 0, pid } };
	struct vp_unit string[2] = { { 4711, VP_W(VP_KIND_STRING, 7) } };
	struct vp_unit module[3] = { { 0x400000, VP_W(VP_KIND_MODULE, 4) }, { 0x400000, 0x500000 } };
	const struct vp_unit id[3] = { { 0x400000, VP_W(VP_KIND_BUILD_ID, 4) }, { 0x1234, 0 }, { 0, 0 } };

	memcpy(&string[1], "request", 7);
	memcpy(&module[2], "/bin", 4);
	writer_record(w, begin, 2);
	assert_non_null(w->chunk);
	w->chunk->pid = pid;
	w->chunk->pid_namespace = pid_namespace;
	writer_record(w, string, 2);
	writer_record(w, module, 3);
	writer_record(w, id, 3);
}

/* Processes begin, define and are gone, some at a time. The most threads of which something was kept. */
static size_t come_and_go(struct vp_shm *shm, uint32_t pid, uint32_t pid_step, uint64_t pid_namespace)
{
	size_t most = 0;

	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		struct writer w;

		writer_init(&w, shm, 2 + i, 1);
		define(&w, pid + i * pid_step, pid_namespace);
		writer_hand_over(&w);
		if (i % N_AT_ONCE)
			continue;
		while (vprof_collector_drain(collector))
			;
		if (n_defining(collector->definitions) > most)
			most = n_defining(collector->definitions);
	}
	while (vprof_collector_drain(collector))
		;
	return most;
}

static uint64_t count(const struct vprof_trace *t, uint32_t kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_threads; i++) {
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		uint32_t n_units;

		vprof_trace_cursor_init(&c, &t->threads[i]);
		while ((u = vprof_trace_next(&c, &n_units)))
			n += VP_CODE(u->w) == kind;
	}
	return n;
}

/* The next trace begins with what the `n` threads have defined that are left. */
static void check_next_trace(struct vp_shm *shm, size_t n)
{
	struct vprof_error err = { "" };
	struct vprof_trace *t;
	char next[128];

	snprintf(next, sizeof next, "%s/next", folder);
	assert_int_equal(vprof_collector_turn(collector, next, &err), VPROF_OK);
	assert_int_equal(n_defining(collector->definitions), n);
	munmap(shm, shm->total_bytes);
	assert_int_equal(vprof_collector_close(collector, NULL, &err), VPROF_OK);
	assert_int_equal(vprof_trace_open(&t, next, &err), VPROF_OK);
	assert_int_equal(t->n_threads, n);
	assert_int_equal(count(t, VP_KIND_START), n);
	assert_int_equal(count(t, VP_KIND_STRING), n);
	assert_int_equal(count(t, VP_KIND_MODULE), n);
	assert_int_equal(count(t, VP_KIND_BUILD_ID), n);
	vprof_trace_free(t);
}

/* A server that forks a process for every request. */
static void dead_processes_are_forgotten(void **state)
{
	struct vp_shm *shm = start();
	struct writer server;

	(void)state;
	writer_init(&server, shm, 1, 0);
	define(&server, (uint32_t)getpid(), 0);
	vprof_collector_seal(collector);
	assert_int_equal(n_defining(collector->definitions), 1);
	assert_in_range(come_and_go(shm, NO_PID, 1, 0), 2, 2 + VPROF_DEFINITIONS_SLACK + N_AT_ONCE);
	check_next_trace(shm, 1);
}

/* One process that executes itself again and again, in a container: its number is all that is known. */
static void executed_programs_replace_one_another(void **state)
{
	struct vp_shm *shm = start();

	(void)state;
	assert_in_range(come_and_go(shm, 12, 0, NAMESPACE), 2, 2 + VPROF_DEFINITIONS_SLACK + N_AT_ONCE);
	check_next_trace(shm, 1);
}

/* Nothing is known of their ends. */
static void processes_elsewhere_are_kept(void **state)
{
	struct vp_shm *shm = start();

	(void)state;
	assert_int_equal(come_and_go(shm, NO_PID, 1, NAMESPACE), N_PROCESSES - N_AT_ONCE + 1);
	check_next_trace(shm, N_PROCESSES);
}

/* The judge by hand: who is dead, and of whom a chunk is under way. */
struct judged {
	uint32_t dead_from, under_way;
};

static int is_dead(void *arg, const struct vp_chunk_header *h)
{
	return h->process_seq >= ((const struct judged *)arg)->dead_from;
}

static int is_under_way(void *arg, const struct vp_chunk_header *h)
{
	return h->process_seq == ((const struct judged *)arg)->under_way;
}

static int count_chunks(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	(void)units;
	*(uint32_t *)arg |= 1u << h->process_seq;
	return 0;
}

static void what_is_under_way_is_waited_for(void **state)
{
	struct judged judged = { .dead_from = 3, .under_way = 4 };
	const struct vprof_definitions_judge judge = { is_dead, is_under_way, &judged };
	struct vprof_definitions *d = vprof_definitions_new();
	struct vp_unit string[2] = { { 4711, VP_W(VP_KIND_STRING, 7) } };
	uint32_t seen = 0;

	(void)state;
	memcpy(&string[1], "request", 7);
	assert_non_null(d);
	assert_false(vprof_definitions_is_due(d));
	for (uint32_t i = 1; i <= 5; i++) {
		const struct vp_chunk_header h = { .magic = VP_CHUNK_MAGIC,
						   .n_bytes = sizeof string,
						   .thread_seq = i,
						   .process_seq = i,
						   .pid = 100 + i };

		assert_int_equal(vprof_definitions_add(d, &h, string), VPROF_OK);
	}
	assert_int_equal(vprof_definitions_forget(d, &judge), VPROF_OK);
	assert_int_equal(n_defining(d), 3);
	assert_int_equal(vprof_definitions_store(d, count_chunks, &seen), 0);
	assert_int_equal(seen, 1u << 1 | 1u << 2 | 1u << 4);
	judged.under_way = 0;
	assert_int_equal(vprof_definitions_forget(d, &judge), VPROF_OK);
	assert_int_equal(n_defining(d), 2);
	vprof_definitions_free(d);
}

static int set_up(void **state)
{
	(void)state;
	folder = make_folder();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove_folder(folder);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dead_processes_are_forgotten),
		TEST(executed_programs_replace_one_another),
		TEST(processes_elsewhere_are_kept),
		TEST(what_is_under_way_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
