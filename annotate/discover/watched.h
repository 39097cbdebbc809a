/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recorded load showed of a program's requests, as discovery sees it. */
#ifndef VPROF_WATCHED_H
#define VPROF_WATCHED_H

#include "annotate/discover/ranking.h"

#define VPROF_WATCHED_MOST 8u
#define VPROF_HOT_MOST 32u

struct vprof_watched {
	/* functions, as the linker names them, of which each may be it, the outermost first; no end: a request is one
	 * call */
	const char *begins[VPROF_WATCHED_MOST], *ends[VPROF_WATCHED_MOST];
	size_t n_begins, n_ends;
	const char *why;	/* with the counts that prove it */
	const char *confidence; /* "high", "medium" or "low" */
	int is_split;	    /* receipt and reply lie in different calls: no function around both can be begin or end */
	int is_left;	    /* the thread works on others in between */
	int begins_at_exit; /* the request begins when the function returns that received it */
	int in_processes;   /* a request is one call, in the only thread of one of several processes */
	int is_rare;	    /* fewer than ten requests showed it */
	int is_guess;	    /* it contradicts nothing: what an item of input is, no event says */
	/* the hot path: functions as the linker names them, callers first; those of others than the project, too */
	const char *hot[VPROF_HOT_MOST];
	size_t n_hot;
	const char *hot_why; /* with what proves it */
};

/* Is a function of this name (as the linker has it) one of the project that can be an interval? Its index + 1, 0: no.
 * Of several of one name the first. */
uint32_t vprof_watched_function(const struct vprof_facts *facts, const char *name);

/* Of the functions that may be it, those with an expression that tells requests apart are taken. Puts what was seen
 * before all that was proposed from the code alone, of which none is then more than low: what was seen contradicts it,
 * or says the same. Where no two of the functions can be begin and end, the draft's `not_watched` says why. */
void vprof_propose_watched(struct vprof_ranking *r, const struct vprof_watched *watched);

/* The functions of the hot path that can be measured become the draft's `first`. */
void vprof_propose_first(struct vprof_discovery *d, const struct vprof_watched *watched);

#endif
