/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which waits a node of the tree is, looked up and by going through all of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/join/knot_waits.h"

#define N_NAMES 6
#define N_OBJECTS 4 /* of waits; a node may have several */
#define N_WAITS 200
#define N_KNOTS 2

static const char *const texts[N_NAMES] = { "lock", "unlock", "pool::lock", "", "several", "wait" };

/* 0: of a wait that no thread ends. */
static const uint64_t objects[N_OBJECTS] = { 0, 1, 0x7fff12345678, UINT64_MAX };

static void spell(size_t object, char text[24])
{
	if (object == N_OBJECTS)
		strcpy(text, "several");
	else if (objects[object])
		snprintf(text, 24, "%llx", (unsigned long long)objects[object]);
	else
		*text = 0;
}

/* Waits whose name is one of the node's two, for the node's object; of "several" any but 0. */
static struct vprof_knot_wait_sums by_hand(const struct vprof_knot_times *times, const struct vprof_node *n,
					   size_t object)
{
	struct vprof_knot_wait_sums sums = { 0 };

	for (size_t i = 0; i < times->waits.n; i++) {
		const struct vprof_knot_wait *w = &times->waits.v[i];
		int is_queued = w->name == VPROF_NONE, is_it;

		if (is_queued || n->kind == VPROF_NODE_QUEUED)
			is_it = is_queued && n->kind == VPROF_NODE_QUEUED;
		else
			is_it = (!strcmp(texts[w->name], n->name) || !strcmp(texts[w->name], n->display)) &&
				(object == N_OBJECTS ? w->object != 0 : w->object == objects[object]);
		if (!is_it)
			continue;
		sums.ticks += (double)w->ticks;
		for (size_t k = 0; k < N_KNOTS; k++)
			sums.through_ticks[k] += (double)w->through_ticks[k];
	}
	return sums;
}

static void check_node(const struct vprof_knot_times *times, const struct vprof_knot_wait_index *index,
		       enum vprof_node_kind kind, size_t name, size_t display, size_t object)
{
	char text[24];
	struct vprof_node n = { .kind = kind, .name = texts[name], .display = texts[display], .object = text };
	struct vprof_knot_wait_sums found, is;

	spell(object, text);
	is = by_hand(times, &n, object);
	found = vprof_knot_waits_of_node(index, &n);
	assert_true(found.ticks == is.ticks);
	for (size_t k = 0; k < VPROF_KNOT_TIMES_MAX; k++)
		assert_true(found.through_ticks[k] == is.through_ticks[k]);
}

static void check(size_t n_waits)
{
	struct vprof_timeline timeline = { .names = (const char **)texts };
	struct vprof_knot_times times = { .n_knots = N_KNOTS };
	struct vprof_knot_wait_index index;

	for (size_t i = 0; i < n_waits; i++) {
		struct vprof_knot_wait *w = VPROF_PUSH(&times.waits);

		assert_non_null(w);
		w->name = i % 7 == 6 ? VPROF_NONE : (uint32_t)(vprof_mix(i) % N_NAMES);
		w->object = objects[vprof_mix(i + 1000) % N_OBJECTS];
		w->ticks = 1 + vprof_mix(i + 2000) % 1000;
		for (size_t k = 0; k < N_KNOTS; k++)
			w->through_ticks[k] = (int64_t)(vprof_mix(i + 3000 + k) % w->ticks);
	}
	assert_int_equal(vprof_knot_wait_index_make(&index, &times, &timeline), VPROF_OK);
	for (size_t name = 0; name < N_NAMES; name++)
		for (size_t display = 0; display < N_NAMES; display++)
			for (size_t object = 0; object <= N_OBJECTS; object++) {
				check_node(&times, &index, VPROF_NODE_WAIT, name, display, object);
				check_node(&times, &index, VPROF_NODE_QUEUED, name, display, object);
			}
	vprof_knot_wait_index_release(&index);
	VPROF_ARRAY_RELEASE(&times.waits);
}

static void test_nodes_find_their_waits(void **state)
{
	(void)state;
	check(0);
	check(1);
	check(N_WAITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_nodes_find_their_waits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
