/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/format_value.h"

static void durations_keep_three_digits(void **state)
{
	(void)state;
	assert_string_equal(vprof_format_duration(0).s, "0 ns");
	assert_string_equal(vprof_format_duration(12.34).s, "12.3 ns");
	assert_string_equal(vprof_format_duration(999.9).s, "1.00 us");
	assert_string_equal(vprof_format_duration(1.92e6).s, "1.92 ms");
	assert_string_equal(vprof_format_duration(61.3e6).s, "61.3 ms");
	assert_string_equal(vprof_format_duration(120e9).s, "120 s");
	assert_string_equal(vprof_format_duration(-5e3).s, "-5.00 us");
	assert_string_equal(vprof_format_duration(NAN).s, "-");
	assert_string_equal(vprof_format_duration(INFINITY).s, "-");
	assert_true(strlen(vprof_format_duration(1e300).s) < sizeof(struct vprof_value));
}

static void percents(void **state)
{
	(void)state;
	assert_string_equal(vprof_format_percent(0.713).s, "71 %");
	assert_string_equal(vprof_format_percent(0.004).s, "0.4 %");
	assert_string_equal(vprof_format_percent(-0.12).s, "-12 %");
	assert_string_equal(vprof_format_percent(-0.0001).s, "0 %");
	assert_string_equal(vprof_format_percent(0).s, "0 %");
	assert_string_equal(vprof_format_at_most(0).s, "0 %");
	assert_string_equal(vprof_format_at_most(0.00001).s, "0.1 %");
	assert_string_equal(vprof_format_at_most(0.004).s, "0.4 %");
	assert_string_equal(vprof_format_at_most(0.0041).s, "0.5 %");
	assert_string_equal(vprof_format_at_most(0.0091).s, "1 %");
	assert_string_equal(vprof_format_at_most(0.0102).s, "2 %");
	assert_string_equal(vprof_format_at_most(0.02).s, "2 %");
	assert_string_equal(vprof_format_percent(NAN).s, "-");
}

static void counts(void **state)
{
	(void)state;
	assert_string_equal(vprof_format_count(0).s, "0");
	assert_string_equal(vprof_format_count(999).s, "999");
	assert_string_equal(vprof_format_count(41190).s, "41,190");
	assert_string_equal(vprof_format_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void check_cut(const char *s, size_t columns, int middle, const char *expected)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_format_cut(&t, s, columns, middle, 0);
	assert_string_equal(t.s, expected);
	vprof_text_release(&t);
}

static void cuts_fall_between_code_points(void **state)
{
	(void)state;
	check_cut("abcdef", 6, 1, "abcdef");
	check_cut("abcdef", 5, 0, "abcd…");
	check_cut("abcdef", 5, 1, "ab…ef");
	check_cut("äöüßäö", 5, 1, "äö…äö");
	check_cut("äöüßäö", 1, 1, "…");
	check_cut("abc", 0, 1, "");
	check_cut("日本語の関数", 4, 0, "日本語…");
}

static void nothing_steers_the_terminal(void **state)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	(void)state;
	vprof_format_clean(&t, "a\033[31mb\nc\x7f\xc2\x9b"
			       "d\xff\xc0\xaf\xed\xa0\x80\xe2\x82");
	assert_string_equal(t.s, "a?[31mb?c??d????????");
	vprof_text_release(&t);
}

static void wraps_at_blanks(void **state)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	(void)state;
	vprof_format_wrap(&t, "one two three", 0, 2, 8);
	assert_string_equal(t.s, "one two\n  three\n");
	vprof_text_clear(&t);
	vprof_format_wrap(&t, "", 0, 2, 8);
	assert_string_equal(t.s, "\n");
	vprof_text_clear(&t);
	vprof_format_wrap(&t, "a verylongwordindeed", 0, 0, 8);
	assert_string_equal(t.s, "a\nvery…eed\n");
	vprof_text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_keep_three_digits),
		cmocka_unit_test(percents),
		cmocka_unit_test(counts),
		cmocka_unit_test(cuts_fall_between_code_points),
		cmocka_unit_test(nothing_steers_the_terminal),
		cmocka_unit_test(wraps_at_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
