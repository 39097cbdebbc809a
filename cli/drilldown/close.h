/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the next round need not record: functions and call sites that slow the program and cannot matter
 * (docs/design/statistics.md, "Closing what cannot matter").
 *
 * Invariant: what is closed stays closed, whatever is broken down later, until a person asks for it (--keep-open, vprof
 * top) or it becomes a root. Roots are closed as other functions are: one that encloses the interval has a bound of all
 * of it.
 */
#ifndef VPROF_CLOSE_H
#define VPROF_CLOSE_H

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"
#include "common/plan.h"

#define VPROF_CLOSE_TESTS 4 /* in a live round, those at its end among them */

struct vprof_close_choice {
	size_t n_closed;   /* the last ones of the session's `closed` */
	size_t n_narrowed; /* roots that are measured from now on only where what calls them is broken down */
	double expected;   /* by how much the next round will be slowed; the results' effect where nothing changes */
};

/* While recording is expected to slow the intervals by the session's `effect` or more: closes, in the session, the
 * functions and call sites whose records cost most and whose bound is below the session's threshold; those whose cost
 * would not be noticed stay. The bound is that of all that one of them could explain: its own work and that beneath
 * waits, wherever it is called, and what is undivided beside it; with the errors of sampling and of what records cost
 * (code_share in results.h).
 * What the session wants to know more of is not closed. Before that, roots that cost much and are not needed as such
 * are roots no more. OK or NOMEM. */
int vprof_close_choose(const struct vprof_results *r, const struct vprof_plan *plan, struct vprof_session *s,
		       struct vprof_close_choice *choice);

/* What was chosen, and what it will save, on stderr; `effect`: by how much intervals are slowed as it is. */
void vprof_close_tell(const struct vprof_session *s, const struct vprof_close_choice *choice, double effect);

/* From now on nothing of this name ("name", "name@file") is closed; opens what was. Returns how many, or NOMEM. */
int vprof_close_keep_open(struct vprof_session *s, const char *name);

/* Closes one function or call site because a person wants it, whatever it could explain; `r` (NULL: nothing was looked
 * at yet) tells at most how much that is. OK or NOMEM. */
int vprof_close_one(const struct vprof_results *r, const struct vprof_plan *plan, struct vprof_session *s,
		    const struct vprof_probe *probe);

#endif
