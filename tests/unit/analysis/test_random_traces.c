/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold for every trace: pieces tile the interval, blame lies within what it explains, children sum to their
 * parent in every interval, and the variances and covariances of children sum to the parent's variance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/variance/tree_fill.h"
#include "analysis/variance/variance_tree.h"
#include "tests/unit/analysis/hand_trace.h"

#define N_THREADS 4

static uint64_t below(uint64_t *state, uint64_t n)
{
	return hand_random(state) % n;
}

static uint64_t random_work(struct hand_thread *th, uint64_t *random, uint64_t t, int depth);

static uint64_t random_calls(struct hand_thread *th, uint64_t *random, uint64_t t, int depth)
{
	for (uint64_t n = below(random, 4); n > 0; n--)
		t = random_work(th, random, t + below(random, 50), depth + 1);
	return t + below(random, 50);
}

/* One call, wait, release or queue event; returns the time when it is over. */
static uint64_t random_work(struct hand_thread *th, uint64_t *random, uint64_t t, int depth)
{
	uint64_t what = below(random, 10), end, object = 0x1000 * below(random, 3);
	uint32_t ticket = (uint32_t)(t / 40);

	if (what < 5 && depth < 6) {
		end = random_calls(th, random, t, depth);
		hand_call(th, F(1 + (uint32_t)below(random, 8)), t, end);
		return end;
	}
	switch (what) {
	case 5:
	case 6:
		end = t + 1 + below(random, 2000);
		hand_wait(th, VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK, object, ticket, t, end);
		return end;
	case 7:
		hand_wake(th, VP_WAIT_MUTEX, 0, object, ticket, ticket + 1, t);
		return t + 1;
	case 8:
		hand_queue(th, VP_KIND_ENQUEUE, below(random, 4), t);
		return t + 1;
	default:
		end = t + 1 + below(random, 100);
		hand_wait(th, VP_WAIT_DISK, VP_CALL_FDATASYNC, 3, 0, t, end);
		return end;
	}
}

static void random_trace(struct hand_trace *h, uint64_t seed)
{
	static const enum vp_kind kinds[] = { VP_KIND_BEGIN, VP_KIND_RESUME, VP_KIND_SUSPEND, VP_KIND_END };
	uint64_t random = seed;

	hand_init(h);
	for (int i = 0; i < N_THREADS; i++) {
		struct hand_thread *th = hand_thread(h, 1 + (uint32_t)(i == 3));
		uint64_t t = 100 + below(&random, 1000);

		for (int n = 0; n < 400; n++) {
			if (below(&random, 3))
				hand_mark(th, kinds[below(&random, 4)], below(&random, 6), t++);
			if (below(&random, 5) == 0)
				hand_queue(th, VP_KIND_DEQUEUE, below(&random, 4), t++);
			t = random_work(th, &random, t, 0) + below(&random, 30);
		}
	}
	hand_write(h);
}

static void check_pieces(const struct vprof_instance *inst, const struct vprof_piece *p, size_t n)
{
	uint64_t *used = calloc(n + 1, sizeof *used), t = inst->end;

	assert_non_null(used);
	for (size_t i = 0; i < n; i++) {
		assert_true(p[i].from < p[i].to);
		if (p[i].parent == VPROF_NONE) {
			used[n] += p[i].to - p[i].from;
			assert_true(p[i].from >= inst->begin && p[i].to <= inst->end);
			continue;
		}
		assert_true(p[i].parent < i);
		assert_true(p[i].from >= p[p[i].parent].from && p[i].to <= p[p[i].parent].to);
		assert_true(p[i].depth == p[p[i].parent].depth + 1);
		used[p[i].parent] += p[i].to - p[i].from;
	}
	assert_true(used[n] == inst->end - inst->begin);
	for (size_t i = 0; i < n; i++)
		assert_true(used[i] <= p[i].to - p[i].from);
	/* They tile it: each time is taken once. Walk back piece by piece. */
	for (uint64_t left = used[n]; left > 0;) {
		size_t i = 0;

		while (i < n && (p[i].parent != VPROF_NONE || p[i].to != t))
			i++;
		assert_true(i < n);
		left -= p[i].to - p[i].from;
		t = p[i].from;
	}
	assert_true(t == inst->begin);
	free(used);
}

