/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .vprof/flows/flows.json: what the last discovery run found, with the entries for vprof.json; as text; and applied. */
#ifndef VPROF_FLOW_ANSWER_H
#define VPROF_FLOW_ANSWER_H

#include <cjson/cJSON.h>

#include "analysis/flows/flows.h"
#include "annotate/code/discovery.h"
#include "common/text.h"

/* NULL without memory. n_units: compiled for discovery. */
cJSON *vprof_flow_answer_make(struct vprof_discovery *d, const struct vprof_flows *flows, size_t n_units);
/* Adds what the code alone suggests, as "suggestions": those between whose functions the run found no flow. -1 without
 * memory. */
int vprof_flow_answer_suggest(cJSON *answer, struct vprof_discovery *d);
/* A member of the answer or of a part of it: its text, "?" without one; its number, 0 without one. */
const char *vprof_flow_text(const cJSON *object, const char *key);
double vprof_flow_number(const cJSON *object, const char *key);
/* Of one of its flows; VPROF_FLOW_UNDECIDED for what this vprof does not know. */
enum vprof_flow_verdict vprof_flow_verdict_of(const cJSON *flow);

/* Of what was made, or read again. */
void vprof_flow_answer_text(const cJSON *answer, struct vprof_text *out);

/* vprof.json's text with the queues of these flows (numbers as in the text, from 1; n = 0: all that are flows) added
 * where they are not there yet; *n_added entries. INPUT when a number is none of a flow with entries. */
int vprof_flow_answer_apply(const cJSON *answer, const long *numbers, size_t n, const char *config,
			    struct vprof_text *out, size_t *n_added, struct vprof_error *err);

#endif
