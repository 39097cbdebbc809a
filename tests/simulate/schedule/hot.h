/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that the runtime does not record: those of hot functions, which are too frequent to record all of them
 * (runtime/hot.c), and those between two recording windows (trace/windows.h).
 *
 * The first calls of a stretch of work are recorded. After them, two calls of each block are sampled: chosen and timed
 * (SAMPLE); the others are skipped, with all calls that they make, up to their first wait.
 *
 * Between two windows a function's first call in a stretch of work is skipped in the same way; the fast path, for the
 * calls after it, does not look. The thread that begins an interval in a window records all up to its next mark.
 *
 * None of this changes what happens, only what is recorded of it.
 */
#ifndef SIMULATE_HOT_H
#define SIMULATE_HOT_H

#include "tests/simulate/schedule/records.h"

/* Decides how this world samples. */
void hot_settle(struct world *w);
/* ... and when it records calls, until about `until`. */
void windows_settle(struct world *w, uint64_t until);
/* Does the trace have all calls of intervals that begin now? */
bool windows_contain(const struct world *w, uint64_t t);

/* A call of any function, and its end; of a hot one when the code is one of SIM_HOT_CODE(i). */
void hot_enter(struct sim_thread *th, uint32_t code);
void hot_leave(struct sim_thread *th);

/* A mark of an interval: a new stretch of work. */
void hot_mark(struct sim_thread *th, enum vp_kind kind);
/* A wait that began at t is recorded: so is the call that it lies in, from t on. */
void hot_unskip(struct sim_thread *th, uint64_t t);

/* Before truth is read: up to where each chosen call stands for others. */
void hot_prepare(struct world *w);

/* The frame of the thread at this moment that stands for others, index + 1, and for how many calls; 0: none. */
uint32_t hot_chosen(const struct sim_thread *th, uint32_t frame, uint64_t at, uint32_t *weight);
/* Is there a hot function among the frames? Index + 1 of the outermost. */
uint32_t hot_outermost(const struct sim_thread *th, uint32_t frame);
/* Is the frame recorded at this moment? */
bool hot_is_seen(const struct sim_frame *f, uint64_t at);

#endif
