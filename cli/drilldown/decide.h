/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From results to decisions: which factors are up, what breaking one down means, where the drill-down starts.
 * Pure functions of their arguments: no files, no questions. (VProfiler, EuroSys 2017, Algorithm 3.)
 */
#ifndef VPROF_DECIDE_H
#define VPROF_DECIDE_H

#include "analysis/results/results.h"
#include "annotate/check/annotations.h"
#include "cli/drilldown/session.h"
#include "common/facts/facts.h"
#include "common/plan.h"

/* The k causes to decide on, each by one of its factors above the threshold: the first by rank, or the first that can
 * be broken down. A factor judged "inherent" or "ignore", itself or as part of its cause, leaves its place to the next
 * one, and so do one that its measured children stand for, a wait that is made by what is measured beneath it, the
 * scheduler, what may be due to chance and is surely smaller than a cause that is not, and what folds into a cause that
 * was chosen already. Without causes each factor stands for itself, but for a function that was chosen as own or as
 * others' work. Writes at most k indices into results->factors; returns how many. */
size_t vprof_decide_choose(const struct vprof_results *r, const struct vprof_session *s, uint32_t *chosen, size_t k);

/* The factor, among those not `seen`, that holds most variance which nothing measured explains: its own, less that of
 * its measured children and of waits that others' measured work explains; but for what vprof_decide_choose() leaves out
 * as chance. Specificity alone never gets there where the
 * way down is long: small leaves outrank it in every round. At least a tenth of the interval's variance; n_factors when
 * there is none. */
size_t vprof_decide_heaviest_open(const struct vprof_results *r, const struct vprof_session *s, const char *seen);

/* The same at or above the threshold. Only when there is none is nothing left to measure. */
size_t vprof_decide_left_open(const struct vprof_results *r, const struct vprof_session *s, const char *seen);

/* What is decided of a factor: what the developer said of it ("culprit", "inherent", "ignore"; "fixed" and "todo"
 * decide nothing), else what the session holds; but a culprit by rule that sits where it can be broken down is open
 * again.
 */
enum vprof_verdict vprof_decide_verdict(const struct vprof_results *r, const struct vprof_session *s,
					const struct vprof_factor *f);

/* Writes the developer's verdicts and notes, else the session's verdicts, into the results; spent factors without one
 * are "broken down". */
void vprof_decide_verdicts(struct vprof_results *r, const struct vprof_session *s);

/* What would have to be broken down to see inside a factor: a function or pointer site itself; for a wait, a queue or
 * a body the function around it; for a covariance both members. Adds names to `targets`; returns how many were
 * added, or NOMEM. */
int vprof_decide_targets(const struct vprof_results *r, const struct vprof_plan *plan, const struct vprof_factor *f,
			 struct vprof_name_list *targets);

/* What would have to be recorded call by call to tell undivided time apart: the hot functions beside it. Adds names to
 * `functions`; returns how many were added, or NOMEM. */
int vprof_decide_every_call(const struct vprof_results *r, const struct vprof_plan *plan, const struct vprof_factor *f,
			    struct vprof_name_list *functions);

/* A function with a few callees only is a way down rather than a choice: breaks these down together with it, some
 * levels deep, which saves a build and a run for each. Not into headers that more units read: there a build costs more.
 * OK or NOMEM. */
int vprof_decide_look_ahead(struct vprof_session *s, const struct vprof_facts *facts, const char *name,
			    const char *file);

/* Where the drill-down starts, from the baseline's sampled stacks and the annotations' own roots: adds to the session's
 * roots (outermost first) and breaks the innermost enclosing function down. Without usable stacks the functions of the
 * begin, resume and end annotations are the roots; *from_stacks tells which. Narrow ways down from there, and what
 * vprof.json wants measured first, are broken down at once, too. OK or NOMEM. */
int vprof_decide_roots(struct vprof_session *s, const struct vprof_results *baseline, const struct vprof_facts *facts,
		       const struct vprof_annotations *a, int *from_stacks);

/* A wait (for a lock or the like) whose time the measured functions of its wakers explain by less than half. */
int vprof_decide_wants_wakers(const struct vprof_results *r, const struct vprof_factor *f);

/* Was it seen on the stacks of those whom intervals waited for? By the name that facts know it by; without memory 1. */
int vprof_decide_is_waker(const struct vprof_results *r, const char *name);

/* For a wait that somebody ends, explained or not: adds the functions seen on wakers' stacks as roots and breaks the
 * new ones down. Returns how many were added, or NOMEM. What a holder does piece by piece may explain the wait; the
 * function that holds all of it together is the cause. */
int vprof_decide_wakers(struct vprof_session *s, const struct vprof_results *r, const struct vprof_factor *f,
			const struct vprof_facts *facts);

#endif
