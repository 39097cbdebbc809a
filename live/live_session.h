/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording windows under plans that come and go while the program runs.
 *
 *   vprof_live_new -> vprof_live_begin(plan, trace) -> vprof_live_step every few ms ... -> vprof_live_end -> begin ...
 *
 * A round has one plan and one trace. Turns of that plan and of none (a baseline, in which only annotations record)
 * alternate at random, from a fixed seed, so that nothing periodic in the program falls into one of them alone. After a
 * change of plan, a window opens once calls that began before are over, as far as the lengths of intervals tell; it
 * closes, for intervals that begin, as long before the next change as intervals take. Changes are PLAN records: the
 * analysis takes no interval that overlaps one.
 *
 * Between rounds nothing is open and nothing is kept, but the program's processes are watched.
 */
#ifndef VPROF_LIVE_SESSION_H
#define VPROF_LIVE_SESSION_H

#include "common/plan.h"
#include "live/gates.h"
#include "trace/collector/collector_live.h"

struct vprof_live_options {
	uint64_t seed;
	uint64_t turn_ns;      /* of a turn on average, besides what intervals take; 0: VPROF_LIVE_TURN_NS */
	double baseline_share; /* of turns; 0: none, which is for tests; VPROF_LIVE_BASELINES */
	uid_t user;	       /* as vprof_gates_limit() */
};
#define VPROF_LIVE_TURN_NS UINT64_C(200000000)
#define VPROF_LIVE_BASELINES 0.4
#define VPROF_LIVE_TAIL_NS UINT64_C(1000000000) /* the longest that windows wait for intervals */

struct vprof_live_state {
	uint32_t number;			    /* of the plan in force, 0: baseline */
	int is_window;				    /* intervals that begin now count */
	int is_paused;				    /* until the session goes on: vprof_live_pause() */
	uint64_t n_turns, n_baselines, n_changes;   /* of this round */
	uint64_t measured_ns, baseline_ns;	    /* in windows, of this round */
	uint64_t longest_ns;			    /* interval seen so far */
	uint64_t change_ns, change_max_ns;	    /* the last change's writing, and the longest of this round */
	size_t n_processes, n_refused, n_elsewhere; /* elsewhere: in a pid namespace that is not ours */
	size_t n_others; /* which may yet have probes: they execute a program, load a library, or start one that does */
	char refusal[240];
};

struct vprof_live;

/* Collector and map are borrowed. */
int vprof_live_new(struct vprof_live **out, struct vprof_collector *collector, const struct vprof_probe_map *map,
		   const struct vprof_live_options *o, struct vprof_error *err);
/* Closes everything, then frees. What could not be closed (a process that refuses) is told in the last state. */
void vprof_live_free(struct vprof_live *live);

/* The plan's number must not be 0; the plan is borrowed until the end of the round. *n_missing as vprof_gates_set. */
int vprof_live_begin(struct vprof_live *live, const struct vprof_plan *plan, const char *trace_dir, size_t *n_missing,
		     struct vprof_error *err);
/* Drains the collector, looks for new processes, turns windows and plans that are due. OK or NOMEM. */
int vprof_live_step(struct vprof_live *live, struct vprof_error *err);
/* Closes everything, until it is resumed with another turn: intervals that meanwhile begin are neither measured nor
 * baselines. In no round, or when it is so already, these do nothing. OK or NOMEM. */
int vprof_live_pause(struct vprof_live *live, struct vprof_error *err);
int vprof_live_resume(struct vprof_live *live, struct vprof_error *err);
/* Closes everything and ends the round's trace. */
int vprof_live_end(struct vprof_live *live, struct vprof_error *err);

void vprof_live_look(const struct vprof_live *live, struct vprof_live_state *state);

#endif
