/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts as the types of intervals, so that all that is told by type is told by context. */
#ifndef VPROF_CONTEXT_TYPES_H
#define VPROF_CONTEXT_TYPES_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "analysis/transactions/call_paths.h"

/* Gives every complete interval `name` (hash) of the sources the name of its context as its type; makes their edges,
 * and gives the call paths their labels. OK, NOMEM, or what vprof_source_connect() fails with. */
int vprof_context_types_set(struct vprof_results *r, struct vprof_source *sources, size_t n_sources,
			    struct vprof_call_paths *call_paths, uint64_t name, struct vprof_error *err);

#endif
