/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of every version of the format (golden/VERSION/) stay readable, record by record. They are a run's of the
 * epoll example, cut to a few records of each chunk; that of version 2 holds the same, partly compressed. Never
 * changed, only added to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/kernel_tables.h"

struct summary {
	uint64_t n_records, n_calls, n_waits, hash;
	size_t n_threads;
};

static uint64_t mix(uint64_t hash, uint64_t x)
{
	hash = (hash ^ x) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static void add_thread(struct summary *s, const struct vprof_trace_thread *thread)
{
	struct vprof_trace_cursor c;
	const struct vp_unit *u;
	uint32_t n;

	s->hash = mix(mix(s->hash, thread->thread_seq), thread->process_seq);
	vprof_trace_cursor_init(&c, thread);
	while ((u = vprof_trace_next(&c, &n))) {
		s->n_records++;
		s->n_calls += VP_CODE(u->w) >= VP_CODE_FUNCTION;
		s->n_waits += VP_CODE(u->w) == VP_KIND_WAIT;
		for (uint32_t i = 0; i < n; i++)
			s->hash = mix(mix(s->hash, u[i].t), u[i].w);
	}
}

static struct summary summarise(const char *dir, uint32_t version)
{
	struct summary s = { .hash = UINT64_C(0xcbf29ce484222325) };
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	if (vprof_trace_open(&t, dir, &err))
		fail_msg("%s", err.message);
	assert_int_equal(t->header.version, version);
	assert_string_equal(t->header.host, "golden");
	vprof_trace_check(t);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(t->is_cut, 0);
	s.n_threads = t->n_threads;
	for (size_t i = 0; i < t->n_threads; i++)
		add_thread(&s, &t->threads[i]);
	for (size_t i = 0; i < t->n_processors; i++)
		add_thread(&s, &t->processors[i]);
	vprof_trace_free(t);
	return s;
}

static void test_versions(void **state)
{
	const struct {
		const char *dir;
		uint32_t version;
	} golden[] = { { "golden/1", VP_FORMAT_VERSION }, { "golden/2", VP_FORMAT_COMPRESSED } };

	(void)state;
	for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
		struct summary s = summarise(golden[i].dir, golden[i].version);

		printf("%s: %zu threads, %llu records, %llu calls, %llu waits, %016llx\n", golden[i].dir, s.n_threads,
		       (unsigned long long)s.n_records, (unsigned long long)s.n_calls, (unsigned long long)s.n_waits,
		       (unsigned long long)s.hash);
		assert_int_equal(s.n_threads, 2);
		assert_int_equal(s.n_records, 794);
		assert_int_equal(s.n_calls, 273);
		assert_int_equal(s.n_waits, 70);
		assert_true(s.hash == UINT64_C(0x6a299c64eed2d66c));
	}
}

/* A recording of a shell by vprof record --stacks: golden/kernel. */
static void test_kernel(void **state)
{
	struct vprof_kernel_tables tables;
	struct vprof_kernel_stream *stream;
	struct vprof_kernel_event e;
	struct vprof_error err = { "" };
	uint64_t n_of[VP_KIND_KERNEL_INTERRUPT + 1] = { 0 };
	struct vprof_trace *t;

	(void)state;
	assert_int_equal(vprof_trace_open(&t, "golden/kernel", &err), 0);
	vprof_trace_check(t);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(t->is_cut, 0);
	assert_int_equal(t->header.kernel_scope, VP_KERNEL_TREE);
	assert_int_equal(vprof_kernel_stream_open(&stream, t, &err), 0);
	while (vprof_kernel_stream_next(stream, &e))
		n_of[e.kind]++;
	vprof_kernel_stream_close(stream);
	assert_int_equal(vprof_kernel_tables_read(&tables, t, &err), 0);
	printf("kernel: %llu switches, %llu wakings, %llu forks, %zu stacks, %zu symbols, %zu devices, %zu processes\n",
	       (unsigned long long)n_of[VP_KIND_KERNEL_SWITCH], (unsigned long long)n_of[VP_KIND_KERNEL_WAKING],
	       (unsigned long long)n_of[VP_KIND_KERNEL_FORK], tables.stacks.n, tables.symbols.n, tables.devices.n,
	       tables.processes.n);
	assert_int_equal(n_of[VP_KIND_KERNEL_SWITCH], 9);
	assert_int_equal(n_of[VP_KIND_KERNEL_WAKING], 3);
	assert_int_equal(n_of[VP_KIND_KERNEL_FORK], 2);
	assert_int_equal(tables.stacks.n, 5);
	assert_int_equal(tables.symbols.n, 24);
	assert_int_equal(tables.devices.n, 14);
	vprof_kernel_tables_release(&tables);
	vprof_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_versions), cmocka_unit_test(test_kernel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
