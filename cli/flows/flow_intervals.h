/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a discovery run saw of requests, as an interval of vprof.json. */
#ifndef VPROF_FLOW_INTERVALS_H
#define VPROF_FLOW_INTERVALS_H

#include <cjson/cJSON.h>

#include "analysis/flows/flow_requests.h"
#include "annotate/code/discovery.h"
#include "common/text.h"

/* Adds "requests" to the answer: the counts, and "interval" as vprof.json has it, or "open": why there is none. Nothing
 * where no request was seen. */
void vprof_flow_interval_add(cJSON *answer, struct vprof_discovery *d, const struct vprof_flow_requests *r);
void vprof_flow_interval_text(const cJSON *answer, struct vprof_text *out);

#endif
