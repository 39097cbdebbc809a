/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A writer for the tests: records into shared memory as a thread of a target does, by trace/shm.h and nothing else. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stdint.h>

#include "trace/reader.h"
#include "trace/shm.h"

struct writer {
	struct vp_shm *shm;
	struct vp_chunk_header *chunk; /* NULL: none held */
	uint32_t chunk_index, n_units; /* used in the chunk */
	uint32_t thread_seq, process_seq, parent_seq, chunk_seq;
	uint64_t n_written, n_dropped;
	uint64_t n_unreported; /* dropped since the last DROPPED note */
};

struct vp_shm *writer_map(const char *path);
void writer_init(struct writer *w, struct vp_shm *shm, uint32_t process_seq, uint32_t parent_seq);
/* Writes one record of n units, after a DROPPED note when records were dropped before it; counts it as dropped when no
 * chunk is free. */
void writer_record(struct writer *w, const struct vp_unit *units, uint32_t n);
void writer_call(struct writer *w, uint32_t code, uint64_t t, uint64_t duration);
void writer_hand_over(struct writer *w); /* the chunk in hand becomes FULL */

/* How many calls a trace of such writers has, all of this code. Every thread's call records must have durations 0, 1,
 * 2, ...: nothing lost within, doubled or out of order. DROPPED notes between them are not counted. */
uint64_t calls_in_order(const struct vprof_trace *t, uint32_t code);

/* A fresh folder below the temporary folder; removed by remove_folder. */
char *make_folder(void);
void remove_folder(char *folder);

/* Deterministic numbers (splitmix64). */
uint64_t next_random(uint64_t *state);

#endif
