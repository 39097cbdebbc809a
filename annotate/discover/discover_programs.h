/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lowers the scores of functions that belong to clients and tools, in a project that also builds a server. */
#ifndef VPROF_DISCOVER_PROGRAMS_H
#define VPROF_DISCOVER_PROGRAMS_H

#include "annotate/discover/ranking.h"

void vprof_ranking_lower_other_programs(struct vprof_ranking *r);

#endif
