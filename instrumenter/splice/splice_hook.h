/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The annotations of vprof.json as insertions. */
#ifndef VPROF_SPLICE_HOOK_H
#define VPROF_SPLICE_HOOK_H

#include "annotate/check/annotations.h"
#include "common/facts/facts.h"
#include "instrumenter/splice/splice_edit.h"

/* Rank of a function's own probe among the declarations at its entry: everything of an annotation comes after. */
#define VPROF_SPLICE_RANK_PROBE 0
/* Rank of a call site among ranges of the same extent: innermost. */
#define VPROF_SPLICE_RANK_SITE 9

/* Adds the edits of all annotations. INPUT, with the place in vprof.json, when a function is not known or cannot
 * be annotated so. */
int vprof_splice_hooks(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_annotations *a,
		       struct vprof_error *err);

#endif
