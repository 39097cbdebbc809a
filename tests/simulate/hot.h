/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hot functions: what the runtime does with calls that come too fast to record all of them (runtime/hot.c).
 *
 * The first calls of a stretch of work are recorded. After them, of each block of calls two are chosen and timed
 * (SAMPLE); the others are skipped, with all calls that they make, up to their first wait. Which calls are chosen
 * changes nothing of what happens, only what is recorded of it.
 */
#ifndef SIMULATE_HOT_H
#define SIMULATE_HOT_H

#include "records.h"

/* Settles whether and how this world samples. */
void hot_settle(struct world *w);

/* A call of any function, and its end; of a hot one when the code is one of SIM_HOT_CODE(i). */
void hot_enter(struct sim_thread *th, uint32_t code);
void hot_leave(struct sim_thread *th);

/* A mark of an interval: calls are counted anew. */
void hot_stretch(struct sim_thread *th);
/* A wait that began at t is recorded: so is the call that it lies in, from t on. */
void hot_unskip(struct sim_thread *th, uint64_t t);

/* Before truth is read: up to where each chosen call stands for others. */
void hot_prepare(struct world *w);

/* The frame of the thread at this moment that stands for others, index + 1, and for how many calls; 0: none. */
uint32_t hot_chosen(const struct sim_thread *th, uint32_t frame, uint64_t at, uint32_t *weight);
/* Is there a hot function among the frames? Index + 1 of the outermost. */
uint32_t hot_outermost(const struct sim_thread *th, uint32_t frame);
/* Is the frame on record at this moment? */
bool hot_is_seen(const struct sim_frame *f, uint64_t at);

#endif
