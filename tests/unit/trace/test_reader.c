/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader against small hand-made files: order, grouping, cuts at every length, damage of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/files.h"
#include "trace/reader.h"
#include "trace_writer.h"

struct image {
	unsigned char bytes[16384];
	size_t n;
};

static char *folder;

static void add_header(struct image *im, uint64_t n_chunks)
{
	struct vp_file_header h = {
		.magic = VP_FILE_MAGIC,
		.version = VP_FORMAT_VERSION,
		.clock = VP_CLOCK_MONOTONIC,
		.ns_per_tick = 1,
		.start_ticks = 1000,
		.start_ns = 1000,
		.end_ticks = 99999,
		.end_ns = 99999,
		.n_dropped = 7,
		.n_chunks = n_chunks,
		.host = "box",
	};

	memcpy(im->bytes, &h, sizeof h);
	im->n = sizeof h;
}

static void add_chunk(struct image *im, uint32_t thread, uint32_t process, uint32_t seq, const struct vp_unit *units,
		      uint32_t n)
{
	struct vp_chunk_header h = {
		.magic = VP_CHUNK_MAGIC,
		.n_bytes = n * VP_UNIT_BYTES,
		.pid = 100 + process,
		.tid = 200 + thread,
		.thread_seq = thread,
		.chunk_seq = seq,
		.process_seq = process,
		.parent_seq = process - 1,
	};

	memcpy(im->bytes + im->n, &h, sizeof h);
	memcpy(im->bytes + im->n + sizeof h, units, n * sizeof *units);
	im->n += sizeof h + n * sizeof *units;
}

/* Three threads of two processes; thread 1's chunks out of order; 1, 2 and 3 units a record. */
static void make_image(struct image *im)
{
	const struct vp_unit a[] = { { 1100, VP_W(VP_CODE_FUNCTION + 1, 5) },
				     { 1200, VP_W(VP_KIND_BEGIN, 0) },
				     { 42, 77 } };
	const struct vp_unit b[] = {
		{ 1300, VP_W(VP_KIND_WAIT, VP_WAIT_MUTEX) }, { 0xdead, 1 }, { 1400, 0 }, { 1500, VP_W(VP_KIND_EXIT, 0) }
	};
	const struct vp_unit c[] = { { 1250, VP_W(VP_CODE_SITE + 9, 3) } };

	add_header(im, 4);
	add_chunk(im, 1, 1, 1, b, 4);
	add_chunk(im, 2, 1, 0, c, 1);
	add_chunk(im, 1, 1, 0, a, 3);
	add_chunk(im, 3, 2, 0, c, 1);
}

static int open_image(struct vprof_trace **t, const struct image *im, struct vprof_error *err)
{
	char *path = vprof_path_join(folder, "records.vpt");

	assert_int_equal(vprof_file_write(path, im->bytes, im->n, NULL), 0);
	free(path);
	int ret = vprof_trace_open(t, folder, err);

	if (!ret)
		vprof_trace_check(*t);
	return ret;
}

/* Every record of every thread, all its units read; returns how many. */
static size_t read_all(const struct vprof_trace *t, uint64_t *sum)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_threads; i++) {
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		uint32_t k;

		vprof_trace_cursor_init(&c, &t->threads[i]);
		while ((u = vprof_trace_next(&c, &k))) {
			for (uint32_t j = 0; j < k; j++)
				*sum += u[j].t ^ u[j].w;
			n++;
		}
	}
	return n;
}

