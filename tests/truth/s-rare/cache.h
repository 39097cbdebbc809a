/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (s) The cause is a rare slow call of a hot function: too rare to be among the calls that are timed. TRUTH_RARE says
 * where it is and how rare, "WHERE-ONE_IN": "callee-10000". */
#ifndef CACHE_H
#define CACHE_H

#include "plant.h"

#define N_LOOKUPS 200 /* a request's */

enum { REQUEST, READ_QUERY, SEARCH, LOOKUP, REFILL, COMPARE, WRITE_REPLY, N_FACTORS };

enum place {
	INLINE,	   /* lookup itself */
	CALLEE,	   /* refill, which lookup calls then only */
	SEVERAL,   /* lookup or compare, hot functions both */
	START,	   /* the calls of lookup right after the first of a request, all of which are recorded */
	END,	   /* the last calls of a request */
	RECURSION, /* lookup, which calls itself for a chain of entries */
	N_PLACES
};

struct request {
	uint64_t id;
	uint32_t ns[N_FACTORS]; /* how long the others shall take */
	uint32_t slow_at;	/* this call of lookup is slow, or of compare when slow_compare; N_LOOKUPS: none */
	uint32_t slow_ns;
	int slow_compare;
	uint32_t n_calls;	/* of lookup so far */
	struct plant_time slow; /* the planted delay in the call under way */
	struct plant_time took[N_FACTORS];
	uint64_t callers[N_FACTORS]; /* ticks of it that may count as its caller's */
};

extern enum place place;

void serve(struct request *q);

#endif
