/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Twins of a C++ unit (docs/design/live.md): the compiler's assembly of the unit as it is, with patchable entries, and
 * of the unit with a probe in every function become one, in which the second's functions have names of their own and
 * its variables are the first's. */
#ifndef VPROF_RESIDENT_MERGE_H
#define VPROF_RESIDENT_MERGE_H

#include "common/text.h"

/* 0: `out` is the assembly of both. 1: they cannot be joined, `why` says for what reason. NOMEM. */
int vprof_assembly_merge(const struct vprof_text *plain, const struct vprof_text *probed, struct vprof_text *out,
			 struct vprof_text *why);

/* `out` is the assembly of a C unit without the patchable entries of functions that have no twin: what was left out,
 * and what the compiler made of functions (clones), which is called in a way of its own. OK, NOMEM. */
int vprof_assembly_spare(const struct vprof_text *text, struct vprof_text *out);

#endif
