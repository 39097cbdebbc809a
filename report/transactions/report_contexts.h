/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contexts of transactions, for people: the answer in a sentence, the stages that each passed, and its calling
 * context tree. The results have been read or checked. */
#ifndef VPROF_REPORT_CONTEXTS_H
#define VPROF_REPORT_CONTEXTS_H

#include <cjson/cJSON.h>

#include "report/report.h"

/* No interval has a context of which anything is known. */
int vprof_contexts_is_empty(const struct vprof_results *r);

/* Appends the report; o->top: contexts to show. `wanted`: a context's name or number, counted from 1: that one alone,
 * with more of its tree; NULL: all. MISSING: there is no such context. */
int vprof_report_contexts(const struct vprof_results *r, const char *wanted, const struct vprof_report_options *o,
			  struct vprof_text *out, struct vprof_error *err);

/* `interval`, `run`, `n_runs`, `n_complete`, `n_not_drawn`, `warnings` and `contexts` as results.json has them; NULL
 * without memory. The caller deletes it. */
cJSON *vprof_contexts_json(const struct vprof_results *r);

#endif
