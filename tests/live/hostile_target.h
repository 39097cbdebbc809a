/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose functions are left in unusual ways, and whose probes are opened and closed meanwhile:
 *
 *   jump_outer -> jump_inner -> jump_leaf, which longjmps out of all three
 *   throw_outer -> throw_inner -> throw_leaf, which throws (C++: the probes stand in the bodies)
 *   switch_outer -> switch_inner, which switches to another coroutine and comes back
 *   crowd -> step, in a hundred threads
 *
 * All but those in C++ have an entry and a twin. */
#ifndef VPROF_TESTS_HOSTILE_TARGET_H
#define VPROF_TESTS_HOSTILE_TARGET_H

#include <stdint.h>

#include "live/probe_map.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hostile_code {
	JUMP_OUTER = 0x201,
	JUMP_INNER,
	JUMP_LEAF,
	THROW_OUTER,
	THROW_INNER,
	THROW_LEAF,
	SWITCH_OUTER,
	SWITCH_INNER,
	CROWD,
	STEP,
	HOSTILE_END,
};

enum hostile_passage { PASSAGE_JUMP, PASSAGE_THROW, PASSAGE_SWITCH, N_PASSAGES };
#define N_CROWD 100

enum hostile_phase { HOSTILE_READY = 1, HOSTILE_BEGIN, HOSTILE_END_OF_PASSAGE };

/* shared by the program and its test */
struct hostile_shared {
#ifndef __cplusplus
	_Atomic int is_over, passage, phase;
	_Atomic uint64_t epoch;	    /* a new one calls the crowd out of its function, and back into it */
	_Atomic uint64_t n_arrived; /* threads in crowd(), of all epochs */
	_Atomic uint64_t n_passages, n_wrong_results, n_wrong_gates;
#endif
};

const struct vprof_probe_map *hostile_map(void);
/* Becomes the target: does not return but with its exit status. `mode`: "stepped" (it traps at each phase) or "crowd".
 */
int hostile_main(const char *mode, const char *shared);
/* hostile_throw.cpp: the passage, whose result is always HOSTILE_THROWN. */
int hostile_throw(void);
#define HOSTILE_THROWN 543

#ifdef __cplusplus
}
#endif
#endif
