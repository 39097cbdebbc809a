/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Common frames: which functions were active throughout segments, from sampled call stacks. It tells where the
 * interval's root can be measured, and what wakers were doing. */
#ifndef VPROF_COMMON_FRAMES_H
#define VPROF_COMMON_FRAMES_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "analysis/timeline/symbols.h"

/* modules that were built again since the run: not named from what is there now; and one that is damaged */
struct vprof_changed_modules {
	size_t n;
	const char *first; /* path; belongs to the timeline */
	int is_kept;	   /* the run's earlier results had their functions */
	char damage[512];  /* why a module could not be read that is there; empty: none such */
};

/* Fills r->common_frames, by depth from the outermost frame. A function `encloses` when it is on the common part of the
 * stacks at a segment's begin and at its end in at least a tenth of the pairs. Where modules were built again since the
 * run, the common frames of `earlier`, the run's results.json as it was (NULL: none), is taken when it holds more. OK
 * or NOMEM. */
int vprof_common_frames_find(struct vprof_results *r, const struct vprof_source *sources, size_t n_sources,
			     const char *earlier, struct vprof_changed_modules *changed, struct vprof_error *err);

#endif
