/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Twins of a unit (docs/design/live.md): the compiler's assembly of the unit as it is, with patchable entries, and
 * of the unit with a probe in every function become one, in which the second's functions have names of their own and
 * its variables are the first's. */
#ifndef VPROF_RESIDENT_MERGE_H
#define VPROF_RESIDENT_MERGE_H

#include "common/text.h"

enum vprof_merge_how {
	VPROF_MERGE_CXX,    /* functions of one name are one, whichever units have them */
	VPROF_MERGE_C,	    /* a weak function may be another unit's */
	VPROF_MERGE_C_KEPT, /* the second has static functions that nobody calls (-fkeep-static-functions) */
};
#define VPROF_MERGE_REFUSED 1
#define VPROF_MERGE_REFERS_FURTHER 2 /* such a function refers to what the first assembly does not */

/* 0: `out` is the assembly of both. VPROF_MERGE_...: they cannot be joined, `why` says for what reason. NOMEM. */
int vprof_assembly_merge(const struct vprof_text *plain, const struct vprof_text *probed, enum vprof_merge_how how,
			 struct vprof_text *out, struct vprof_text *why);

/* `out` is the assembly of a C unit without the patchable entries of functions that have no twin: what was left out,
 * and what the compiler made of functions (clones), which is called in a way of its own. OK, NOMEM. */
int vprof_assembly_spare(const struct vprof_text *text, struct vprof_text *out);

#endif
