/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resident.json as somebody else may have left it: cut, changed, with wrong sizes and indices. It is read whole, or
 * refused with what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/files.h"
#include "instrumenter/resident/resident_map.h"

#define PROBE(code, module, site)                                                                                      \
	"{\"code\":" code ",\"name\":\"f\",\"display\":\"f\",\"file\":\"f.c\",\"caller\":\"\",\"line\":3,"             \
	"\"copies\":[{\"module\":" module ",\"sites\":[" site "],\"entries\":[4096,8192]}]}"
#define FILE_OF(modules, probes, left)                                                                                 \
	"{\"version\":1,\"modules\":[" modules "],\"probes\":[" probes "],\"left_out\":[" left "]}"
#define MODULE "{\"path\":\"/p\",\"build_id\":\"ab\",\"hash\":\"0123456789abcdef\"}"
#define LEFT "{\"name\":\"g\",\"file\":\"g.c\",\"line\":7,\"reason\":\"short\"}"

static const char whole[] = FILE_OF(MODULE, PROBE("300", "0", "64") "," PROBE("301", "0", "96"), LEFT);
static char path[] = "/tmp/vprof-resident-XXXXXX";

static int read_bytes(const char *bytes, size_t n, struct vprof_resident **r, struct vprof_error *err)
{
	if (vprof_file_write(path, bytes, n, err))
		fail_msg("%s", err->message);
	return vprof_resident_read(r, path, err);
}

static void assert_refused(const char *bytes, size_t n)
{
	struct vprof_error err = { "" };
	struct vprof_resident *r;

	if (read_bytes(bytes, n, &r, &err) != VPROF_ERR_CORRUPT)
		fail_msg("not refused: %.*s", (int)n, bytes);
	assert_null(r);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "vprof build --live"));
}

static void a_whole_file_is_read(void **state)
{
	const struct vprof_resident_probe *probe = NULL;
	struct vprof_error err = { "" };
	struct vprof_resident *r;

	(void)state;
	assert_int_equal(read_bytes(whole, sizeof whole - 1, &r, &err), VPROF_OK);
	assert_int_equal(r->n_modules, 1);
	assert_int_equal(r->n_probes, 2);
	assert_int_equal(r->n_left_out, 1);
	assert_string_equal(r->left_out[0].reason, "short");
	for (size_t i = 0; i < r->n_probes; i++) {
		assert_true(!i || r->probes[i - 1].code < r->probes[i].code);
		assert_int_not_equal(r->probes[i].code, 302);
		probe = r->probes[i].code == 301 ? &r->probes[i] : probe;
	}
	assert_non_null(probe);
	assert_int_equal(probe->copies[0].sites[0], 96);
	assert_int_equal(probe->copies[0].n_entries, 2);
	vprof_resident_free(r);
}

static void a_cut_file_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof whole - 1; n++)
		assert_refused(whole, n);
}

