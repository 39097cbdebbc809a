/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays: sorting is stable at every size, searches agree with counting, a hash index finds what was put and not
 * removed, also where all hashes collide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/array.h"
#include "common/hash/hash_index.h"
#include "common/search.h"

struct item {
	uint64_t key;
	uint32_t place;
};

static uint64_t next_random(uint64_t *seed)
{
	return vprof_mix(++*seed);
}

static int key_order(const void *a, const void *b)
{
	return vprof_u64_order(((const struct item *)a)->key, ((const struct item *)b)->key);
}

static void check_sort(size_t n, uint64_t n_keys, int is_falling)
{
	struct item *v = malloc((n + 1) * sizeof *v);
	uint64_t seed = n + n_keys;

	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct item){ is_falling ? (n - i) / n_keys : next_random(&seed) % n_keys, (uint32_t)i };
	assert_int_equal(vprof_array_sort(v, n, sizeof *v, key_order), 0);
	for (size_t i = 1; i < n; i++)
		assert_true(v[i - 1].key < v[i].key || (v[i - 1].key == v[i].key && v[i - 1].place < v[i].place));
	free(v);
}

static void test_sort(void **state)
{
	(void)state;
	for (size_t n = 0; n < 100; n++)
		for (uint64_t n_keys = 1; n_keys < 40; n_keys += 6) {
			check_sort(n, n_keys, 0);
			check_sort(n, n_keys, 1);
		}
	check_sort(1 << 12, 7, 0);
	check_sort((1 << 12) + 1, 1 << 20, 0);
	check_sort(300001, 1000, 0); /* several MiB: beyond what the heap holds */
	check_sort(300001, 1000, 1);
}

static void test_search(void **state)
{
	struct item v[300];
	uint64_t seed = 1, key = 0;

	(void)state;
	for (size_t i = 0; i < 300; i++)
		v[i] = (struct item){ key += next_random(&seed) % 3, (uint32_t)i };
	for (size_t n = 0; n <= 300; n += 1 + n / 5) {
		for (uint64_t t = 0; t <= key + 1; t++) {
			size_t wanted = 0;

			while (wanted < n && v[wanted].key <= t)
				wanted++;
			assert_int_equal(VPROF_BISECT(n, i, v[i].key <= t), wanted);
			for (size_t hint = 0; hint <= n + 1; hint += 1 + n / 7)
				assert_int_equal(vprof_time_search(v, sizeof *v, n, t, hint), wanted);
		}
	}
}

static uint32_t look_up(const struct vprof_hash_index *index, const uint64_t *keys, uint64_t key, uint64_t hash,
			size_t *at)
{
	VPROF_HASH_EACH(index, hash, *at, i)
	if (keys[i] == key)
		return i;
	return VPROF_NONE;
}

/* Half of the keys are put, some of them removed again. n_hashes: how many different hashes they have. */
static void check_index(uint32_t n, uint64_t n_hashes)
{
	struct vprof_hash_index index = { 0 };
	uint64_t *keys = calloc(n + 1, sizeof *keys), seed = n;
	unsigned char *is_there = calloc(n + 1, 1);
	size_t at, n_there = 0;

	assert_non_null(keys);
	assert_non_null(is_there);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t removed = (uint32_t)(next_random(&seed) % (i + 1));

		keys[i] = i;
		assert_int_equal(look_up(&index, keys, i, vprof_mix(i % n_hashes), &at), VPROF_NONE);
		if (next_random(&seed) % 2) {
			assert_int_equal(vprof_hash_index_room(&index, 1), 0);
			assert_int_equal(look_up(&index, keys, i, vprof_mix(i % n_hashes), &at), VPROF_NONE);
			vprof_hash_index_put(&index, at, vprof_mix(i % n_hashes), i);
			is_there[i] = 1;
			n_there++;
		}
		if (is_there[removed] && next_random(&seed) % 3 == 0) {
			assert_int_equal(look_up(&index, keys, removed, vprof_mix(removed % n_hashes), &at), removed);
			vprof_hash_index_remove(&index, at);
			is_there[removed] = 0;
			n_there--;
		}
		assert_int_equal(index.n, n_there);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(look_up(&index, keys, i, vprof_mix(i % n_hashes), &at), is_there[i] ? i : VPROF_NONE);
	vprof_hash_index_release(&index);
	free(keys);
	free(is_there);
}

static void test_hash_index(void **state)
{
	struct vprof_hash_index index = { 0 };
	size_t at = 0;

	(void)state;
	assert_int_equal(look_up(&index, NULL, 1, 1, &at), VPROF_NONE); /* without any slots */
	check_index(20000, 20000);
	check_index(20000, 300);
	check_index(600, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_hash_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
