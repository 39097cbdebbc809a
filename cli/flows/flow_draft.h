/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discovery run's answer as what a draft of vprof.json is made of. */
#ifndef VPROF_FLOW_DRAFT_H
#define VPROF_FLOW_DRAFT_H

#include <cjson/cJSON.h>

#include "annotate/discover/draft.h"

/* The flows with entries are queues, all others were seen. Texts belong to the answer and to the arena, which owns the
 * arrays. NOMEM. */
int vprof_flow_draft_of(const cJSON *answer, struct vprof_arena *arena, struct vprof_found_queues *found);

#endif
