/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys sorted by radix: rising, equal ones in their order, whichever digits differ; keys of latencies fall as these
 * rise. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/radix.h"
#include "tests/unit/analysis/hand_trace.h"

/* Against the same keys sorted. */
static void check_nth(const struct vprof_keyed *sorted, size_t n, size_t k)
{
	uint64_t *keys = malloc(n * sizeof *keys);

	assert_non_null(keys);
	for (size_t i = 0; i < n; i++)
		keys[sorted[i].item] = sorted[i].key;
	assert_int_equal(vprof_radix_nth(keys, n, k), sorted[k].key);
	free(keys);
}

static void check(size_t n, uint64_t mask, uint64_t seed)
{
	struct vprof_keyed *v = malloc((n + 1) * sizeof *v);

	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct vprof_keyed){ hand_random(&seed) & mask, (uint32_t)i };
	assert_int_equal(vprof_radix_sort(v, n), 0);
	for (size_t i = 1; i < n; i++)
		assert_true(v[i - 1].key < v[i].key || (v[i - 1].key == v[i].key && v[i - 1].item < v[i].item));
	for (size_t k = 0; k < n; k += n / 4 + 1)
		check_nth(v, n, k);
	if (n)
		check_nth(v, n, n - 1);
	free(v);
}

static void test_sorted(void **state)
{
	static const uint64_t masks[] = { 0, 1, 7, UINT64_C(0xff000), UINT64_C(0x8000000000000001), UINT64_MAX };

	(void)state;
	for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
		for (size_t n = 0; n < 5000; n = 3 * n + 1)
			check(n, masks[m], m + n);
	check(300000, UINT64_MAX, 1); /* beyond what the heap holds */
}

static void test_keys(void **state)
{
	static const double rising[] = { 0, DBL_MIN, 0.5, 1, 1 + DBL_EPSILON, 1e9, 1e300, DBL_MAX };

	(void)state;
	for (size_t i = 1; i < sizeof rising / sizeof *rising; i++)
		assert_true(vprof_falling_key(rising[i - 1]) > vprof_falling_key(rising[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sorted), cmocka_unit_test(test_keys) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
