/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strings in JSON, CSV, URIs, folded stacks and protocol buffers, whatever their bytes. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/utf8.h"
#include "report/export/protobuf.h"
#include "report/export/put_text.h"

static FILE *to;
static char *written;
static size_t length;

static FILE *begin(void)
{
	free(written);
	written = NULL;
	to = open_memstream(&written, &length);
	assert_non_null(to);
	return to;
}

static const char *end(void)
{
	assert_int_equal(fclose(to), 0);
	return written;
}

static void test_utf8(void **state)
{
	static const struct {
		const char *s;
		size_t n;
	} cases[] = {
		{ "a", 1 },
		{ "\xc3\xa4", 2 },
		{ "\xe2\x82\xac", 3 },
		{ "\xf0\x9f\x90\x8c", 4 },
		{ "\x80", 0 },
		{ "\xc0\xaf", 0 },
		{ "\xc3", 0 },
		{ "\xe0\x80\xaf", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xf0\x9f\x90", 0 },
		{ "\xef\xbf\xbd", 3 },
		{ "\xff", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(vprof_utf8_length(cases[i].s), cases[i].n);
}

static void test_json(void **state)
{
	(void)state;
	vprof_put_json(begin(), "a\"b\\c\n\001\x7f\xff\xc3\xa4");
	assert_string_equal(end(), "\"a\\\"b\\\\c\\u000a\\u0001\\u007f\\ufffd\xc3\xa4\"");
	vprof_put_json(begin(), NULL);
	assert_string_equal(end(), "\"\"");
	vprof_put_json_number(begin(), NAN);
	vprof_put_json_number(to, 0.1);
	vprof_put_json_number(to, -1e300);
	vprof_put_json_number(to, 9007199254740993.0);
	assert_string_equal(end(), "null0.1-1e+3009007199254740992");
}

static void test_csv(void **state)
{
	(void)state;
	vprof_put_csv(begin(), "plain");
	vprof_put_csv(to, "a,\"b\"\r\n");
	vprof_put_csv(to, " x");
	vprof_put_csv(to, "\xff");
	vprof_put_csv(to, NULL);
	vprof_put_csv_number(to, INFINITY);
	assert_string_equal(end(), "plain\"a,\"\"b\"\"\r\n\"\" x\"\xef\xbf\xbd");
}

static void test_uri_and_plain(void **state)
{
	(void)state;
	vprof_put_uri_path(begin(), "a b/%\"\xff?#~_.c");
	assert_string_equal(end(), "a%20b/%25%22%FF%3F%23~_.c");
	vprof_put_plain(begin(), "a;b\n\xff 1", ";", ':');
	assert_string_equal(end(), "a:b?\xef\xbf\xbd 1");
}

static void test_protobuf(void **state)
{
	struct vprof_text m = VPROF_TEXT_INIT, inner = VPROF_TEXT_INIT;

	(void)state;
	vprof_protobuf_uint(&inner, 1, 150);
	assert_memory_equal(inner.s, "\x08\x96\x01", 3); /* the example of the format's own documentation */
	vprof_protobuf_message(&m, 3, &inner);
	assert_memory_equal(m.s, "\x1a\x03\x08\x96\x01", 5);
	vprof_text_clear(&m);
	vprof_protobuf_uint(&m, 100, UINT64_MAX);
	assert_int_equal(m.len, 2 + 10);
	vprof_text_clear(&m);
	vprof_protobuf_fixed64(&m, 47, 0x0102030405060708);
	assert_memory_equal(m.s, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
	vprof_text_clear(&m);
	vprof_protobuf_string(&m, 2, "\xffz");
	assert_memory_equal(m.s, "\x12\x04\xef\xbf\xbdz", 6);
	assert_false(m.failed);
	vprof_text_release(&m);
	vprof_text_release(&inner);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_utf8), cmocka_unit_test(test_json),
					    cmocka_unit_test(test_csv), cmocka_unit_test(test_uri_and_plain),
					    cmocka_unit_test(test_protobuf) };
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(written);
	return failed;
}
