/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a thread made more system calls than were to have stacks, some of the rest were left out, of some kinds more
 * than of others. So in each stretch of a thread receipts are counted until the first call is left out, and are taken
 * to come at that rate in the rest of it. */
#include "analysis/latency/work_unit.h"

#include <math.h>

#include "analysis/results/latency_results.h"

#define COUNTED_MIN 0.1 /* of a stretch: from less of it no rate is known */

void vprof_latency_units_even(struct vprof_latency_units *out, const struct vprof_paired_tree *t, double base,
			      double new)
{
	*out = (struct vprof_latency_units){ .n = { base, new }, .node = VPROF_NONE };
	for (int side = 0; side < 2; side++)
		for (uint32_t b = 0; t->sides[side] && b < t->sides[side]->n_blocks; b++)
			out->part[side][b] = 1.0 / t->sides[side]->n_blocks;
}

void vprof_latency_units_seconds(struct vprof_latency_units *out, const struct vprof_paired_tree *t)
{
	double n[2];

	for (int side = 0; side < 2; side++)
		n[side] = t->sides[side] ? (double)t->sides[side]->observed_ns / 1e9 : 0;
	vprof_latency_units_even(out, t, n[0], n[1]);
}

/* From counts by block to parts. */
static void set_parts(struct vprof_latency_units *out, int side, const double *blocks, uint32_t n_blocks)
{
	double n = 0;

	for (uint32_t b = 0; b < n_blocks; b++)
		n += blocks[b];
	for (uint32_t b = 0; b < n_blocks; b++)
		out->part[side][b] = n > 0 ? blocks[b] / n : 1.0 / n_blocks;
}

void vprof_latency_units_calls(struct vprof_latency_units *out, const struct vprof_paired_tree *t, const char *name)
{
	*out = (struct vprof_latency_units){ .node = VPROF_NONE };
	for (int side = 0; side < 2; side++) {
		const struct vprof_annotated_tree *tree = t->sides[side];
		double blocks[VPROF_LATENCY_BLOCKS];

		if (!tree)
			continue;
		out->n[side] = (double)vprof_annotated_calls(tree, name, blocks);
		set_parts(out, side, blocks, tree->n_blocks);
	}
}

enum receipt { NOT_RECEIVED, MAYBE_RECEIVED, RECEIVED };

/* read() receives where something beneath it is seen that sockets or pipes do. */
static enum receipt receipt_of(const struct vprof_latency_function *f)
{
	static const char *const sure[] = { "sys_recvfrom", "sys_recvmsg", "sys_recvmmsg", "sys_accept",
					    "sys_accept4" };

	if (f->layer != VPROF_LATENCY_KERNEL)
		return NOT_RECEIVED;
	for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
		if (!strcmp(f->name, sure[i]))
			return RECEIVED;
	return !strcmp(f->name, "sys_read") || !strcmp(f->name, "sys_readv") ? MAYBE_RECEIVED : NOT_RECEIVED;
}

static int is_of_socket(const struct vprof_latency_function *f)
{
	return f->layer == VPROF_LATENCY_KERNEL && (!strncmp(f->name, "sock_", 5) || !strcmp(f->name, "pipe_read"));
}

struct counting {
	const struct vprof_annotated_tree *tree;
	uint32_t *call;		  /* [stacks] the node of its system call, if that may receive; else VPROF_NONE */
	unsigned char *is_socket; /* [nodes] seen to receive */
	double *blocks;		  /* [nodes * VPROF_LATENCY_BLOCKS] receipts */
	double *seen;		  /* [nodes] ... that were seen */
	double *rate;		  /* [nodes] of the thread that is looked at: receipts that were counted */
};

static void find_calls(struct counting *c)
{
	const struct vprof_latency_history *h = c->tree->history;

	for (size_t i = 0; i < h->stacks.n; i++) {
		const struct vprof_latency_stack *s = &h->stacks.v[i];
		const struct vprof_latency_frame *f = h->frames.v + s->first;
		enum receipt r = s->n > s->n_user ? receipt_of(&h->functions.v[f[s->n_user].function]) : NOT_RECEIVED;

		c->call[i] = r == NOT_RECEIVED ? VPROF_NONE : c->tree->nodes[s->first + s->n_user];
		if (r == RECEIVED)
			c->is_socket[c->call[i]] = 1;
		for (uint32_t d = s->n_user; r == MAYBE_RECEIVED && d < s->n; d++)
			c->is_socket[c->call[i]] |= (unsigned char)is_of_socket(&h->functions.v[f[d].function]);
	}
}

/* Until when no system call of the stretch is left out. */
static uint64_t complete_until(const struct vprof_latency_history *h, const struct vprof_latency_thread *t)
{
	uint64_t last = t->begin;

	for (size_t i = t->first_event; i < t->first_event + t->n_events; i++) {
		if (h->events.v[i].flags & VPROF_LATENCY_SKIPPED)
			return last;
		last = h->events.v[i].t;
	}
	return t->end;
}

static double observed(const struct vprof_latency_history *h, uint64_t from, uint64_t to)
{
	return (double)(vprof_latency_observed(h, to) - vprof_latency_observed(h, from));
}

