/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All verdicts in one list: those of a person (vprof review, answers in vprof iterate), then those that the drill-down
 * gave by rule to causes and factors of which no person said anything. */
#ifndef VPROF_VERDICT_LIST_H
#define VPROF_VERDICT_LIST_H

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"

struct vprof_listed_verdict {
	const struct vprof_review *review; /* NULL: by rule */
	const char *interval, *key, *name, *note, *run;
	enum vprof_verdict verdict;
};

struct vprof_verdict_list {
	struct vprof_listed_verdict *items; /* strings are borrowed from the session and the results */
	size_t n;
};

/* `r`: the last results, with the session's verdicts filled in, in which verdicts by rule are looked up; NULL: there
 * are none, and they are known by their keys only. OK or NOMEM. To be released in both cases. */
int vprof_verdict_list_make(struct vprof_verdict_list *list, const struct vprof_session *s,
			    const struct vprof_results *r);
void vprof_verdict_list_release(struct vprof_verdict_list *list);

/* As JSON: what verdicts.json holds, and "by" whom, "person" or "rule". Heap text, NULL without memory. */
char *vprof_verdict_list_json(const struct vprof_verdict_list *list, const struct vprof_session *s);

#endif
