/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "recorder/recording_cost.h"

#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/clock.h"

/* Without stacks: what programs take, what it takes to run them, and to read and store it beside the load. */
#define EVENT_NS 300
#define INTERRUPT_NS 120 /* each of the programs that follow them, likewise */
#define CALL_NS 250	 /* until it is measured */
#define FACTOR 1.5	 /* what is usual, */
#define FACTOR_ERROR 0.5
#define FACTOR_MIN 1.0
#define FACTOR_MAX 4.0
#define DONE_MIN 200	     /* things done, in windows and outside, from which they tell anything */
#define BETWEEN_MIN_NS 5e8   /* CPU time between windows from which it is known what is taken throughout, */
#define BETWEEN_MOST_NS 1e10 /* and half of which counts less when there is more */
#define OWN_TRIES 4
#define OWN_CALLS 64

void vprof_recording_cost_start(struct vprof_recording_cost *c, const struct vprof_cost_figures *now)
{
	*c = (struct vprof_recording_cost){
		.call_ns = CALL_NS, .factor = FACTOR + FACTOR_ERROR, .counted = *now, .before = *now
	};
}

static double parts(const struct vprof_recording_cost *c, double taken_ns, uint64_t n_calls)
{
	return taken_ns + c->call_ns * (double)n_calls;
}

static double of_events(const struct vprof_cost_figures *now, const struct vprof_cost_figures *before)
{
	return EVENT_NS * (double)(now->n_events - before->n_events) +
	       INTERRUPT_NS * (double)(now->n_interrupts - before->n_interrupts);
}

static void add(struct vprof_cost_sums *s, double busy, double done, double in_parts)
{
	s->busy += busy;
	s->done += done;
	s->parts += in_parts;
	s->busy2 += busy * busy;
	s->done2 += done * done;
	s->parts2 += in_parts * in_parts;
	s->busy_done += busy * done;
	s->busy_parts += busy * in_parts;
	s->done_parts += done * in_parts;
}

/* Sum over the stretches of (busy - a * done - b * parts)^2. */
static double residue(const struct vprof_cost_sums *s, double a, double b)
{
	double sum = s->busy2 + a * a * s->done2 + b * b * s->parts2 - 2 * a * s->busy_done - 2 * b * s->busy_parts +
		     2 * a * b * s->done_parts;

	return sum > 0 ? sum : 0;
}

/* The factor by what was got done, with its error; an error of 0: nothing is known. */
static double by_progress(const struct vprof_cost_sums *in, const struct vprof_cost_sums *out, double *error)
{
	double each, factor, of_each;

	*error = 0;
	if (in->done < DONE_MIN || out->done < DONE_MIN || !(in->parts > 0))
		return 0;
	each = out->busy / out->done;
	factor = (in->busy - each * in->done) / in->parts;
	of_each = residue(out, each, 0) / (out->done * out->done); /* its variance */
	*error = sqrt(residue(in, each, factor) + of_each * in->done * in->done) / in->parts;
	return factor;
}

static void find_factor(struct vprof_recording_cost *c)
{
	double best = 0, error = 0, weight, usual = 1 / (FACTOR_ERROR * FACTOR_ERROR);

	for (int i = 0; i < VPROF_DONE_COUNT; i++) {
		double e, f = by_progress(&c->inside[i], &c->outside[i], &e);

		if (!(e > 0) || (error > 0 && e >= error))
			continue;
		best = f;
		error = e;
	}
	weight = error > 0 ? 1 / (error * error) : 0;
	c->factor = (usual * FACTOR + weight * best) / (usual + weight) + 1 / sqrt(usual + weight);
	c->factor = c->factor < FACTOR_MIN ? FACTOR_MIN : c->factor > FACTOR_MAX ? FACTOR_MAX : c->factor;
}

static void add_between(struct vprof_recording_cost *c, double taken_ns, double busy_ns)
{
	c->throughout_ns += taken_ns;
	c->between_ns += busy_ns;
	if (c->between_ns > BETWEEN_MOST_NS) {
		c->throughout_ns /= 2;
		c->between_ns /= 2;
	}
}

void vprof_recording_cost_edge(struct vprof_recording_cost *c, const struct vprof_cost_figures *now, int was_open)
{
	const struct vprof_cost_figures *b = &c->before;
	double busy = now->busy_ns - b->busy_ns;

	if (c->n_stretches++ && busy > 0) {
		struct vprof_cost_sums *sums = was_open ? c->inside : c->outside;
		double p = was_open ? parts(c, now->taken_ns - b->taken_ns, now->n_calls - b->n_calls) : 0;

		for (int i = 0; i < VPROF_DONE_COUNT; i++)
			if (!now->misses[i] && !b->misses[i])
				add(&sums[i], busy, (double)(now->n_done[i] - b->n_done[i]), p);
		find_factor(c);
		if (!was_open)
			add_between(c, of_events(now, b), busy);
	}
	c->before = *now;
}

double vprof_recording_cost_count(struct vprof_recording_cost *c, const struct vprof_cost_figures *now)
{
	const struct vprof_cost_figures *b = &c->counted;

	c->total_ns += c->factor * parts(c, now->taken_ns - b->taken_ns, now->n_calls - b->n_calls) +
		       of_events(now, b) + now->edges_ns - b->edges_ns;
	c->counted = *now;
	return c->total_ns;
}

double vprof_recording_cost_throughout(const struct vprof_recording_cost *c, const struct vprof_cost_figures *now)
{
	double taken = c->throughout_ns + of_events(now, &c->before);
	double between = c->between_ns + now->busy_ns - c->before.busy_ns;

	return between >= BETWEEN_MIN_NS ? taken / between : 0;
}

void vprof_recording_cost_forget(struct vprof_recording_cost *c)
{
	memset(c->inside, 0, sizeof c->inside);
	memset(c->outside, 0, sizeof c->outside);
	find_factor(c);
}

double vprof_recording_cost_own_call(void)
{
	double least = INFINITY;

	for (int i = 0; i < OWN_TRIES; i++) {
		uint64_t began = vprof_clock_monotonic_ns();
		double ns;

		for (int k = 0; k < OWN_CALLS; k++)
			syscall(SYS_getppid);
		ns = (double)(vprof_clock_monotonic_ns() - began) / OWN_CALLS;
		least = ns < least ? ns : least;
	}
	return least;
}