/* Receipts in a stretch up to a time; each counts as `weight`, in the block in which it is. */
static void count_stretch(struct counting *c, const struct vprof_latency_thread *t, uint64_t until, double weight,
			  int is_first)
{
	const struct vprof_latency_history *h = c->tree->history;
	uint64_t length = c->tree->observed_ns / c->tree->n_blocks + 1;

	for (size_t i = t->first_event; i < t->first_event + t->n_events && h->events.v[i].t <= until; i++) {
		const struct vprof_latency_event *e = &h->events.v[i];
		uint32_t node = c->call[e->stack];

		if (node == VPROF_NONE || !(e->flags & VPROF_LATENCY_NEW_CALL))
			continue;
		if (is_first) {
			c->rate[node]++;
			c->seen[node]++;
		} else {
			c->blocks[(size_t)node * VPROF_LATENCY_BLOCKS + vprof_latency_observed(h, e->t) / length] +=
				weight;
		}
	}
}

/* A thread's stretches: first its rates, then what each stretch has. */
static void count_thread(struct counting *c, size_t first, size_t end)
{
	const struct vprof_latency_history *h = c->tree->history;
	uint64_t block_length = c->tree->observed_ns / c->tree->n_blocks + 1;
	double counted = 0;

	memset(c->rate, 0, c->tree->tree.nodes.n * sizeof *c->rate);
	for (size_t i = first; i < end; i++) {
		uint64_t until = complete_until(h, &h->threads.v[i]);

		counted += observed(h, h->threads.v[i].begin, until);
		count_stretch(c, &h->threads.v[i], until, 0, 1);
	}
	for (size_t i = first; i < end; i++) {
		const struct vprof_latency_thread *t = &h->threads.v[i];
		uint64_t until = complete_until(h, t);
		double length = observed(h, t->begin, t->end), part = observed(h, t->begin, until);
		size_t block = vprof_latency_observed(h, t->begin) / block_length;

		if (part >= COUNTED_MIN * length) {
			count_stretch(c, t, until, part > 0 ? length / part : 1, 0);
			continue;
		}
		for (size_t node = 0; node < c->tree->tree.nodes.n && counted > 0; node++)
			c->blocks[node * VPROF_LATENCY_BLOCKS + block] += c->rate[node] * length / counted;
	}
}

static void release(struct counting *c)
{
	free(c->call);
	free(c->is_socket);
	free(c->blocks);
	free(c->seen);
	free(c->rate);
}

static int count(struct counting *c, const struct vprof_annotated_tree *tree)
{
	const struct vprof_latency_history *h = tree->history;
	size_t n = tree->tree.nodes.n;

	*c = (struct counting){ .tree = tree,
				.call = malloc((h->stacks.n + 1) * sizeof *c->call),
				.is_socket = calloc(n, 1),
				.blocks = calloc(n * VPROF_LATENCY_BLOCKS, sizeof *c->blocks),
				.seen = calloc(n, sizeof *c->seen),
				.rate = calloc(n, sizeof *c->rate) };
	if (!c->call || !c->is_socket || !c->blocks || !c->seen || !c->rate)
		return VPROF_ERR_NOMEM;
	find_calls(c);
	for (size_t i = 0, end; i < h->threads.n; i = end) {
		for (end = i + 1; end < h->threads.n && h->threads.v[end].is_continued; end++)
			;
		count_thread(c, i, end);
	}
	return VPROF_OK;
}

static double sum_blocks(const struct counting *c, uint32_t node)
{
	double sum = 0;

	for (uint32_t b = 0; b < c->tree->n_blocks; b++)
		sum += c->blocks[(size_t)node * VPROF_LATENCY_BLOCKS + b];
	return sum;
}

/* The node that receives most often on both sides: the geometric mean of both rates. Where no node does so often enough
 * `few` is what was seen of the one that comes next to it. */
static uint32_t choose(const struct vprof_paired_tree *t, const struct counting sides[2], double few[2])
{
	uint32_t best = VPROF_NONE;
	double most = 0;

	for (uint32_t i = 1; i < t->nodes.n; i++) {
		const uint32_t *own = t->nodes.v[i].side;
		const struct counting *base = &sides[0], *new = &sides[1];
		double product = 0, least;

		if (own[0] == VPROF_NONE || own[1] == VPROF_NONE ||
		    !(base->is_socket[own[0]] || new->is_socket[own[1]]))
			continue;
		least = fmin(base->seen[own[0]], new->seen[own[1]]);
		if (least >= VPROF_LATENCY_RECEIPTS_MIN)
			product = sum_blocks(base, own[0]) * sum_blocks(new, own[1]);
		if (product > most) {
			most = product;
			best = i;
		}
		if (least > fmin(few[0], few[1])) {
			few[0] = base->seen[own[0]];
			few[1] = new->seen[own[1]];
		}
	}
	if (best != VPROF_NONE)
		few[0] = few[1] = 0;
	return best;
}

int vprof_latency_units_receipts(struct vprof_latency_units *out, const struct vprof_paired_tree *t)
{
	struct counting sides[2] = { { .tree = NULL } };
	int ret = VPROF_OK;

	*out = (struct vprof_latency_units){ .node = VPROF_NONE };
	for (int side = 0; side < 2 && !ret; side++)
		ret = t->sides[side] ? count(&sides[side], t->sides[side]) : VPROF_ERR_INPUT;
	if (!ret)
		out->node = choose(t, sides, out->few);
	for (int side = 0; side < 2 && out->node != VPROF_NONE; side++) {
		uint32_t own = t->nodes.v[out->node].side[side];

		out->n[side] = sum_blocks(&sides[side], own);
		set_parts(out, side, sides[side].blocks + (size_t)own * VPROF_LATENCY_BLOCKS, t->sides[side]->n_blocks);
	}
	release(&sides[0]);
	release(&sides[1]);
	return ret == VPROF_ERR_NOMEM ? ret : out->node != VPROF_NONE;
}
