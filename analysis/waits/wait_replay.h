/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would it give? The recorded work is run again by simulated threads, on as many CPUs, with the waits of some edge
 * shortened: who then gets further ahead wakes others earlier. How much sooner all is done tells how much throughput
 * the change would give at most. Assumptions and limits: docs/design/waits.md.
 */
#ifndef VPROF_WAIT_REPLAY_H
#define VPROF_WAIT_REPLAY_H

#include "analysis/waits/program.h"

struct vprof_waits_replayed {
	uint64_t took_ns; /* until all work was done that counts */
	int is_stuck;	  /* some of it never was: the history contradicts itself */
};

/* Runs the programs once. Waits of `edge` (VPROF_NONE: none) take at most `share` of their recorded length, 0 .. 1.
 * Work counts when `counts` of its entity (a thread, or a device: its requests) is not 0. OK or NOMEM.
 * O(n log threads) for n steps. */
int vprof_waits_replay(struct vprof_waits_replayed *out, const struct vprof_waits_program *program, uint32_t edge,
		       double share, const unsigned char *counts);

#endif
