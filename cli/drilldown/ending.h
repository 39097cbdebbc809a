/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a live round may end; why a drill-down is over, and what it leaves open.
 *
 * A round of --auto that leads further, and is not the last that --max allows, ends at the first look at which
 *
 * - the first choice that will be broken down was the first at another look, too, and
 * - the results are conclusive, or it was the first at two others.
 *
 * All it has to tell is where to go on: what else is chosen there is measured again by the next round, which has it
 * beside what is new. If two choices are about equal, either may come first, and the other one comes next.
 *
 * The first round, of annotations only, ends at its first conclusive look: it has only to sample stacks.
 *
 * Any other round is told. It ends at the first look at which
 *
 * - the results are conclusive,
 * - the order of the selected factors is settled (kept in 95 % of the bootstrap's replicates), and
 * - the choice is that of the look before;
 *
 * or when the choice was the same at three looks in succession, though the order within it is not settled. A wrong
 * choice has to be made at two looks, of which the second has as much time again, and at each with at most 5 % by the
 * bootstrap; with the five looks of a minute that is at most 4 x 5 %, and far less where data that are new are
 * independent of those before. */
#ifndef VPROF_ENDING_H
#define VPROF_ENDING_H

#include "analysis/results/results.h"
#include "cli/drilldown/ask.h"
#include "cli/drilldown/session.h"
#include "common/hash/string_set.h"

/* At the looks of one round; zeroed before the first, but for is_told. */
struct vprof_looks {
	int is_told;  /* a person reads it, or it is the last one: it is to end as one that leads no further */
	char *choice; /* of the last look, NULL: none */
	int n_same;   /* looks in succession with that choice */
	struct vprof_strings ways; /* what came first at any look, */
	VPROF_ARRAY(int) n_first;  /* [ways] and at how many */
	int *last;		   /* of n_first: of the last look; NULL: none */
	double next_s;		   /* when the next one is due, in seconds recorded under the plan */
	double records;		   /* of an interval on average, 0: not known yet */
};

/* *is_enough: the round may end with what the look found. OK or NOMEM. */
int vprof_looks_judge(struct vprof_looks *looks, const struct vprof_ask *ask, int *is_enough);
/* Before the last look is judged again, by another analysis: it counts once. */
void vprof_looks_take_back(struct vprof_looks *looks);
void vprof_looks_release(struct vprof_looks *looks);

/* How a drill-down ends whose next round would measure nothing new. ALL_MEASURED only when no factor above the
 * threshold could be broken down; NONE without memory. */
enum vprof_ending vprof_ending_of(const struct vprof_results *r, const struct vprof_session *s);

/* The ending in words, with the factors that could still be broken down and the command that goes on; heap text, ""
 * while the drill-down goes on. `r` NULL: the ending alone. NULL without memory. */
char *vprof_ending_tell(const struct vprof_results *r, const struct vprof_session *s);

#endif
