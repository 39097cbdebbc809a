/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live collector's trace that is finished as it is in a pause (trace/collector/collector_live.h), against a writer
 * and a disk that fills up. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/files.h"
#include "trace/collector.h"
#include "trace/collector/collector_live.h"
#include "trace/reader.h"
#include "trace_writer.h"

#define CODE (VP_CODE_FUNCTION + 7)

static char *folder;
static struct vprof_collector *collector;
static enum vprof_compress_mode compress;

/* Between the collector and the system (ld --wrap). */
static int disk_is_full;
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	if (!disk_is_full)
		return __real_pwrite(fd, bytes, n, at);
	errno = ENOSPC;
	return -1;
}

static uint64_t calls_so_far(const char *dir, int *is_cut)
{
	struct vprof_error err = { "" };
	struct vprof_trace *t;
	uint64_t n;

	if (vprof_trace_open(&t, dir, &err))
		fail_msg("%s", err.message);
	vprof_trace_check(t);
	n = calls_in_order(t, CODE);
	*is_cut = t->is_cut;
	vprof_trace_free(t);
	return n;
}

/* Of the clocks by which a trace's begin is told. */
static uint64_t realtime_offset(const char *dir)
{
	struct vprof_error err = { "" };
	struct vprof_trace *t;
	uint64_t ns;

	if (vprof_trace_open(&t, dir, &err))
		fail_msg("%s", err.message);
	ns = t->header.start_realtime_ns - t->header.start_ns;
	vprof_trace_free(t);
	return ns;
}

static struct vp_shm *start_live(void)
{
	struct vprof_collector_options o = {
		.trace_dir = folder, .memory_bytes = 1 << 20, .compress = compress, .is_live = 1
	};
	struct vprof_error err = { "" };

	if (vprof_collector_open(&collector, &o, &err))
		fail_msg("%s", err.message);
	return writer_map(vprof_collector_shm(collector));
}

static void write_some(struct writer *w, int n)
{
	for (int i = 0; i < n; i++)
		writer_call(w, CODE, 1 + w->n_written, w->n_written);
}

/* What is analysed in a pause must not change meanwhile, nor afterwards if the trace ends there; what is recorded in
 * the pause is not lost if it goes on. */
static void sealed_trace_stays_as_it_is(void **state)
{
	char next[128], last[128];
	struct vprof_text before = VPROF_TEXT_INIT, after = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };
	struct writer w;
	struct vp_shm *shm;
	char *path = vprof_path_join(folder, "records.vpt");
	int is_cut;

	(void)state;
	for (compress = VPROF_COMPRESS_AUTO; compress <= VPROF_COMPRESS_ON; compress++) {
		snprintf(next, sizeof next, "%s/next", folder);
		snprintf(last, sizeof last, "%s/last", folder);
		shm = start_live();
		writer_init(&w, shm, 1, 0);
		write_some(&w, 100);
		vprof_collector_seal(collector);
		assert_int_equal(calls_so_far(folder, &is_cut), 100);
		assert_int_equal(is_cut, 0);
		write_some(&w, 30000);
		assert_true(vprof_collector_drain(collector) > 0);
		vprof_collector_seal(collector); /* it is already */
		assert_int_equal(calls_so_far(folder, &is_cut), 100);
		assert_int_equal(is_cut, 0);
		vprof_collector_go_on(collector);
		vprof_collector_go_on(collector);
		assert_true(calls_so_far(folder, &is_cut) > 100);
		assert_int_equal(is_cut, 1);
		write_some(&w, 100);
		vprof_collector_seal(collector);
		assert_int_equal(calls_so_far(folder, &is_cut), 30200);
		assert_int_equal(is_cut, 0);
		assert_int_equal(vprof_file_read(path, &before, &err), 0);
		write_some(&w, 100);
		assert_int_equal(vprof_collector_turn(collector, next, &err), 0);
		assert_int_equal(vprof_file_read(path, &after, &err), 0);
		assert_int_equal(before.len, after.len);
		assert_memory_equal(before.s, after.s, before.len);
		vprof_text_clear(&before);
		vprof_text_clear(&after);
		assert_int_equal(vprof_collector_turn(collector, last, &err), 0);
		munmap(shm, shm->total_bytes);
		vprof_collector_seal(collector);
		disk_is_full = 1; /* what follows is cut off, and nothing else */
		assert_int_equal(vprof_collector_close(collector, NULL, &err), 0);
		disk_is_full = 0;
		calls_so_far(last, &is_cut);
		assert_int_equal(is_cut, 0);
		assert_int_equal(realtime_offset(next), realtime_offset(folder));
		assert_int_equal(realtime_offset(last), realtime_offset(folder));
	}
	compress = VPROF_COMPRESS_AUTO;
	vprof_text_release(&before);
	vprof_text_release(&after);
	free(path);
}

/* What waited beside the file has no room in it: the trace ends where it was sealed, and is said to be cut. */
static void records_beside_without_room(void **state)
{
	struct vprof_collector_stats stats;
	struct vprof_error err = { "" };
	struct vp_shm *shm;
	struct writer w;
	int is_cut;

	(void)state;
	shm = start_live();
	writer_init(&w, shm, 1, 0);
	write_some(&w, 100);
	vprof_collector_seal(collector);
	write_some(&w, 30000);
	assert_true(vprof_collector_drain(collector) > 0);
	disk_is_full = 1;
	vprof_collector_go_on(collector);
	disk_is_full = 0;
	munmap(shm, shm->total_bytes);
	assert_int_equal(vprof_collector_close(collector, &stats, &err), 0);
	assert_int_equal(stats.disk_failed, ENOSPC);
	assert_int_equal(calls_so_far(folder, &is_cut), 100);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sealed_trace_stays_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_beside_without_room, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
