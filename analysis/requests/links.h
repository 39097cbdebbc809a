/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links: which visit a call was made for, how that was found (causality.h), and how sure it is.
 *
 * A program's own replies say how good an observation is: the score, which is low where they say little (agreement.h).
 * How often links with a score are right depends on the kind of observation, and was counted where the truth is known:
 * servers simulated with other seeds than those of the test (tests/paths/test_calibration.c; `test_calibration --count`
 * counts anew). That is the confidence.
 */
#ifndef VPROF_REQUESTS_LINKS_H
#define VPROF_REQUESTS_LINKS_H

#include <stdint.h>

/* RECEIVED to KEPT are in the order of enum vprof_forward. */
enum vprof_link_how {
	VPROF_LINK_NONE,      /* it is no call: its client was not recorded, or it has no request */
	VPROF_LINK_ORIGIN,    /* a call by a program that serves nobody: a request begins here */
	VPROF_LINK_OUTSIDE,   /* a server's call while it served no request */
	VPROF_LINK_THREAD,    /* forward and backward agree */
	VPROF_LINK_REPLY,     /* backward alone */
	VPROF_LINK_RECEIVED,  /* forward alone: by what its thread received last */
	VPROF_LINK_WOKEN,     /* forward alone: by who woke its thread */
	VPROF_LINK_CREATED,   /* forward alone: by who made its thread */
	VPROF_LINK_QUEUED,    /* forward alone: by what its thread took from a queue that the program names */
	VPROF_LINK_KEPT,      /* forward alone, although the thread had woken another one since */
	VPROF_LINK_HANDED,    /* by what became of the request: its thread passed it on to one that replied to it */
	VPROF_LINK_MARKED,    /* the program says for which request its thread worked */
	VPROF_LINK_MATCHED,   /* by what its thread received and sent in turn (batches.h) */
	VPROF_LINK_LENGTH,    /* ... and by the lengths of the messages (message_lengths.h) */
	VPROF_LINK_ORDER,     /* ... and since it makes calls in the order of requests */
	VPROF_LINK_ONLY,      /* its process served no other request at that time */
	VPROF_LINK_AMBIGUOUS, /* none of these, or they contradict each other */
	VPROF_LINK_HOWS
};

struct vprof_link {
	uint32_t parent;    /* exchange that is the visit for which the call was made; VPROF_NONE: none, or not known */
	uint32_t likeliest; /* ... also where too little is known to say so */
	uint32_t n_open;    /* requests that the process served then */
	uint8_t how;	    /* enum vprof_link_how */
	uint8_t by;	    /* ... by which the likeliest one was found */
	uint8_t is_tainted; /* as a visit: calls that may have been made for it are ambiguous */
	uint8_t waits;	    /* its thread does nothing for other requests before the reply is there */
	float confidence;   /* that `parent` is right */
	float completeness; /* as a visit: that no call was made for it which is linked to another, at a lower
			       confidence than certainty */
	float score;	    /* what its confidence stands on: what its program's own replies say */
};

#define VPROF_LINK_MIN_CONFIDENCE 0.8f /* below, a link is ambiguous */
#define VPROF_LINK_CERTAIN 0.99f       /* from here on, it is called certain */
#define VPROF_LINK_MANY_OPEN 12	       /* n_open: from here on, scores that are not high say less */

/* Of a link of which n_open and `waits` are known. The score is 0 to 1, and so is the confidence that follows: what
 * scores VPROF_LINK_CERTAIN or more is told as it scores; no other link is told to be that sure. */
void vprof_link_decide(struct vprof_link *link, uint32_t parent, enum vprof_link_how how, double score);

#endif
