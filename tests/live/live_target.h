/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program with resident probes that were made by hand, and where they are. Its functions:
 *
 *   handle (a root) -> outer -> inner, inner -> leaf, leaf         and work of a background thread: job -> outer
 *
 * Each has an entry (A9) before the plain function and an instrumented twin that calls twins. */
#ifndef VPROF_TESTS_LIVE_TARGET_H
#define VPROF_TESTS_LIVE_TARGET_H

#include "common/plan.h"
#include "live/probe_map.h"

#define N_WORKERS 3

enum { HANDLE = 0x101, OUTER, INNER, LEAF, JOB, MODULE_STEP, N_CODES_END };

/* What the target is told and tells, in memory shared with the test. */
struct live_shared {
	_Atomic int is_over;
	_Atomic int is_forking, is_executing; /* processes come and go */
	_Atomic uint64_t n_requests, n_forks, n_execs, n_module_steps;
	_Atomic uint64_t n_changes; /* of plans, told by the test */
	_Atomic uint64_t turn;	    /* of a plan that measures, told by the test; 0: none, or it may change now */
	_Atomic uint64_t n_inside;  /* requests that began and ended in the same turn */
	_Atomic uint64_t
		n_replaced; /* times that something else was mapped where the library had been, during changes */
	_Atomic uint64_t gates_open; /* threads whose gate was not shut when they looked last; bit by bit */
	_Atomic uint64_t n_looks[N_WORKERS];
	_Atomic uint32_t failures;
};

/* The probes of this very program, and of the module beside it. */
const struct vprof_probe_map *live_target_map(void);

/* Becomes the target: does not return. `shared`: a file to map. */
int live_target_main(const char *mode, const char *shared);

/* Of the functions `broken_down` (a bit for each code - HANDLE) what they call is measured. */
struct vprof_plan *live_target_plan(uint32_t number, uint32_t broken_down);

#endif
