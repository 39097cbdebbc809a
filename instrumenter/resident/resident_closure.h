/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has to be opened to measure a function: its own entry, and that of every function that holds an inlined copy of
 * it, or calls a clone of it, or of such a function. Opened alone, a function would be counted where it was called and
 * not where it was inlined, and the count would be wrong without a sign of it. */
#ifndef VPROF_RESIDENT_CLOSURE_H
#define VPROF_RESIDENT_CLOSURE_H

#include "common/text.h"
#include "instrumenter/resident/resident_debug.h"

struct vprof_branch { /* a call or jump to where a clone begins */
	uint64_t from, to;
};

struct vprof_resident_closure {
	const struct vprof_resident_file *file;
	const struct vprof_resident_debug *debug;
	VPROF_ARRAY(struct vprof_branch) branches; /* by `to` */
	uint32_t *stamps;			   /* instances: the last function they were visited for */
	uint32_t stamp;
	VPROF_ARRAY(uint64_t) entries; /* of the function last asked for */
	VPROF_ARRAY(uint32_t) todo;
	size_t n_always; /* of todo: functions that are entered through their twins anyway */
};

/* Reads the code for branches to clones: every place that could be one counts. O(code). */
int vprof_resident_closure_init(struct vprof_resident_closure *c, const struct vprof_resident_file *file,
				const struct vprof_resident_debug *debug, struct vprof_error *err);
void vprof_resident_closure_release(struct vprof_resident_closure *c);

/* Fills c->entries (sorted) for debug->functions.v[function] of each of `functions`, which have twins. 1: with all of
 * them open, every execution is seen. 0: not so, and `why` says where it would not be; negative: NOMEM. */
int vprof_resident_closure_of(struct vprof_resident_closure *c, const uint32_t *functions, size_t n,
			      struct vprof_text *why);

#endif
