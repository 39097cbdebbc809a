/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What truth.c asks about waits. */
#ifndef SIMULATE_TRUTH_WAITS_H
#define SIMULATE_TRUTH_WAITS_H

#include "tests/simulate/truth.h"

/* The wait that counts at this moment: the outermost one that was recorded. */
const struct sim_wait *truth_wait_of(const struct sim_thread *th, const struct sim_moment *m);
/* Who ended it: a wait around others that nobody is known to have ended was ended by whoever ended the last of these.
 */
const struct sim_release *truth_release_of(const struct sim_thread *th, const struct sim_wait *w);
uint64_t truth_clip(uint64_t x, uint64_t low, uint64_t high);
/* A thread that is not seen to leave its interval left it when it was last seen. */
uint64_t truth_segment_end(const struct sim_segment *s);

#endif