static void threads_and_order(void **state)
{
	struct vprof_trace *t;
	struct vprof_trace_cursor c;
	struct image im;
	uint64_t sum = 0;
	uint32_t n;

	(void)state;
	make_image(&im);
	assert_int_equal(open_image(&t, &im, NULL), 0);
	assert_int_equal(t->n_threads, 3);
	assert_int_equal(t->is_cut, 0);
	assert_int_equal(t->n_bytes_ignored, 0);
	assert_int_equal(t->n_dropped, 7);
	assert_int_equal(t->threads[0].n_chunks, 2);
	assert_int_equal(t->threads[2].process_seq, 2);
	assert_int_equal(t->threads[2].parent_seq, 1);
	assert_int_equal(t->threads[1].tid, 202);
	assert_true(vprof_trace_ns(t, 1500) == 500.0);
	assert_true(vprof_trace_ns(t, 900) == -100.0);
	vprof_trace_cursor_init(&c, &t->threads[0]);
	assert_int_equal(vprof_trace_next(&c, &n)->t, 1100);
	assert_int_equal(n, 1);
	assert_int_equal(vprof_trace_next(&c, &n)->t, 1200);
	assert_int_equal(n, 2);
	assert_int_equal(vprof_trace_next(&c, &n)->t, 1300);
	assert_int_equal(n, 3);
	assert_int_equal(vprof_trace_next(&c, &n)->t, 1500);
	assert_null(vprof_trace_next(&c, &n));
	assert_null(vprof_trace_next(&c, &n));
	assert_int_equal(read_all(t, &sum), 6);
	vprof_trace_free(t);
}

static void unwritten_and_cut_records_are_skipped(void **state)
{
	const struct vp_unit units[] = {
		{ 0, 0 },
		{ 1100, VP_W(VP_CODE_FUNCTION + 1, 5) },
		{ 0, VP_W(VP_KIND_WAIT, 1) },
		{ 55, VP_W(VP_CODE_FUNCTION + 2, 1) },
		{ 66, VP_W(VP_CODE_FUNCTION + 2, 1) },
		{ 0, 0 },
		{ 1200, VP_W(VP_CODE_FUNCTION + 3, 5) },
		{ 0, 0 },
		{ 0, VP_W(VP_KIND_WAIT, 1) },
		{ 77, 88 }, /* killed here: the third unit was never written */
	};
	struct vprof_trace *t;
	struct image im;
	uint64_t sum = 0;

	(void)state;
	add_header(&im, 1);
	add_chunk(&im, 1, 1, 0, units, 10);
	assert_int_equal(open_image(&t, &im, NULL), 0);
	assert_int_equal(read_all(t, &sum), 2);
	assert_int_equal(t->n_bytes_ignored, 0);
	vprof_trace_free(t);
}

static void unknown_records_end_their_chunk(void **state)
{
	const struct vp_unit bad[] = { { 1100, VP_W(VP_CODE_FUNCTION + 1, 5) },
				       { 1200, VP_W(0xf0, 0) },
				       { 1300, VP_W(VP_CODE_FUNCTION + 1, 5) } };
	const struct vp_unit beyond[] = { { 1400, VP_W(VP_CODE_FUNCTION + 1, 5) },
					  { 1500, VP_W(VP_KIND_STRING, 40) },
					  { 1, 1 } };
	const struct vp_unit good[] = { { 1600, VP_W(VP_CODE_FUNCTION + 1, 5) } };
	struct vprof_trace *t;
	struct image im;
	uint64_t sum = 0;

	(void)state;
	add_header(&im, 3);
	add_chunk(&im, 1, 1, 0, bad, 3);
	add_chunk(&im, 1, 1, 1, beyond, 3);
	add_chunk(&im, 1, 1, 2, good, 1);
	assert_int_equal(open_image(&t, &im, NULL), 0);
	assert_int_equal(read_all(t, &sum), 3);
	assert_int_equal(t->n_bytes_ignored, 64);
	vprof_trace_free(t);
}