static void wrong_values_are_refused(void **state)
{
	static const char *const files[] = {
		"null",
		"[]",
		"17",
		"{\"version\":2,\"modules\":[],\"probes\":[],\"left_out\":[]}",
		"{\"version\":1,\"modules\":{},\"probes\":[],\"left_out\":[]}",
		"{\"version\":1,\"modules\":[],\"probes\":7,\"left_out\":[]}",
		"{\"version\":1,\"modules\":[],\"probes\":[]}",
		FILE_OF("7", "", ""),
		FILE_OF("{\"path\":7,\"build_id\":\"\",\"hash\":\"\"}", "", ""),
		FILE_OF(MODULE, "7", ""),
		FILE_OF(MODULE, "[]", ""),
		FILE_OF(MODULE, "", "7"),
		FILE_OF(MODULE, "", "{\"name\":\"g\",\"file\":\"g.c\",\"line\":-7,\"reason\":\"short\"}"),
		FILE_OF("", PROBE("300", "0", "64"), LEFT),		 /* its module is not there */
		FILE_OF(MODULE, PROBE("300", "1", "64"), LEFT),		 /* the same */
		FILE_OF(MODULE, PROBE("300", "-1", "64"), LEFT),	 /* the same */
		FILE_OF(MODULE, PROBE("300", "4294967296", "64"), LEFT), /* the same, if it was cut to 32 bits */
		FILE_OF(MODULE, PROBE("300", "0.5", "64"), LEFT),
		FILE_OF(MODULE, PROBE("300", "\"0\"", "64"), LEFT),
		FILE_OF(MODULE, PROBE("16777216", "0", "64"), LEFT), /* no code has 25 bits */
		FILE_OF(MODULE, PROBE("1e300", "0", "64"), LEFT),
		FILE_OF(MODULE, PROBE("-300", "0", "64"), LEFT),
		FILE_OF(MODULE, PROBE("300", "0", "-64"), LEFT),
		FILE_OF(MODULE, PROBE("300", "0", "1e300"), LEFT),
		FILE_OF(MODULE, PROBE("300", "0", "18446744073709551615"), LEFT),
		FILE_OF(MODULE, PROBE("300", "0", "{}"), LEFT),
		FILE_OF(MODULE, PROBE("300", "0", "64") "," PROBE("300", "0", "64"), LEFT), /* not in order */
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		assert_refused(files[i], strlen(files[i]));
}

/* A file of nothing but opening brackets, and one that holds many of everything. */
static void huge_files_do_no_harm(void **state)
{
	enum { N = 200000 };
	char *deep = malloc(N), *many = malloc(2 * N + sizeof whole);
	struct vprof_error err = { "" };
	struct vprof_resident *r;
	size_t n;

	(void)state;
	assert_non_null(deep);
	assert_non_null(many);
	memset(deep, '[', N);
	assert_refused(deep, N);
	n = (size_t)sprintf(many,
			    "{\"version\":1,\"modules\":[%s],\"probes\":[{\"code\":300,\"name\":\"f\",\"display\":"
			    "\"f\",\"file\":\"f.c\",\"caller\":\"\",\"line\":3,\"copies\":[{\"module\":0,\"entries\":"
			    "[],\"sites\":[8",
			    MODULE);
	for (size_t i = 0; i < N - 200; i++)
		n += (size_t)sprintf(many + n, ",8");
	n += (size_t)sprintf(many + n, "]}]}],\"left_out\":[]}");
	assert_int_equal(read_bytes(many, n, &r, &err), VPROF_OK);
	assert_int_equal(r->probes[0].copies[0].n_sites, N - 199);
	vprof_resident_free(r);
	free(deep);
	free(many);
}

/* Each byte of the file is changed in several ways. Whatever is read can be walked. */
static void a_changed_byte_does_no_harm(void **state)
{
	static const char others[] = "0-\"{}[],:e.\\\xff";
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < sizeof whole - 1; i++)
		for (size_t k = 0; k < sizeof others; k++) {
			struct vprof_error err = { "" };
			struct vprof_resident *r;
			char changed[sizeof whole];
			int rc;

			memcpy(changed, whole, sizeof whole);
			changed[i] = others[k];
			rc = read_bytes(changed, sizeof whole - 1, &r, &err);
			assert_true(rc == VPROF_OK || (rc == VPROF_ERR_CORRUPT && !r && *err.message));
			for (size_t p = 0; r && p < r->n_probes; p++)
				for (size_t c = 0; c < r->probes[p].n_copies; c++) {
					const struct vprof_resident_copy *copy = &r->probes[p].copies[c];

					assert_true(copy->module < r->n_modules);
					for (size_t a = 0; a < copy->n_sites; a++)
						sum += copy->sites[a];
					for (size_t a = 0; a < copy->n_entries; a++)
						sum += copy->entries[a];
				}
			vprof_resident_free(r);
		}
	assert_true(sum > 0);
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_is_read),	       cmocka_unit_test(a_cut_file_is_refused),
		cmocka_unit_test(wrong_values_are_refused),    cmocka_unit_test(huge_files_do_no_harm),
		cmocka_unit_test(a_changed_byte_does_no_harm),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
