/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histories that visits become. Internal to analysis/join.
 *
 * Of each group's history one function stands for the visit: every stack begins with it. Stack 0 is that alone. */
#ifndef VPROF_VISIT_STACKS_H
#define VPROF_VISIT_STACKS_H

#include "analysis/join/visit_calls.h"

#define VPROF_VISIT_STACK_ALONE 0u

/* When all other functions are there that do not come later. OK or NOMEM. */
int vprof_visit_group_begin(struct vprof_visit_group *group, uint64_t begin, uint64_t end);

/* Within the visit these n frames, n_user of them of the program and its libraries. VPROF_NONE without memory. */
uint32_t vprof_visit_stack_add(struct vprof_latency_history *h, const struct vprof_latency_frame *frames, uint32_t n,
			       uint32_t n_user);

/* The visit of these stretches is complete; its events are those from `first` on. OK or NOMEM. */
int vprof_visit_group_add(struct vprof_visit_group *group, uint32_t visit, const struct vprof_visit_stretch *stretches,
			  uint32_t n, size_t first);

#endif
