/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a project's runs may go.
 *
 * Invariants: the last run stays, unless it is named. Of a round of the drill-down and of a run by which a verdict was
 * given the results stay in any case: only traces go. Traces of a run that has no results are all that it has: they go
 * with the run only. */
#ifndef VPROF_CLEAN_H
#define VPROF_CLEAN_H

#include "cli/standing/run_list.h"

struct vprof_clean_request {
	char **runs; /* [n_runs] named, NULL: chosen by the rest */
	size_t n_runs;
	double older_than_ns; /* 0: any age */
	uint64_t down_to;     /* bytes that all runs may have afterwards: oldest first, until they do */
	int traces_only;      /* of all runs that may lose them, unless there is another condition */
	int64_t now_s;	      /* CLOCK_REALTIME */
};

enum vprof_clean_what { VPROF_CLEAN_NOTHING, VPROF_CLEAN_TRACES, VPROF_CLEAN_ALL };

struct vprof_clean_choice {
	enum vprof_clean_what what;
	uint64_t bytes;	 /* that become free */
	const char *why; /* it, or its results, stay; "" */
};

/* choices: [list->n], to be freed. INPUT for a name that is none or of no run; NOMEM. */
int vprof_clean_choose(const struct vprof_run_list *list, const struct vprof_clean_request *request,
		       struct vprof_clean_choice **choices, struct vprof_error *err);

/* Removes what was chosen of one run. */
int vprof_clean_remove(const struct vprof_project *p, const struct vprof_run_entry *run, enum vprof_clean_what what,
		       struct vprof_error *err);

#endif
