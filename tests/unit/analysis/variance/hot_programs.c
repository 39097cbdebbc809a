/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/analysis/variance/hot_programs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HOT_AFTER 64
#define HOT_NS 2000.0
#define BLOCK_MIN 8u
#define BLOCK_MAX 64u
#define INTERVAL_NS 4e6 /* planned work of one, at most */

/* as in struct vp_hot */
struct counter {
	uint64_t n, at;
	double since;
	uint32_t size, first, second, block, pending;
	int stretch, is_sampled;
};

struct run {
	struct hot_program *p;
	struct counter counters[HOT_FUNCTIONS + 1];
	int interval, is_inside, is_closed; /* within a chosen call; within a skipped one */
};

static double uniform(struct hot_program *p, double low, double high)
{
	return low + (high - low) * (double)(hand_random(&p->random) >> 11) / 9007199254740992.0;
}

static double log_uniform(struct hot_program *p, double low, double high)
{
	return exp(uniform(p, log(low), log(high)));
}

void hot_program_choose(struct hot_program *p, uint64_t seed)
{
	double calls[HOT_FUNCTIONS + 1] = { 0, 1 };
	int n, is_dense = seed % 2 == 0; /* helpers of some ns and nothing else */

	memset(p, 0, sizeof *p);
	p->random = seed * 2654435761u + 12345;
	n = 3 + (int)uniform(p, 0, 5);
	p->n_intervals = HOT_INTERVALS;
	p->record_ns = 20;
	p->inside_ns = 10;
	p->counted_ns = 5;
	p->scale = uniform(p, 0.1, 1.4);
	p->f[1] = (struct hot_function){ .ns = log_uniform(p, 100, is_dense ? 3e3 : 1e5),
					 .spread = uniform(p, 0, 1),
					 .cost_factor = 1 };
	for (int i = 2; i <= n && i <= HOT_FUNCTIONS; i++) {
		struct hot_function *f = &p->f[i];
		int above = i > 2 && uniform(p, 0, 1) < 0.4 ? i - 1 : 1;

		f->parent = above;
		f->ns = log_uniform(p, 2, is_dense ? 200 : 1e6);
		f->spread = uniform(p, 0, 0.9);
		f->n_calls = log_uniform(p, is_dense && above == 1 ? 200 : 1,
					 fmin(4000, fmax(2, INTERVAL_NS / 4 / f->ns / calls[above])));
		f->n_spread = uniform(p, 0, 0.9);
		f->gap_ns = log_uniform(p, 1, 100);
		f->cost_factor = uniform(p, 0.85, 1.15);
		calls[i] = calls[above] * f->n_calls;
		if (calls[i] > 20000) {
			f->n_calls *= 20000 / calls[i];
			calls[i] = 20000;
		}
	}
}

static void chosen(struct run *r, int i, struct counter *c, int is_second, double t0, double t1)
{
	uint64_t from = (uint64_t)llround(t0), to = (uint64_t)llround(t1);
	uint64_t payload = c->size / 2 | (uint64_t)is_second << 7 | (uint64_t)(c->pending + 1) << 8 |
			   (uint64_t)(c->block & 0x3fffff) << 16;

	hand_units(r->p->th, (struct vp_unit[]){ { from, VP_W(VP_KIND_SAMPLE, payload) }, { to - from, F(i) } }, 2);
	c->pending = 0;
}

static void begin_block(struct run *r, struct counter *c)
{
	uint32_t a, b, size = BLOCK_MIN;

	while (size < BLOCK_MAX && 2 * size * 8 <= c->n)
		size *= 2;
	a = (uint32_t)(hand_random(&r->p->random) >> 16) % size;
	b = (uint32_t)(hand_random(&r->p->random) >> 16) % (size - 1);
	b += b >= a;
	c->size = size;
	c->first = a < b ? a : b;
	c->second = a < b ? b : a;
	c->at = 0;
	c->since = r->p->now;
	c->block++;
	c->is_sampled = 1;
}

/* -1: skipped, 0: recorded, 1 and 2: the chosen ones of a block */
static int decide(struct run *r, struct counter *c)
{
	if (c->stretch != r->interval) {
		*c = (struct counter){ .block = c->block, .stretch = r->interval, .since = r->p->now };
	} else if (!c->is_sampled && c->at == HOT_AFTER) {
		c->n += HOT_AFTER;
		if (r->p->now - c->since < HOT_NS * HOT_AFTER)
			begin_block(r, c);
		else
			c->at = 0, c->since = r->p->now;
	} else if (c->is_sampled && c->at == c->size) {
		c->n += c->size;
		if (r->p->now - c->since < 2 * HOT_NS * c->size)
			begin_block(r, c);
		else
			c->is_sampled = 0, c->at = 0, c->since = r->p->now;
	}
	c->at++;
	if (!c->is_sampled)
		return 0;
	return c->at - 1 == c->first ? 1 : c->at - 1 == c->second ? 2 : -1;
}

