/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The collector against writers that behave, die, fill the ring, fill the disk and scribble. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/files.h"
#include "trace/clock.h"
#include "trace/collector.h"
#include "trace/reader.h"
#include "trace_writer.h"

#define CODE (VP_CODE_FUNCTION + 7)

static char *folder;
static struct vprof_collector *collector;

static enum vprof_compress_mode compress;
static double budget;

/* Between the collector and the system (ld --wrap): a slow disk, a full one, and one with little room. While
 * `virtual_ns` is not 0 it is the time, which only a slow disk and the tests advance, and `virtual_cpu_ns` is the
 * collector's own. */
static uint64_t virtual_ns, virtual_cpu_ns, disk_ns_per_kib, disk_room_bytes = UINT64_MAX;
static int disk_is_full;
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __real_fstatvfs(int fd, struct statvfs *fs);
int __real_clock_gettime(clockid_t clock, struct timespec *t);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __wrap_fstatvfs(int fd, struct statvfs *fs);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	if (disk_is_full) {
		errno = ENOSPC;
		return -1;
	}
	if (virtual_ns)
		virtual_ns += disk_ns_per_kib * n / 1024;
	return __real_pwrite(fd, bytes, n, at);
}

int __wrap_fstatvfs(int fd, struct statvfs *fs)
{
	int ret = __real_fstatvfs(fd, fs);

	if (!ret && disk_room_bytes != UINT64_MAX)
		fs->f_bavail = (fsblkcnt_t)(disk_room_bytes / fs->f_frsize);
	return ret;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = clock == CLOCK_MONOTONIC ? virtual_ns : virtual_cpu_ns;

	if ((clock != CLOCK_MONOTONIC && clock != CLOCK_THREAD_CPUTIME_ID) || !virtual_ns)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	return 0;
}

static struct vp_shm *start(uint64_t ring_bytes, uint64_t max_trace_bytes)
{
	struct vprof_collector_options o = { .trace_dir = folder,
					     .memory_bytes = ring_bytes,
					     .max_trace_bytes = max_trace_bytes,
					     .compress = compress,
					     .budget = budget };
	struct vprof_error err = { "" };

	if (vprof_collector_open(&collector, &o, &err))
		fail_msg("%s", err.message);
	return writer_map(vprof_collector_shm(collector));
}

static struct vprof_trace *finish(struct vp_shm *shm, struct vprof_collector_stats *stats)
{
	struct vprof_error err = { "" };
	struct vprof_trace *t;
	char path[64];

	snprintf(path, sizeof path, "%s", vprof_collector_shm(collector));
	munmap(shm, shm->total_bytes);
	assert_int_equal(vprof_collector_close(collector, stats, &err), 0);
	assert_int_equal(access(path, F_OK), -1);
	if (vprof_trace_open(&t, folder, &err))
		fail_msg("%s", err.message);
	vprof_trace_check(t);
	return t;
}

static void *write_calls(void *arg)
{
	struct writer *w = arg;

	for (uint64_t i = 0; i < 20000; i++) {
		writer_call(w, CODE, 1 + i, w->n_written);
		if (i % 1000 == 0)
			usleep(1000);
	}
	writer_hand_over(w);
	return NULL;
}

