/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/sampling.h"

#include <math.h>
#include <stdlib.h>

/* of one block */
struct difference {
	size_t parent, node;
	bool is_body;
	long double ticks; /* of the first chosen call less those of the second */
};

struct block {
	const struct truth_spent *first;
	struct difference *v;
	size_t n, cap;
};

static bool same_block(const struct truth_spent *a, const struct truth_spent *b)
{
	return a->th == b->th && a->call->code == b->call->code && a->call->block == b->call->block;
}

static void add(struct block *b, size_t parent, size_t node, bool is_body, long double ticks)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].node == node && b->v[i].is_body == is_body) {
			b->v[i].ticks += ticks;
			return;
		}
	b->v = sim_grow(b->v, b->n, &b->cap, sizeof *b->v);
	b->v[b->n++] = (struct difference){ parent, node, is_body, ticks };
}

/* Variance of a block's estimate for a difference of 1. */
static long double factor_of(const struct sim_frame *call)
{
	long double n = 2.0L * call->weight;

	return n * (n - 2) / 4;
}

static void take_block(const struct truth *t, const struct block *b, sampling_take *take, void *arg)
{
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = i; k < b->n; k++)
			if (b->v[i].parent == b->v[k].parent)
				take(arg, b->v[i].node, b->v[i].is_body, b->v[k].node, b->v[k].is_body,
				     factor_of(b->first->call) * b->v[i].ticks * b->v[k].ticks);
	(void)t;
}

/* A call's node gains what its parent's body loses; its own body is what its children leave of it. */
void sampling_noise(const struct truth *t, sampling_take *take, void *arg)
{
	bool *is_done = calloc(t->n_spent + 1, sizeof *is_done);
	struct block b = { 0 };

	for (size_t i = 0; i < t->n_spent; i++) {
		if (is_done[i])
			continue;
		b.first = &t->spent[i];
		b.n = 0;
		for (size_t k = i; k < t->n_spent; k++) {
			const struct truth_spent *s = &t->spent[k];
			long double ticks = s->call->is_second ? -(long double)s->ticks : (long double)s->ticks;
			size_t parent = t->nodes[s->node].parent;

			if (!same_block(s, b.first))
				continue;
			is_done[k] = true;
			add(&b, parent, s->node, false, ticks);
			add(&b, s->node, s->node, true, ticks);
			add(&b, parent, parent, true, -ticks);
		}
		take_block(t, &b, take, arg);
	}
	free(b.v);
	free(is_done);
}

/* Of the outermost hot function alone. */
static long double outermost_noise(const struct truth *t)
{
	bool *is_done = calloc(t->n_spent + 1, sizeof *is_done);
	long double sum = 0;

	for (size_t i = 0; i < t->n_spent; i++) {
		long double difference = 0;

		if (is_done[i] || !t->spent[i].is_outermost)
			continue;
		for (size_t k = i; k < t->n_spent; k++) {
			const struct truth_spent *s = &t->spent[k];

			if (!s->is_outermost || !same_block(s, &t->spent[i]))
				continue;
			is_done[k] = true;
			difference += s->call->is_second ? -(long double)s->ticks : (long double)s->ticks;
		}
		sum += factor_of(t->spent[i].call) * difference * difference;
	}
	free(is_done);
	return sum;
}

void sampling_add(struct sampling_check *c, const struct truth *t)
{
	long double error = (long double)t->hot_estimate - (long double)t->hot_ticks, noise = outermost_noise(t);

	if (!t->world->stands_for_all || (!t->hot_estimate && !t->hot_ticks))
		return;
	c->n++;
	c->error += error;
	c->noise += noise;
	c->excess += error * error - noise;
	c->excess2 += (error * error - noise) * (error * error - noise);
}

bool sampling_is_unbiased(const struct sampling_check *c)
{
	return c->n < 1000 || (fabsl(c->error) <= SAMPLING_BOUND * sqrtl(c->noise) &&
			       fabsl(c->excess) <= SAMPLING_BOUND * sqrtl(c->excess2));
}
