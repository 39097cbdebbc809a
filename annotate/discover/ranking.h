/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every function's score as the one that handles a request, and the observations that made it. */
#ifndef VPROF_RANKING_H
#define VPROF_RANKING_H

#include "annotate/discover/discovery.h"

#define EVIDENCE_BYTES 400

struct candidate {
	double score;
	int n_evidence; /* structural observations, names not counted */
	uint32_t end;	/* index + 1 of the function that ends what this one begins; 0: it ends with this one */
	const char *id, *end_id; /* at the two; NULL: as id_of and end_id_of say */
	int is_left;		 /* this one returns to work on others before `end` is called */
	char why[EVIDENCE_BYTES];
};

struct ranking {
	struct discovery *d;
	struct candidate *all; /* [n_functions] */
	uint8_t *chain;	       /* [n_functions] direct calls from a handler, FAR when more than DISTANCE_MAX */
};

/* discover_intervals.c: adds `points` to the score of `f`, and `what` to its reasons. */
void observe(struct ranking *r, uint32_t f, double points, const char *what);
uint32_t caller_of(struct ranking *r, const struct vprof_facts_call *call); /* index; UINT32_MAX: none */
const char *name_of(struct ranking *r, uint32_t f);
/* The expression that identifies the request. *rank: 3 looks like a request, 2 a pointer, 1 a descriptor, 0 none. */
const char *id_of(struct discovery *d, const struct vprof_facts_function *f, int *rank);
/* The expression at `end` for what id_of says at `begin`, or NULL: it is not known there. */
const char *end_id_of(struct discovery *d, const struct vprof_facts_function *begin,
		      const struct vprof_facts_function *end);
/* discover_units.c */
int good_words_in(const char *name); /* 0 to 2 */
void observe_units(struct ranking *r);
void observe_turns(struct ranking *r);
void observe_names(struct ranking *r);

/* discover_replies.c */
void observe_replies(struct ranking *r);

#endif