/* What is readable grows with the file's length and never holds a record that was not written. */
static void cut_at_every_length(void **state)
{
	struct image whole, im;
	size_t last = 0;

	(void)state;
	make_image(&whole);
	for (size_t n = 0; n <= whole.n; n++) {
		struct vprof_error err = { "" };
		struct vprof_trace *t;
		uint64_t sum = 0;
		size_t found;

		im = whole;
		im.n = n;
		if (n < sizeof(struct vp_file_header)) {
			assert_int_equal(open_image(&t, &im, &err), VPROF_ERR_CORRUPT);
			assert_non_null(strstr(err.message, "truncated inside its header"));
			assert_null(t);
			n += n < 4000 ? 499 : 0;
			continue;
		}
		assert_int_equal(open_image(&t, &im, &err), 0);
		assert_int_equal(t->is_cut, n < whole.n);
		found = read_all(t, &sum);
		assert_true(found >= last && found <= 6);
		last = found;
		vprof_trace_free(t);
	}
	assert_int_equal(last, 6);
}

static void expect_refused(const struct image *im, const char *part)
{
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	assert_int_equal(open_image(&t, im, &err), VPROF_ERR_CORRUPT);
	assert_null(t);
	assert_non_null(strstr(err.message, part));
}

static void bad_headers_are_refused(void **state)
{
	struct vp_file_header *h;
	struct image im;
	double rates[] = { 0, -1, 1e300, 0.0 / 0.0, 1.0 / 0.0 };
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	(void)state;
	h = (void *)im.bytes;
	make_image(&im);
	h->magic++;
	expect_refused(&im, "not a vprof trace");
	make_image(&im);
	h->version = 99;
	expect_refused(&im, "trace format 99");
	make_image(&im);
	h->clock = 0;
	expect_refused(&im, "unknown clock");
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		make_image(&im);
		h->ns_per_tick = rates[i];
		expect_refused(&im, "clock rate");
	}
	assert_int_equal(vprof_trace_open(&t, "/nowhere/at/all", &err), VPROF_ERR_MISSING);
	assert_non_null(strstr(err.message, "/nowhere/at/all/records.vpt"));
}

static void damaged_chunks_are_passed_over(void **state)
{
	struct vprof_trace *t;
	struct image im;
	uint64_t sum = 0;
	size_t second = sizeof(struct vp_file_header) + 64 + 4 * 16;

	(void)state;
	make_image(&im);
	im.bytes[second] ^= 0xff; /* magic of thread 2's only chunk */
	assert_int_equal(open_image(&t, &im, NULL), 0);
	assert_int_equal(t->n_threads, 2);
	assert_int_equal(t->n_bytes_ignored, 80);
	assert_int_equal(t->is_cut, 1);
	assert_int_equal(read_all(t, &sum), 5);
	vprof_trace_free(t);
}

/* Random damage: nothing may be read outside the mapping (the asan preset watches) and no record may be invented
 * beyond what the bytes can hold. */
static void random_damage(void **state)
{
	struct image whole, im;
	uint64_t seed = 2017;

	(void)state;
	make_image(&whole);
	for (int round = 0; round < 20000; round++) {
		int flips = 1 + (int)(next_random(&seed) % 8);
		struct vprof_trace *t;
		uint64_t sum = 0;

		im = whole;
		if (next_random(&seed) % 4 == 0)
			im.n = sizeof(struct vp_file_header) +
			       next_random(&seed) % (whole.n - sizeof(struct vp_file_header));
		for (int i = 0; i < flips; i++) {
			size_t from = next_random(&seed) % 8 ? sizeof(struct vp_file_header) : 0;
			size_t at = from + next_random(&seed) % (whole.n - from);

			im.bytes[at] = next_random(&seed) % 2 ? (unsigned char)next_random(&seed) : 0xff;
		}
		if (open_image(&t, &im, NULL))
			continue;
		assert_true(read_all(t, &sum) <= im.n / VP_UNIT_BYTES);
		assert_true(t->n_bytes_ignored <= im.n);
		vprof_trace_free(t);
	}
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
		cmocka_unit_test(threads_and_order),
		cmocka_unit_test(unwritten_and_cut_records_are_skipped),
		cmocka_unit_test(unknown_records_end_their_chunk),
		cmocka_unit_test(cut_at_every_length),
		cmocka_unit_test(bad_headers_are_refused),
		cmocka_unit_test(damaged_chunks_are_passed_over),
		cmocka_unit_test(random_damage),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
