/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waited for whom, for people: the answer in a sentence, a matrix of types, then pair by pair the locks and what
 * the holders ran. The results have been read or checked. */
#ifndef VPROF_REPORT_CROSSTALK_H
#define VPROF_REPORT_CROSSTALK_H

#include <cjson/cJSON.h>

#include "report/report.h"

/* No interval waited for anybody known. */
int vprof_crosstalk_is_empty(const struct vprof_results *r);

/* Appends the report; o->top: pairs to show. */
void vprof_report_crosstalk(const struct vprof_results *r, const struct vprof_report_options *o,
			    struct vprof_text *out);

/* The members of results.json with these names (NULL at the end); NULL without memory. The caller deletes it. */
cJSON *vprof_results_json_part(const struct vprof_results *r, const char *const *keys);

/* `interval`, `run`, `n_runs`, `n_complete`, `n_not_drawn`, `parties` and `crosstalk` as results.json has them; NULL
 * without memory. The caller deletes it. */
cJSON *vprof_crosstalk_json(const struct vprof_results *r);

#endif