static void threads_written_in_order(void **state)
{
	struct vp_shm *shm = start(1 << 20, 0);
	struct vprof_collector_stats stats;
	struct writer w[4];
	struct vprof_trace *t;
	pthread_t threads[4];
	struct stat st;

	(void)state;
	assert_int_equal(stat(vprof_collector_shm(collector), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(shm->magic, VP_SHM_MAGIC);
	for (int i = 0; i < 4; i++) {
		writer_init(&w[i], shm, 1, 0);
		assert_int_equal(pthread_create(&threads[i], NULL, write_calls, &w[i]), 0);
	}
	for (int i = 0; i < 200; i++) {
		while (vprof_collector_drain(collector))
			;
		usleep(500);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	t = finish(shm, &stats);
	assert_int_equal(t->n_threads, 4);
	assert_int_equal(stats.n_threads, 4);
	assert_int_equal(t->is_cut, 0);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(t->n_dropped, stats.n_dropped);
	assert_int_equal(calls_in_order(t, CODE) + stats.n_dropped, 4 * 20000);
	assert_int_equal(stats.disk_failed, 0);
	vprof_trace_free(t);
}

static void full_ring_drops_and_counts(void **state)
{
	struct vp_shm *shm = start(1, 0); /* the smallest there is */
	struct vprof_collector_stats stats;
	struct vprof_trace *t;
	struct writer w;

	(void)state;
	writer_init(&w, shm, 1, 0);
	for (uint64_t i = 0; i < 100000; i++)
		writer_call(&w, CODE, 1 + i, w.n_written); /* nobody drains */
	assert_true(w.n_dropped > 0);
	assert_int_equal(vprof_collector_drain(collector), (int)shm->n_chunks);
	for (uint64_t i = 0; i < 10; i++)
		writer_call(&w, CODE, 1 + i, w.n_written);
	writer_hand_over(&w);
	t = finish(shm, &stats);
	assert_int_equal(calls_in_order(t, CODE), w.n_written);
	assert_int_equal(w.n_written + stats.n_dropped, 100010);
	assert_int_equal(t->n_dropped, stats.n_dropped);
	vprof_trace_free(t);
}

struct shared_count {
	_Atomic uint64_t begun, done;
};

/* Children are killed while they write; of each, all finished records must be there and at most one more. */
static void killed_writers_lose_nothing(void **state)
{
	struct vp_shm *shm = start(8 << 20, 0);
	struct shared_count *counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct vprof_collector_stats stats;
	struct vprof_trace *t;
	uint64_t seed = 7, found = 0;
	enum { ROUNDS = 24 };

	(void)state;
	assert_true(counts != MAP_FAILED);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		pid_t pid = fork();

		if (!pid) {
			struct writer w;

			writer_init(&w, shm, 1 + round, 0);
			for (uint64_t i = 0; w.n_dropped == 0; i++) {
				struct vp_unit u[3] = { { 1 + i, VP_W(VP_KIND_WAIT, VP_WAIT_MUTEX) },
							{ i, i },
							{ i + 1, i } };

				atomic_store(&counts[round].begun, i + 1);
				writer_record(&w, u, 3);
				atomic_store(&counts[round].done, i + 1);
				if (i % 64 == 0)
					usleep(100);
			}
			_exit(0);
		}
		usleep((useconds_t)(next_random(&seed) % 12000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		vprof_collector_drain(collector);
	}
	usleep(210000);
	vprof_collector_drain(collector); /* chunks of the dead come back while the run goes on */
	for (uint32_t i = 0; i < shm->n_chunks; i++) {
		const struct vp_chunk_header *c =
			(void *)((char *)shm + shm->chunks_offset + (size_t)i * VP_CHUNK_BYTES);

		/* Killed between taking the chunk and signing it: nobody can tell whose it is until the end. */
		if (c->magic)
			assert_int_equal(((_Atomic uint32_t *)((char *)shm + shm->states_offset))[i], VP_CHUNK_FREE);
	}
	t = finish(shm, &stats);
	for (size_t i = 0; i < t->n_threads; i++) {
		const struct shared_count *count = &counts[t->threads[i].process_seq - 1];
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		uint64_t n = 0;
		uint32_t k;

		vprof_trace_cursor_init(&c, &t->threads[i]);
		while ((u = vprof_trace_next(&c, &k))) {
			assert_int_equal(k, 3);
			assert_int_equal(u[1].t, n);
			assert_int_equal(u[2].t, n + 1);
			n++;
		}
		assert_true(n >= atomic_load(&count->done) && n <= atomic_load(&count->begun));
		found += n;
	}
	for (int i = 0; i < ROUNDS; i++)
		found -= atomic_load(&counts[i].done);
	assert_true(found <= ROUNDS);
	assert_int_equal(t->n_bytes_ignored, 0);
	vprof_trace_free(t);
	munmap(counts, 4096);
}

static void last_record_may_end_in_zeros(void **state)
{
	struct vp_shm *shm = start(1 << 20, 0);
	struct vp_unit u[2] = { { 5, VP_W(VP_KIND_TYPE, 0) }, { 0, 0 } }; /* the number 0 as type */
	struct vprof_trace_cursor c;
	struct vprof_trace *t;
	struct writer w;
	uint32_t k;

	(void)state;
	writer_init(&w, shm, 1, 0);
	writer_record(&w, u, 2); /* and never hands over */
	t = finish(shm, NULL);
	assert_int_equal(t->n_threads, 1);
	vprof_trace_cursor_init(&c, &t->threads[0]);
	assert_non_null(vprof_trace_next(&c, &k));
	assert_int_equal(k, 2);
	assert_null(vprof_trace_next(&c, &k));
	assert_int_equal(t->n_bytes_ignored, 0);
	vprof_trace_free(t);
}

static void write_past_a_limit(rlim_t file_bytes, uint64_t max_trace_bytes, int expect_failed)
{
	struct rlimit old, limit;
	struct vp_shm *shm;
	struct vprof_collector_stats stats;
	struct vprof_trace *t;
	struct writer w;

	signal(SIGXFSZ, SIG_IGN);
	shm = start(1 << 20, max_trace_bytes);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	if (file_bytes)
		limit.rlim_cur = file_bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
	writer_init(&w, shm, 1, 0);
	for (uint64_t i = 0; i < 100000; i++) {
		writer_call(&w, CODE, 1 + i, w.n_written);
		if (i % 500 == 0)
			vprof_collector_drain(collector);
	}
	writer_hand_over(&w);
	assert_int_equal(w.n_dropped, 0); /* the ring kept being emptied */
	setrlimit(RLIMIT_FSIZE, &old);
	t = finish(shm, &stats);
	assert_int_equal(stats.disk_failed, expect_failed);
	assert_true(stats.n_dropped > 0);
	assert_int_equal(calls_in_order(t, CODE) + stats.n_dropped, 100000);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(t->is_cut, 0);
	vprof_trace_free(t);
}

static void full_disk_counts_and_goes_on(void **state)
{
	(void)state;
	write_past_a_limit(300000, 0, EFBIG);
}

static void largest_trace_counts_and_goes_on(void **state)
{
	(void)state;
	write_past_a_limit(0, 300000, 0);
}

/* The ring is full, then the disk: the DROPPED notes of chunks that cannot be stored report records that the ring had
 * no room for, which are counted already. */
static void full_ring_and_full_disk_count_once(void **state)
{
	struct vp_shm *shm = start(1, 0);
	struct vprof_collector_stats stats;
	struct vprof_trace *t;
	struct writer w;
	const uint64_t n = 5 * 20000;

	(void)state;
	writer_init(&w, shm, 1, 0);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 20000; i++)
			writer_call(&w, CODE, 1, w.n_written); /* nobody drains: most are dropped */
		disk_is_full = round > 0;
		assert_int_equal(vprof_collector_drain(collector), (int)shm->n_chunks);
	}
	assert_true(w.n_dropped > 0 && w.n_unreported < w.n_dropped);
	disk_is_full = 0; /* the trace ends where it filled up, but its header can be finished */
	t = finish(shm, &stats);
	assert_int_equal(stats.disk_failed, ENOSPC);
	assert_true(stats.n_dropped > w.n_dropped);
	assert_int_equal(calls_in_order(t, CODE) + stats.n_dropped, n);
	assert_int_equal(t->n_dropped, stats.n_dropped);
	vprof_trace_free(t);
}

static void scribbled_headers_do_no_harm(void **state)
{
	struct vp_shm *shm = start(4 << 20, 0);
	uint64_t seed = 99, total = shm->total_bytes;
	uint32_t n_chunks = shm->n_chunks;
	struct vprof_collector_stats stats;
	struct vprof_trace *t;
	struct writer w;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		unsigned char *header;

		writer_init(&w, shm, 1 + (uint32_t)round, 0);
		for (uint64_t i = 0; i < next_random(&seed) % 200; i++)
			writer_call(&w, CODE, 1 + i, i);
		if (!w.chunk)
			continue;
		header = (void *)w.chunk;
		writer_hand_over(&w);
		for (uint64_t i = next_random(&seed) % 12; i; i--)
			header[next_random(&seed) % 32] = (unsigned char)next_random(&seed);
		if (round % 7 == 0)
			memset(header, 0xff, VP_CHUNK_BYTES);
		vprof_collector_drain(collector);
	}
	/* Also what the collector itself once laid out. */
	shm->n_chunks = UINT32_MAX;
	shm->chunks_offset = shm->states_offset = UINT64_MAX / 2;
	shm->magic = 0;
	vprof_collector_drain(collector);
	shm->n_chunks = n_chunks;
	shm->total_bytes = total;
	t = finish(shm, &stats);
	for (size_t i = 0; i < t->n_threads; i++) {
		struct vprof_trace_cursor c;
		uint32_t k;

		vprof_trace_cursor_init(&c, &t->threads[i]);
		while (vprof_trace_next(&c, &k))
			;
	}
	vprof_trace_free(t);
}

static void dead_collectors_files_are_removed(void **state)
{
	char path[64], other[] = "/dev/shm/vprof-mine-to-keep";
	struct vp_shm *shm;
	int status;
	pid_t pid = fork();
	FILE *f;

	(void)state;
	if (!pid) {
		start(1 << 20, 0);
		_exit(0); /* without close */
	}
	waitpid(pid, &status, 0);
	f = fopen(other, "w");
	assert_non_null(f);
	fclose(f);
	shm = start(1 << 20, 0);
	snprintf(path, sizeof path, "ls /dev/shm/vprof-%d-* >/dev/null 2>&1", (int)pid);
	assert_int_not_equal(system(path), 0);
	assert_int_equal(access(other, F_OK), 0);
	unlink(other);
	assert_int_equal(access(vprof_collector_shm(collector), F_OK), 0);
	vprof_collector_abandon(collector);
	assert_int_equal(access(vprof_collector_shm(collector), F_OK), -1);
	vprof_trace_free(finish(shm, NULL));
}

/* In another pid namespace with the same /dev/shm a collector's pid is nobody's, or somebody else's. */
static void what_a_live_collector_holds_stays(void **state)
{
	char stale[] = "/dev/shm/vprof-2147483646-unused", held[] = "/dev/shm/vprof-2147483647-living", mine[256];
	int fd = open(held, O_CREAT | O_RDWR | O_CLOEXEC, 0600),
	    other = open(stale, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	struct vp_shm *shm;

	(void)state;
	assert_true(fd >= 0 && other >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	shm = start(1 << 20, 0);
	snprintf(mine, sizeof mine, "%s", vprof_collector_shm(collector));
	assert_int_equal(access(held, F_OK), 0);
	assert_int_equal(access(stale, F_OK), -1);
	close(other);
	other = open(mine, O_RDONLY | O_CLOEXEC);
	assert_true(other >= 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	vprof_trace_free(finish(shm, NULL));
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	unlink(held);
	close(fd);
	close(other);
}

static void unwritable_folder_is_an_error(void **state)
{
	struct vprof_collector_options o = { .trace_dir = "/proc/none/here" };
	struct vprof_error err = { "" };

	(void)state;
	assert_int_not_equal(vprof_collector_open(&collector, &o, &err), 0);
	assert_null(collector);
	assert_true(strlen(err.message) > 20);
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

/* Cuts or damages the last chunk's frame: that chunk is gone, the others stay. */
static void check_damaged(uint64_t n_all, int is_cut)
{
	char *path = vprof_path_join(folder, "records.vpt");
	struct vprof_error err = { "" };
	struct vprof_trace *t;
	struct stat st;
	uint64_t n;
	int fd;

	assert_int_equal(stat(path, &st), 0);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	if (is_cut)
		assert_int_equal(ftruncate(fd, st.st_size - 40), 0);
	else
		assert_int_equal(pwrite(fd, "damage, of sixteen", 16, st.st_size - 64), 16);
	close(fd);
	assert_int_equal(vprof_trace_open(&t, folder, &err), 0);
	vprof_trace_check(t);
	assert_int_equal(t->is_cut, is_cut);
	assert_true(t->n_bytes_ignored > 0);
	n = calls_in_order(t, CODE);
	assert_true(n > 0 && n < n_all);
	vprof_trace_free(t);
	free(path);
}

static void chunks_are_compressed(void **state)
{
	struct vprof_collector_stats stats;
	struct vprof_trace *t;
	struct vp_shm *shm;
	struct writer w;

	(void)state;
	compress = VPROF_COMPRESS_ON;
	shm = start(1 << 20, 0);
	compress = VPROF_COMPRESS_OFF;
	writer_init(&w, shm, 1, 0);
	for (uint64_t i = 0; i < 30000; i++) {
		writer_call(&w, CODE, 1 + i, w.n_written);
		vprof_collector_drain(collector);
	}
	writer_hand_over(&w);
	t = finish(shm, &stats);
	assert_int_equal(t->header.version, VP_FORMAT_COMPRESSED);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(calls_in_order(t, CODE), 30000);
	assert_int_equal(stats.n_unit_bytes, 30000 * VP_UNIT_BYTES);
	assert_true(stats.n_bytes < stats.n_unit_bytes / 2);
	assert_int_equal(t->threads[0].chunks[0]->magic, VP_CHUNK_COMPRESSED);
	vprof_trace_free(t);
	check_damaged(30000, 0);
	check_damaged(30000, 1);
}

/* Records `mib` of units; how many chunks were stored as they are before the first compressed one is returned. */
static size_t record_mib(enum vprof_compress_mode mode, uint64_t mib, size_t *n_compressed)
{
	struct vprof_collector_stats stats;
	uint64_t n = (mib << 20) / VP_UNIT_BYTES;
	struct vp_shm *shm;
	struct vprof_trace *t;
	size_t n_plain = 0;
	struct writer w;

	compress = mode;
	shm = start(4 << 20, 0);
	virtual_ns = vprof_clock_monotonic_ns();
	compress = VPROF_COMPRESS_OFF;
	writer_init(&w, shm, 1, 0);
	for (uint64_t i = 0; i < n; i++) {
		writer_call(&w, CODE, 1 + i, w.n_written);
		if (i % 16384 == 0)
			while (vprof_collector_drain(collector))
				;
	}
	writer_hand_over(&w);
	disk_ns_per_kib = virtual_ns = 0;
	t = finish(shm, &stats);
	assert_int_equal(w.n_written, n);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(calls_in_order(t, CODE), n);
	*n_compressed = 0;
	for (uint32_t i = 0; i < t->threads[0].n_chunks; i++) {
		int is_compressed = t->threads[0].chunks[i]->magic == VP_CHUNK_COMPRESSED;

		assert_true(is_compressed || !*n_compressed); /* once begun it goes on */
		*n_compressed += (size_t)is_compressed;
		n_plain += (size_t)!is_compressed;
	}
	assert_int_equal(t->header.version, *n_compressed ? VP_FORMAT_COMPRESSED : VP_FORMAT_VERSION);
	vprof_trace_free(t);
	return n_plain;
}

static void slow_disk_begins_compression(void **state)
{
	size_t n_plain, n_compressed;

	(void)state;
	disk_ns_per_kib = 16000; /* 64 MB/s */
	n_plain = record_mib(VPROF_COMPRESS_AUTO, 160, &n_compressed);
	print_message("%zu chunks as they are, then %zu compressed\n", n_plain, n_compressed);
	assert_true(n_compressed && n_plain * VP_UNITS_MAX_BYTES >= 63 << 20);
	disk_ns_per_kib = 16000;
	n_plain = record_mib(VPROF_COMPRESS_OFF, 96, &n_compressed);
	assert_true(n_plain && !n_compressed);
}

static void small_disk_begins_compression(void **state)
{
	size_t n_compressed, n_plain;

	(void)state;
	disk_room_bytes = 10 << 20; /* stays so: 10 MiB and more of trace are then beyond a half */
	n_plain = record_mib(VPROF_COMPRESS_AUTO, 24, &n_compressed);
	disk_room_bytes = UINT64_MAX;
	print_message("%zu chunks as they are, then %zu compressed\n", n_plain, n_compressed);
	assert_in_range(n_plain * VP_CHUNK_BYTES, 9 << 20, 17 << 20);
	assert_true(n_compressed > 0);
}

static uint32_t closed_after(const struct vp_shm *shm, uint64_t ms, uint64_t cost_ms)
{
	virtual_ns += ms * 1000000;
	virtual_cpu_ns += cost_ms * 1000000;
	vprof_collector_drain(collector);
	return shm->closed;
}

/* The collector's own CPU time is part of what recording costs, and the whole of it here. */
static void windows_follow_the_cost(void **state)
{
	struct vprof_collector_stats stats;
	struct vprof_trace_cursor c;
	const struct vp_unit *u;
	struct vprof_trace *t;
	struct vp_shm *shm;
	uint32_t n;

	(void)state;
	virtual_ns = 1000000000;
	budget = 0.05;
	shm = start(1 << 20, 0);
	budget = 0;
	assert_int_equal(shm->watches_intervals, 1);
	assert_int_equal(closed_after(shm, 30, 50), 0); /* the first window is there to see something */
	assert_int_equal(closed_after(shm, 30, 60), 1);
	assert_int_equal(closed_after(shm, 1, 0), 1);
	assert_int_equal(closed_after(shm, 20000, 0), 0);
	assert_int_equal(closed_after(shm, 10, 5), 0); /* windows last 20 ms */
	assert_int_equal(closed_after(shm, 15, 5), 2);
	assert_int_equal(closed_after(shm, 20000, 0), 0);
	t = finish(shm, &stats); /* by the same clock, which the rate of the ticks is taken from */
	virtual_ns = virtual_cpu_ns = 0;
	assert_int_equal(stats.n_windows, 3);
	assert_non_null(t->windows);
	vprof_trace_cursor_init(&c, t->windows);
	for (int i = 0; (u = vprof_trace_next(&c, &n)); i++) {
		assert_int_equal(VP_CODE(u->w), VP_KIND_WINDOW);
		assert_int_equal(VP_PAYLOAD(u->w), i % 2 == 0);
		assert_true(i < 5);
	}
	vprof_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(threads_written_in_order),		 TEST(full_ring_drops_and_counts),
		TEST(killed_writers_lose_nothing),	 TEST(full_ring_and_full_disk_count_once),
		TEST(last_record_may_end_in_zeros),	 TEST(full_disk_counts_and_goes_on),
		TEST(largest_trace_counts_and_goes_on),	 TEST(scribbled_headers_do_no_harm),
		TEST(dead_collectors_files_are_removed), TEST(what_a_live_collector_holds_stays),
		TEST(unwritable_folder_is_an_error),	 TEST(chunks_are_compressed),
		TEST(slow_disk_begins_compression),	 TEST(small_disk_begins_compression),
		TEST(windows_follow_the_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