static double execute(struct run *r, int i);

/* Returns what the call takes without probes. */
static double call(struct run *r, int i)
{
	struct hot_program *p = r->p;
	struct counter *c = &r->counters[i];
	double scale = p->scale * p->f[i].cost_factor, truth, t0, t1;
	int what = r->is_closed ? -2 : r->is_inside ? 0 : decide(r, c);

	if (what < 0) {
		int was_closed = r->is_closed;

		p->now += what == -1 ? scale * p->counted_ns : 0;
		c->pending += what == -1;
		r->is_closed = 1;
		truth = execute(r, i);
		r->is_closed = was_closed;
		return truth;
	}
	p->now += scale * (p->record_ns - p->inside_ns) / 2;
	t0 = p->now;
	r->is_inside += what > 0;
	p->now += scale * p->inside_ns / 2;
	truth = execute(r, i);
	p->now += scale * p->inside_ns / 2;
	r->is_inside -= what > 0;
	t1 = p->now;
	if (what)
		chosen(r, i, c, what == 2, t0, t1);
	else
		hand_call(p->th, F(i), (uint64_t)llround(t0), (uint64_t)llround(t1));
	p->now += scale * (p->record_ns - p->inside_ns) / 2;
	return truth;
}

static double execute(struct run *r, int i)
{
	struct hot_program *p = r->p;
	double own = p->f[i].ns * (1 + p->f[i].spread * uniform(p, -1, 1)), beneath = 0;

	p->now += own;
	for (int k = i + 1; k <= HOT_FUNCTIONS; k++) {
		const struct hot_function *f = &p->f[k];
		double n = f->parent == i ? f->n_calls * (1 + f->n_spread * uniform(p, -1, 1)) : 0;

		for (double at = uniform(p, 0, 1); at < n; at++) {
			p->now += f->gap_ns;
			own += f->gap_ns;
			beneath += call(r, k);
		}
	}
	p->truth[i][r->interval - 1] += own + beneath;
	p->body[i][r->interval - 1] += own;
	return own + beneath;
}

struct vprof_plan *hot_program_plan(const struct hot_program *p)
{
	struct vprof_plan *plan = vprof_plan_new("/project");

	assert_non_null(plan);
	plan->graph_height = HOT_FUNCTIONS;
	for (int i = 1; i <= HOT_FUNCTIONS; i++) {
		int parent = p->f[i].parent;

		hand_plan_function(plan, (uint32_t)i,
				   (struct vprof_probe){ .mask = parent ?
									 UINT64_C(1) << (VPROF_CONTEXT_FIRST + parent) :
									 VPROF_MASK_ANY,
							 .context = (unsigned)(VPROF_CONTEXT_FIRST + i),
							 .is_root = i == 1,
							 .height = (uint32_t)(HOT_FUNCTIONS - i) });
	}
	return plan;
}

void hot_program_run(struct hot_program *p, struct hand_trace *h)
{
	struct run r = { .p = p };

	h->record_ns = p->record_ns;
	h->record_inside_ns = p->inside_ns;
	p->th = hand_thread(h, 1);
	p->now = 1000;
	for (r.interval = 1; r.interval <= p->n_intervals; r.interval++) {
		double begin = p->now;
		uint64_t id = (uint64_t)r.interval;

		hand_mark(p->th, VP_KIND_BEGIN, id, (uint64_t)llround(begin));
		p->mean_ns += call(&r, 1) / p->n_intervals;
		for (int i = 1; i <= HOT_FUNCTIONS; i++) {
			struct counter *c = &r.counters[i];

			if (c->pending)
				hand_units(p->th,
					   &(struct vp_unit){ (uint64_t)llround(c->since),
							      VP_W(VP_KIND_COUNT, F(i) | (uint64_t)c->pending << 24) },
					   1);
			c->pending = 0;
		}
		hand_mark(p->th, VP_KIND_END, id, (uint64_t)llround(p->now));
		p->measured_ns += (p->now - begin) / p->n_intervals;
		p->now += 500;
	}
	h->end = (uint64_t)p->now + 1000;
}