static void check_samples(struct vprof_tree *tree, const struct vprof_results *r)
{
	double *ns = malloc(r->n_nodes * sizeof *ns);
	struct vprof_tree_reader *reader = vprof_tree_reader_new(tree);

	assert_non_null(ns);
	assert_non_null(reader);
	for (size_t i = 0; i < tree->n_intervals; i++) {
		size_t n;
		const struct vprof_sample *s = vprof_tree_read(reader, i, &n);

		memset(ns, 0, r->n_nodes * sizeof *ns);
		for (size_t k = 0; k < n; k++)
			ns[s[k].node] = s[k].ns;
		for (size_t k = 0; k < r->n_nodes; k++) {
			double sum = 0;

			for (uint32_t c = 0; c < r->nodes[k].n_children; c++)
				sum += ns[r->nodes[k].first_child + c];
			if (r->nodes[k].n_children)
				assert_true(fabs(sum - ns[k]) <= 1e-9 * ns[k]);
		}
	}
	vprof_tree_reader_free(reader);
	free(ns);
}

static void check_moments(const struct vprof_results *r)
{
	double *sum = calloc(r->n_nodes, sizeof *sum), *scale = calloc(r->n_nodes, sizeof *scale);

	assert_non_null(sum);
	assert_non_null(scale);
	for (size_t i = 1; i < r->n_nodes; i++) {
		sum[r->nodes[i].parent] += r->nodes[i].var_ns2;
		scale[r->nodes[i].parent] += r->nodes[i].var_ns2;
	}
	for (size_t i = 0; i < r->n_covariances; i++) {
		const struct vprof_covariance *c = &r->covariances[i];

		assert_true(c->a < c->b);
		assert_int_equal(r->nodes[c->a].parent, r->nodes[c->b].parent);
		assert_true(fabs(c->r) <= 1 + 1e-9);
		sum[r->nodes[c->a].parent] += 2 * c->cov_ns2;
	}
	for (size_t i = 0; i < r->n_nodes; i++)
		if (r->nodes[i].n_children)
			assert_true(fabs(sum[i] - r->nodes[i].var_ns2) <= 1e-9 * (scale[i] + r->nodes[i].var_ns2));
	free(sum);
	free(scale);
}

static void check_seed(uint64_t seed, const struct vprof_plan *plan)
{
	struct vprof_results *r = vprof_results_new(), *whole;
	struct vprof_tree_intervals complete = { 0 };
	struct vprof_tree *tree;
	struct hand_trace h;
	uint32_t *chosen;
	struct hand_steps s;

	random_trace(&h, seed);
	hand_steps(&s, &h);
	assert_int_equal(vprof_tree_new(&tree, s.timeline, plan, NULL), 0);
	chosen = calloc(s.intervals->instances.n + 1, sizeof *chosen);
	assert_non_null(chosen);
	for (size_t i = 0; i < s.intervals->instances.n; i++) {
		const struct vprof_piece *pieces;
		size_t n;

		if (s.intervals->instances.v[i].state != VPROF_INSTANCE_COMPLETE)
			continue;
		assert_int_equal(vprof_path_walk(s.path, (uint32_t)i, &pieces, &n), 0);
		check_pieces(&s.intervals->instances.v[i], pieces, n);
		chosen[complete.n++] = (uint32_t)i;
	}
	complete.edges = s.edges;
	complete.chosen = chosen;
	assert_int_equal(vprof_tree_fill(tree, &complete, 1, NULL, NULL), 0);
	free(chosen);
	assert_int_equal(vprof_tree_number(tree), 0);
	assert_int_equal(vprof_tree_results(tree, r, NULL), 0);
	assert_true(tree->n_intervals > 20);
	check_samples(tree, r);
	check_moments(r);
	whole = hand_analyze(&h, plan);
	assert_true(fabs(whole->nodes[0].var_ns2 - whole->var_ns2) <= 1e-9 * whole->var_ns2);
	assert_true(fabs(whole->nodes[0].mean_ns - whole->mean_ns) <= 1e-9 * whole->mean_ns);
	vprof_results_free(whole);
	vprof_results_free(r);
	vprof_tree_free(tree);
	hand_steps_release(&s);
	hand_release(&h);
}

static void test_random_traces(void **state)
{
	struct vprof_plan *plan = hand_plan(8);

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++)
		check_seed(seed, plan);
	vprof_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_traces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
