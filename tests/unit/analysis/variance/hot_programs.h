/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random programs with hot functions, run on a clock of their own: what their functions take is planted, recording and
 * counting calls costs time that the plan of the program does not contain, and calls are recorded and sampled as
 * runtime/hot.c does it. So the truth, what a run without probes would show, is known for every function. */
#ifndef HOT_PROGRAMS_H
#define HOT_PROGRAMS_H

#include "tests/unit/analysis/hand_trace.h"

#define HOT_FUNCTIONS 7 /* f1 .. f7 */
#define HOT_INTERVALS 160

struct hot_function {
	int parent;	    /* that calls it; 0: f1, the interval's own */
	double ns;	    /* of its own code, on average; the body's of those that call others */
	double spread;	    /* of that, from call to call: 0 .. 1 */
	double n_calls;	    /* for each call of its parent, on average */
	double n_spread;    /* from interval to interval */
	double gap_ns;	    /* its parent's own work before each of its calls */
	double cost_factor; /* what recording it costs, by the usual */
};

struct hot_program {
	int n_intervals;			  /* up to HOT_INTERVALS */
	struct hot_function f[HOT_FUNCTIONS + 1]; /* f[1] is the interval's */
	double record_ns, inside_ns, counted_ns;  /* nominal */
	double scale;				  /* what they really take, by that */
	/* the truth: ns by function and interval, without any recording */
	double truth[HOT_FUNCTIONS + 1][HOT_INTERVALS], body[HOT_FUNCTIONS + 1][HOT_INTERVALS];
	double mean_ns, measured_ns;
	uint64_t random;
	double now;
	struct hand_thread *th;
};

/* A program by chance: 2 to 6 functions of 2 ns to 1 ms. */
void hot_program_choose(struct hot_program *p, uint64_t seed);

/* With probes for all of its functions, each open in the one that calls it. */
struct vprof_plan *hot_program_plan(const struct hot_program *p);

/* Runs it with probes into the trace; fills the truth. */
void hot_program_run(struct hot_program *p, struct hand_trace *h);

#endif
