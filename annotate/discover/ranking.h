/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every function's score as the one that handles a request, and the observations that made it. */
#ifndef VPROF_RANKING_H
#define VPROF_RANKING_H

#include "annotate/code/discovery.h"

#define VPROF_EVIDENCE_BYTES 400

struct vprof_interval_proposal;

struct vprof_candidate {
	double score;
	int n_evidence; /* structural observations, names not counted */
	uint32_t end;	/* index + 1 of the function that ends what this one begins; 0: it ends with this one */
	const char *id, *end_id; /* at the two; NULL: as vprof_request_id and _end_id say */
	int is_child;		 /* it runs in a process of its own, which was forked for it */
	int is_left;		 /* this one returns to work on others before `end` is called */
	char why[VPROF_EVIDENCE_BYTES];
};

struct vprof_ranking {
	struct vprof_discovery *d;
	struct vprof_candidate *all; /* [n_functions] */
	uint8_t *chain; /* [n_functions] direct calls from a handler, VPROF_FAR when more than VPROF_DISTANCE_MAX */
};

/* Adds `points` to the score of function `f`, and `what` to its reasons. */
void vprof_ranking_observe(struct vprof_ranking *r, uint32_t f, double points, const char *what);
const char *vprof_ranking_name(const struct vprof_ranking *r, uint32_t f);
/* The expression that identifies the request. *rank: 3 looks like a request, 2 a pointer, 1 a descriptor, 0 none. */
const char *vprof_request_id(struct vprof_discovery *d, const struct vprof_facts_function *f, int *rank);
/* The expression at `end` for what vprof_request_id says at `begin`, or NULL: it is not known there. */
const char *vprof_request_end_id(struct vprof_discovery *d, const struct vprof_facts_function *begin,
				 const struct vprof_facts_function *end);

/* An interval that would end where function `f` returns ends where the one begins with which that ends for good, if the
 * id is known there. */
void vprof_propose_final(struct vprof_discovery *d, uint32_t f, struct vprof_interval_proposal *p);

#endif
