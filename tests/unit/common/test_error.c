/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"

static void reasons_stay_with_their_message(void **state)
{
	struct vprof_error err = { "" };

	(void)state;
	assert_int_equal(err.reason, VPROF_REASON_NONE);
	assert_int_equal(
		vprof_error_because(&err, VPROF_ERR_FAILED, vprof_error_reason_of(ENOSPC), "cannot write %s", "x"),
		VPROF_ERR_FAILED);
	assert_int_equal(err.reason, VPROF_REASON_DISK_FULL);
	assert_int_equal(vprof_error_prefix(&err, VPROF_ERR_BUILD, "the build"), VPROF_ERR_BUILD);
	assert_string_equal(err.message, "the build: cannot write x");
	assert_int_equal(err.reason, VPROF_REASON_DISK_FULL);
	vprof_error_set(&err, VPROF_ERR_INPUT, "another");
	assert_int_equal(err.reason, VPROF_REASON_NONE);
	assert_int_equal(vprof_error_reason_of(EACCES), VPROF_REASON_NONE);
	assert_int_equal(vprof_error_because(NULL, VPROF_ERR_FAILED, VPROF_REASON_INTERRUPTED, "nobody asks"),
			 VPROF_ERR_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reasons_stay_with_their_message) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
