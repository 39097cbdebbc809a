/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the header traceparent of W3C Trace Context (version 00) is read as: an id that both ends of a request know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/probe.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"

static void test_read(void **state)
{
	(void)state;
	assert_int_equal(vp_traceparent("00-" TRACE "-00f067aa0ba902b7-01"), 0xa3ce929d0e0e4736);
	/* another caller's span and flags, a later version, and what follows the header in a request: the same trace */
	assert_int_equal(vp_traceparent("00-" TRACE "-53995c3f42cd8ad8-00"), 0xa3ce929d0e0e4736);
	assert_int_equal(vp_traceparent("cc-" TRACE "-53995c3f42cd8ad8-00-more\r\n"), 0xa3ce929d0e0e4736);
}

static void test_none(void **state)
{
	static const char *const wrong[] = {
		NULL,
		"",
		"0",
		"00",
		"00-",
		"00-4bf9",
		"00-" TRACE,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
		"000-" TRACE "-00f067aa0ba902b7-01",
		"00 " TRACE "-00f067aa0ba902b7-01",
		"00-" TRACE "0-00f067aa0ba902b7-01",
		"\xff\xff-",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(vp_traceparent(wrong[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read), cmocka_unit_test(test_none) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
