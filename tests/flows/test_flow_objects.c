/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of allocations: what it says is right, whoever asks while others change it, and heaps at addresses that are
 * alike do not displace each other's objects. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/flows/flow_runtime.h"

#define TEST(name) cmocka_unit_test(name)

#define N_OBJECTS 600u
#define BYTES 96u
#define N_THREADS 12 /* more than a set has entries */
#define ROUNDS 20000u

/* What glibc gives another thread's heap: 64 MiB apart, or anywhere else. */
static void heaps_leave_each_other_alone(void **state)
{
	const uintptr_t heap = UINT64_C(0x555500000000), arenas = UINT64_C(0x7f0000000000);

	(void)state;
	for (uintptr_t arena = 0; arena < 64; arena++) {
		for (uintptr_t i = 0; i < N_OBJECTS; i++)
			flow_object_begins(heap + i * BYTES, BYTES, 0);
		for (uintptr_t i = 0; i < N_OBJECTS; i++)
			flow_object_begins(arenas + (arena << 26) + i * 32, 32, 0);
		for (uintptr_t i = 0; i < N_OBJECTS; i++) {
			uintptr_t begin, object = heap + i * BYTES;

			assert_true(flow_object_at(object));
			assert_int_equal(flow_object_of(object + 32, &begin), flow_object_at(object));
			assert_int_equal(begin, object);
			assert_true(flow_is_other_object(object, object - 16));
			assert_false(flow_is_other_object(object, object + 16));
		}
		for (uintptr_t i = 0; i < N_OBJECTS; i++) {
			flow_object_ends(heap + i * BYTES);
			flow_object_ends(arenas + (arena << 26) + i * 32);
		}
	}
}

static void another_object_at_the_same_address_is_told_apart(void **state)
{
	const uintptr_t at = UINT64_C(0x10000);
	uint64_t first, second;

	(void)state;
	flow_object_begins(at, 40, 0);
	first = flow_object_at(at);
	flow_object_ends(at);
	assert_int_equal(flow_object_at(at), 0);
	assert_false(flow_is_other_object(at, at + 64));
	flow_object_begins(at, 40, 0);
	second = flow_object_at(at);
	assert_true(first && second && first != second);
	flow_object_begins(at, 24, second); /* resized in its place */
	assert_int_equal(flow_object_at(at), second);
	assert_true(flow_is_other_object(at, at + 24));
	flow_object_ends(at);
}

static void the_oldest_makes_room(void **state)
{
	const uintptr_t apart = UINT64_C(1) << 33; /* all in one set */
	unsigned n_known = 0;

	(void)state;
	for (uintptr_t i = 1; i <= 9; i++)
		flow_object_begins(i * apart, 16, 0);
	assert_int_equal(flow_object_at(apart), 0);
	for (uintptr_t i = 2; i <= 9; i++)
		n_known += flow_object_at(i * apart) != 0;
	assert_int_equal(n_known, 8);
	for (uintptr_t i = 2; i <= 9; i++)
		flow_object_ends(i * apart);
}

/* Sizes tell whose entry it is: larger at larger addresses. */
static size_t size_of(uintptr_t address)
{
	return 16 * (address >> 33);
}

/* All addresses lie in the one set, so that threads displace each other's objects. What is not known is right. */
static void *give_and_take(void *arg)
{
	uintptr_t own = (uintptr_t)arg, begin;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uintptr_t other = (uintptr_t)(i % N_THREADS + 1) << 33;

		flow_object_begins(own, size_of(own), 0);
		if (flow_object_of(own + 8, &begin) && begin != own)
			return "another object was found";
		if (flow_is_other_object(other, other + size_of(other) - 1))
			return "an object has another one's size";
		flow_object_ends(own);
		if (flow_object_at(own))
			return "an object was known after its end";
	}
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	for (uintptr_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, give_and_take, (void *)((i + 1) << 33)), 0);
	for (unsigned i = 0; i < N_THREADS; i++) {
		void *said;

		pthread_join(threads[i], &said);
		assert_null(said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(heaps_leave_each_other_alone),
		TEST(another_object_at_the_same_address_is_told_apart),
		TEST(the_oldest_makes_room),
		TEST(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
