/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording windows: calls are recorded in some stretches of time only, so that recording takes at most a given share
 * of one CPU. Decides when; the collector opens and closes them.
 *
 * - The first window lasts until recording has cost first_cost_ns: a short or quiet run is recorded throughout.
 * - A window that costs less than the share stays open.
 * - A pause between two windows is as long as brings the mean cost down to the share, times a random factor, so that
 *   nothing periodic in the target falls into all windows or none.
 * - Whether an interval is chosen depends on its begin alone, never on its length: in the last part of a window, which
 * is as long as intervals were seen to take, only those begun before are recorded.
 */
#ifndef VPROF_WINDOWS_H
#define VPROF_WINDOWS_H

#include <stdint.h>

struct vprof_windows {
	double share;	      /* of one CPU, 0: always open */
	double first_cost_ns; /* for which the first window may be used up */
	double length_ns;     /* of a window at least, besides the tail */
	int is_open, is_first;
	uint64_t since_ns; /* of the window or the pause */
	double since_cost_ns;
	uint64_t tail_ns; /* as long as intervals take, at most VPROF_WINDOW_TAIL_NS */
	uint64_t reopen_ns;
	double closed_rate; /* what recording costs in a pause, ns per ns */
	uint64_t random;
	uint64_t n, open_ns, start_ns; /* windows; time in those that are over */
};

#define VPROF_WINDOW_TAIL_NS 1000000000u

/* first_cost_ns is 0.1 s and length_ns 20 ms unless they are changed then. */
void vprof_windows_start(struct vprof_windows *w, double share, uint64_t now_ns, uint64_t seed);

/* `cost_ns`: the CPU time that recording has cost since the start; `longest_ns`: the longest interval seen since
 * the last call. 1: what is_open says has changed; a window that was closed ends `tail_ns` before now. */
int vprof_windows_step(struct vprof_windows *w, uint64_t now_ns, double cost_ns, uint64_t longest_ns);

double vprof_windows_open_share(const struct vprof_windows *w, uint64_t now_ns); /* of the time so far */

#endif
