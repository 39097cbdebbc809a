/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would it give? The recorded work is run again by simulated threads, on as many CPUs, with the waits of some edge
 * shortened: who then gets further ahead wakes others earlier. How much sooner all is done tells how much throughput
 * the change would give at most. Assumptions and limits: docs/design/waits.md.
 */
#ifndef VPROF_WAIT_REPLAY_H
#define VPROF_WAIT_REPLAY_H

#include "analysis/waits/program.h"

/* What is other than in the recording. */
struct vprof_waits_change {
	uint32_t edge; /* of the graph; VPROF_NONE: nothing is */
	double share;  /* 0 .. 1: of their recorded length that its waits take at most */
	int is_saved;  /* what the edge's threads gave to its device takes the device no time */
};

struct vprof_waits_replayed {
	uint64_t took_ns; /* until all work was done that counts */
	int is_stuck;	  /* some of it never was: the history contradicts itself */
};

/* Runs the programs once. Work of a thread, and the requests that it gives to devices, count when `counts` of the
 * thread (by entity) is not 0. `matters`: threads that do, and those whose course theirs depends on (replay_scope.h);
 * the others are left out. OK or NOMEM. O(n log threads) for n steps. */
int vprof_waits_replay(struct vprof_waits_replayed *out, const struct vprof_waits_program *program,
		       const struct vprof_waits_change *change, const unsigned char *counts,
		       const unsigned char *matters);

#endif
