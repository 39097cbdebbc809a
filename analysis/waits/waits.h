/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which waits limit an application's throughput (Zhou et al., wPerf: Generic Off-CPU Analysis to Identify Bottleneck
 * Waiting Events, OSDI 2018). The entry to the room analysis/waits; docs/design/waits.md explains it.
 *
 *   history/       the input: segments of threads, wakers, requests to devices; what annotations of spin waits and
 *                  false wake-ups change in it; threads made for one task become virtual threads
 *   reasons.h      waits by who, for whom and where
 *   cascade.h      weights of waits: cascaded redistribution
 *   foreign.h      threads that were recorded only because they woke others, unless they matter
 *   alike.h        threads that do the same become one vertex
 *   devices.h      idle time of devices
 *   graph.h        the wait-for graph
 *   knots.h        its knots and sinks, refined
 *   estimates.h    what would it give: the history run again, with the waits of an edge shortened
 *   program.h      ... what each thread did, as steps without times
 *   replay_scope.h ... of the threads that matter
 *   wait_replay.h  ... and these steps simulated
 *   describe.h     all of it as results
 */
#ifndef VPROF_WAITS_H
#define VPROF_WAITS_H

#include "analysis/waits/estimates.h"
#include "analysis/waits/knots.h"

struct vprof_waits_options {
	int n_threads;		  /* 0: one for each CPU; the result does not depend on it */
	double short_lived_share; /* of the recording: lifetime up to which a thread is short-lived; 0: none is */
	double min_overlap;	  /* of alike threads' stacks; above 1: none are alike */
	struct vprof_waits_knot_options knots;
	size_t replay_segments; /* up to which the recording is replayed; 0: nothing is estimated */
	/* told before each step, as `what`; done is negative. NULL: nobody is */
	void (*progress)(void *arg, const char *what, double done);
	void *progress_arg;
};

struct vprof_waits {
	struct vprof_waits_history *history; /* the caller's */
	struct vprof_waits_reasons reasons;
	struct vprof_waits_graph graph;
	struct vprof_waits_knots knots;
	struct vprof_waits_estimates estimates;
};

struct vprof_waits_options vprof_waits_defaults(void);
void vprof_waits_tell(const struct vprof_waits_options *options, const char *step);

/* Checks the history, merges its short-lived threads (so it changes), and analyses it. INPUT when it is inconsistent,
 * NOMEM; to be released in any case, before the history. */
int vprof_waits_analyze(struct vprof_waits *out, struct vprof_waits_history *history,
			const struct vprof_waits_options *options, struct vprof_error *err);
void vprof_waits_release(struct vprof_waits *waits);

#endif
