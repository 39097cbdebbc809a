/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between which functions of a program the time of a request lies, by what a recorded load shows: where on the stack it
 * was when each request was received and its reply sent.
 *
 * Of a connection, a request is what was received since the last reply, and its reply what was sent before the next
 * request. If one call was on the stack from the receipt to the reply, but neither when the thread received the next
 * request (if there is none: the one before, or if there is none either, when it began) nor when it waited for this
 * one, it is the request. Otherwise the request begins with a call around the receipt that encloses no other one, and
 * ends with one around the reply that encloses no other reply; in between the thread works on others. The answer are
 * the functions of which that is so in nine of ten requests. Where threads sleep in the receipt, the request begins
 * when the function that received it returns: the time before is the client's.
 *
 * A program without connections to serve may have items of input instead (item_evidence.h).
 */
#ifndef VPROF_REQUEST_EVIDENCE_H
#define VPROF_REQUEST_EVIDENCE_H

#include "analysis/latency/annotated_tree.h"
#include "analysis/latency/history/transfer.h"

#define VPROF_EVIDENCE_MOST 8u

enum vprof_evidence_kind {
	VPROF_EVIDENCE_NONE,  /* neither requests nor items were seen */
	VPROF_EVIDENCE_CALL,  /* a request is a call of `begin` */
	VPROF_EVIDENCE_SPLIT, /* it begins with a call of `begin` and ends with one of `end` */
	VPROF_EVIDENCE_ITEMS  /* an item of input is a call of `begin` */
};

enum vprof_evidence_confidence { VPROF_EVIDENCE_LOW, VPROF_EVIDENCE_MEDIUM, VPROF_EVIDENCE_HIGH };

struct vprof_request_evidence {
	enum vprof_evidence_kind kind;
	enum vprof_evidence_confidence confidence;
	/* functions of the history that are so in as many requests, the outermost first; of CALL and ITEMS `ends` is
	 * empty */
	uint32_t begins[VPROF_EVIDENCE_MOST], ends[VPROF_EVIDENCE_MOST];
	uint32_t n_begins, n_ends;
	int waits; /* CALL, SPLIT: the thread mostly slept in the receipt, so the request begins where `begins` end */
	int has_processes;   /* several receive them, in one thread each */
	int is_in_call;	     /* split, but begun and ended in one call, the end's */
	int is_left;	     /* the thread received other requests between a receipt and its reply */
	uint64_t n_requests; /* with a reply, of which both places are known, and others or the thread's begin; or items
			      */
	uint64_t n_agreeing; /* ... that lie so */
	uint64_t n_transfers; /* by threads of the project */
	uint64_t n_unplaced;  /* requests of which a place is not known */
	double share;	      /* ITEMS: of the time of its threads */
	uint32_t n_opened;    /* ITEMS: files that each of n_agreeing calls opened; n_agreeing 0: nothing proves it */
	uint64_t n_outside;   /* ITEMS: files opened between two calls */
};

/* what a function of the history is */
enum vprof_evidence_function {
	VPROF_EVIDENCE_FOREIGN,	  /* a library's or another program's */
	VPROF_EVIDENCE_CANDIDATE, /* it may be an interval */
	VPROF_EVIDENCE_OWN	  /* the project's, but no interval: main */
};

/* is_project[functions of the history]: enum vprof_evidence_function. Requests that threads receive that never are in
 * one of the project are none. transfers: by t. NOMEM. O(events * depth). */
int vprof_request_evidence_find(struct vprof_request_evidence *out, const struct vprof_annotated_tree *t,
				const struct vprof_transfer *transfers, size_t n_transfers,
				const unsigned char *is_project);

#endif
