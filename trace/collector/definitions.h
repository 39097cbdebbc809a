/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that give names to what other records hold: a process writes them once, but a live session's traces are
 * several, each of which must have them. */
#ifndef VPROF_DEFINITIONS_H
#define VPROF_DEFINITIONS_H

#include <stddef.h>

#include "trace/compress.h"

struct vprof_definitions;

struct vprof_definitions *vprof_definitions_new(void); /* NULL: no memory */
void vprof_definitions_free(struct vprof_definitions *d);

/* Keeps those among a chunk's units: STRING, MODULE, BUILD_ID; and START, until the thread's EXIT. OK or NOMEM. */
int vprof_definitions_add(struct vprof_definitions *d, const struct vp_chunk_header *h, const struct vp_unit *units);

/* Forgets what processes defined of which no unit will ever come again: they are dead, or executed another program (a
 * later process has their pid), and no chunk of theirs is under way. OK or NOMEM (nothing is forgotten then). */
struct vprof_definitions_judge {
	int (*is_dead)(void *arg, const struct vp_chunk_header *h);	 /* is its process known to be gone? */
	int (*is_under_way)(void *arg, const struct vp_chunk_header *h); /* asked afterwards: has it units to come? */
	void *arg;
};
int vprof_definitions_forget(struct vprof_definitions *d, const struct vprof_definitions_judge *judge);
/* Has so much been added since then that it is worth while? What is kept stays below twice what the processes that
 * live need, and VPROF_DEFINITIONS_SLACK. */
int vprof_definitions_is_due(const struct vprof_definitions *d);
#define VPROF_DEFINITIONS_SLACK 64

/* Calls `store` with chunks of all that is kept, each with its thread's last chunk_seq: the thread's next units follow
 * it. Stops at the first result that is not 0 and returns it. */
int vprof_definitions_store(const struct vprof_definitions *d,
			    int (*store)(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units),
			    void *arg);

#endif
