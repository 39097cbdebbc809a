/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records gathered into one sequence of chunks, stored as they become full. */
#ifndef VPROF_RECORDER_GATHER_H
#define VPROF_RECORDER_GATHER_H

#include "trace/format.h"
#include "trace/processors.h" /* vprof_store_chunk */

struct vprof_gather {
	vprof_store_chunk *store;
	void *arg;
	struct vp_chunk_header *chunk; /* VP_CHUNK_BYTES, its first use makes it; what says whose it is, is kept */
	struct vp_chunk_header whose;
	uint32_t n_units, n_records; /* in the chunk; LOST is none here */
	uint64_t n_stored, n_lost;   /* records in chunks that were stored, and in those that could not be */
};

/* thread_seq, process_seq, pid and tid as in `whose`. */
void vprof_gather_init(struct vprof_gather *g, const struct vp_chunk_header *whose, vprof_store_chunk *store,
		       void *arg);

/* Adds a record; it counts as lost without memory. */
void vprof_gather_add(struct vprof_gather *g, const struct vp_unit *units, uint32_t n_units);

/* Stores the chunk although it is not full. */
void vprof_gather_flush(struct vprof_gather *g);

void vprof_gather_release(struct vprof_gather *g);

#endif
