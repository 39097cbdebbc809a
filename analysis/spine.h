/* The spine: which functions were active throughout segments, from sampled call stacks. It tells where the interval's
 * root can be measured, and what wakers were doing. */
#ifndef VPROF_SPINE_H
#define VPROF_SPINE_H

#include "analysis/results.h"
#include "analysis/source.h"
#include "analysis/symbols.h"

/* Fills r->spine, by depth from the outermost frame. A function `encloses` when it is on the common part of the stacks
 * at a segment's begin and at its end in at least a tenth of the pairs. OK or NOMEM. */
int vprof_spine_find(struct vprof_results *r, const struct vprof_source *sources, size_t n_sources, struct vprof_error *err);

#endif
