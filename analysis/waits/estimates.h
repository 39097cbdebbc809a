/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much throughput each edge of a knot may give: the recording replayed with its waits half as long, and without
 * them (wait_replay.h). These are estimates of what is to be had at most from that edge alone: what the change costs,
 * and waits that never came up because of the ones that are shortened, are not in the recording. */
#ifndef VPROF_WAITS_ESTIMATES_H
#define VPROF_WAITS_ESTIMATES_H

#include "analysis/waits/knots.h"
#include "analysis/waits/program.h"

#define VPROF_WAITS_ESTIMATES_MAX 32 /* edges, the heaviest ones */

#define VPROF_WAITS_FIDELITY_MAX 0.1
#define VPROF_WAITS_SLEEP_SHARE 0.1 /* of the recording: others' waits that make a sleep worth telling */

struct vprof_waits_estimate {
	uint32_t edge;
	uint32_t knot;	     /* whose throughput it is */
	double halved, gone; /* throughput gained: 0.25 is a quarter more; NaN: the replay does not tell */
	/* of waits for a disk: without them, and without the time that the disk takes for these requests; else NaN */
	double saved;
};

struct vprof_waits_estimates {
	VPROF_ARRAY(struct vprof_waits_estimate) v; /* by edge */
	/* how long the unchanged replay took, as a share of what it replays: how true it is; of several knots' the one
	 * that is farthest off; NaN: there was none */
	double fidelity;
	double replayed; /* share of the recording that was replayed */
	enum vprof_waits_cpu_model cpus;
};

/* Does a thread wait for a timer, or for what is not recorded, while others wait for it? */
int vprof_waits_is_sleep(const struct vprof_waits_graph *graph, uint32_t edge);

/* Of all knots' edges but idle time of devices, and of none of background knots; and of the waits that their threads
 * (of background knots, too) spend on timers and the world outside while others wait for them. What must be done for
 * the end of a replay: all work of the threads of the edge's knot; of threads in no knot that wait for it, and whose
 * waits without a known cause (timers, the world outside) are at most a fifth of their time; and the requests of both.
 * OK or NOMEM.
 */
int vprof_waits_estimate(struct vprof_waits_estimates *out, const struct vprof_waits_history *history,
			 const struct vprof_waits_reasons *reasons, const struct vprof_waits_graph *graph,
			 const struct vprof_waits_knots *knots, size_t max_segments, int n_threads,
			 struct vprof_error *err);

#endif
