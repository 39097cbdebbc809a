/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A random part of the intervals, where all of them would take longer than the answer is worth. */
#ifndef VPROF_DRAW_H
#define VPROF_DRAW_H

#include "analysis/source/source.h"

/* Leaves `wanted` of the `n_all` chosen intervals of all sources: they are cut into so many strata of successive ones,
 * and of each stratum one is drawn. So every stretch of the run is there as it was, and what is in step with the order
 * of requests (clients that take turns) is not favoured. The same ones each time; all, where there are not more.
 * Returns how many were left out. */
size_t vprof_sources_draw(struct vprof_source *sources, size_t n_sources, size_t n_all, size_t wanted);

#endif
