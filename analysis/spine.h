/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spine: which functions were active throughout segments, from sampled call stacks. It tells where the interval's
 * root can be measured, and what wakers were doing. */
#ifndef VPROF_SPINE_H
#define VPROF_SPINE_H

#include "analysis/results.h"
#include "analysis/source.h"
#include "analysis/symbols.h"

struct vprof_spine_changed { /* modules that were built again since the run: not named from what is there now */
	size_t n;
	const char *first; /* path; belongs to the timeline */
	int is_kept;	   /* the run's earlier results had their functions */
};

/* Fills r->spine, by depth from the outermost frame. A function `encloses` when it is on the common part of the stacks
 * at a segment's begin and at its end in at least a tenth of the pairs. Where modules were built again since the run,
 * the spine of `earlier`, the run's results.json as it was (NULL: none), is taken when it holds more. OK or NOMEM. */
int vprof_spine_find(struct vprof_results *r, const struct vprof_source *sources, size_t n_sources, const char *earlier,
		     struct vprof_spine_changed *changed, struct vprof_error *err);

#endif
