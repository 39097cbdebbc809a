/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the threads of each program keep to the patterns by which calls are linked to requests, by what they were
 * seen doing: the confidence of links.
 *
 * Counts are kept for each program (the processes of one name on one host), since processes that are forked for a
 * connection live too short to tell.
 */
#ifndef VPROF_REQUESTS_AGREEMENT_H
#define VPROF_REQUESTS_AGREEMENT_H

#include "analysis/requests/exchanges/exchanges.h"

enum vprof_forward {			     /* what tells for which request a thread works, before it replies */
		     VPROF_FORWARD_RECEIVED, /* it received the request, or a reply to a call that was made for it */
		     VPROF_FORWARD_WOKEN,    /* it was woken by a thread that worked for the request */
		     VPROF_FORWARD_CREATED,  /* ... or made by one */
		     VPROF_FORWARD_QUEUED,   /* it took from a queue what one put there */
		     VPROF_FORWARD_KEPT,     /* one of these, but it woke another thread since, and may have passed the
						request on */
		     VPROF_FORWARDS
};

struct vprof_agreement_program {
	/* replies whose thread's request was known before, by how; and those that were to that request */
	uint64_t n_replies[VPROF_FORWARDS], n_agree[VPROF_FORWARDS];
	/* see vprof_agreement_both(): by how what it received last is known */
	uint64_t n_both[VPROF_FORWARDS], n_both_agree[VPROF_FORWARDS];
	uint64_t n_next, n_next_fits;		 /* see vprof_agreement_next() */
	uint64_t n_passed;			 /* see vprof_agreement_passed() */
	uint64_t n_handed[2], n_handed_agree[2]; /* see vprof_agreement_handed() */
	uint64_t n_taken, n_taken_in_order;	 /* see vprof_agreement_taken() */
	int has_takers_wakes;			 /* its threads that take requests wake one another */
};

struct vprof_agreement_thread {
	uint32_t program, process;
	uint32_t n_pending;		/* calls to which no reply has begun */
	uint64_t n_busy, n_interleaved; /* requests taken and replies sent; those while a call was pending */
	uint64_t n_replies;		/* of which its request was thought to be known, or not */
	int is_taker;			/* replies to requests that others received, and receives none itself */
	uint64_t n_alone, n_idle;	/* calls while its process served one request; no request */
};

struct vprof_agreement {
	struct vprof_agreement_program *programs;
	struct vprof_agreement_thread *threads; /* of the history's */
	unsigned char *serves;			/* processes: have received a request */
};

/* What is to be counted anew. */
void vprof_agreement_forget(struct vprof_agreement *a, size_t n_processes, size_t n_threads);
/* OK or NOMEM; to be released in any case. */
int vprof_agreement_init(struct vprof_agreement *a, const struct vprof_socket_history *h,
			 const struct vprof_exchanges *x);
void vprof_agreement_release(struct vprof_agreement *a);

/* A thread makes a call, which is replied to or not, while its process serves n_open requests. */
void vprof_agreement_call(struct vprof_agreement *a, uint32_t thread, uint32_t n_open, int has_reply);
/* It receives of a reply to a call, the first part or another. */
void vprof_agreement_returned(struct vprof_agreement *a, uint32_t thread, int is_first);
/* It takes a request, or replies to one. */
void vprof_agreement_busy(struct vprof_agreement *a, uint32_t thread, int is_reply);
/* It replies, and its request was thought to be known. */
void vprof_agreement_reply(struct vprof_agreement *a, uint32_t thread, enum vprof_forward how, int agrees);
/* What it received last and to whom it replies next are known of one of its calls. */
void vprof_agreement_both(struct vprof_agreement *a, uint32_t thread, enum vprof_forward how, int agrees);

/* To which request it replies next is known: one that its process served when it called, or not. Telling are calls
 * while one request was served, and those that do not fit at any time: with several, another request fits by chance. */
void vprof_agreement_next(struct vprof_agreement *a, uint32_t thread, uint32_t n_open, int fits);

/* Of a call whose thread replies next, it passed the request on before: the next reply tells nothing. */
void vprof_agreement_passed(struct vprof_agreement *a, uint32_t thread);
/* Do threads of its program keep a request until they reply to it, as far as was seen? */
int vprof_agreement_keeps(const struct vprof_agreement *a, uint32_t thread);

/* What became of the request that its thread passed on is known of a call, by a wake-up or by an item in a queue, and
 * so is what its thread received last, or by whom it was woken. */
void vprof_agreement_handed(struct vprof_agreement *a, uint32_t thread, int by_item, int agrees);

/* If each thread that replies to requests which another received keeps its request until then, it has taken it after
 * its previous reply, and before the first call that it makes for it: of neighbours in order of receipt, is the first
 * one taken first? first_call: of each exchange that is a visit, of the calls after which its thread replied to it; or
 * the largest number. OK or NOMEM. O(n log n). */
int vprof_agreement_taken(struct vprof_agreement *a, const struct vprof_socket_history *h,
			  const struct vprof_exchanges *x, const uint64_t *first_call);

/* Once all is told: does a thread wait for the reply to each call before it does anything for others? */
int vprof_agreement_is_synchronous(const struct vprof_agreement *a, uint32_t thread);
/* Does it reply to requests itself? */
int vprof_agreement_replies(const struct vprof_agreement *a, uint32_t thread);
int vprof_agreement_serves(const struct vprof_agreement *a, uint32_t thread); /* its process */
/* How often a rule is right that was right n_right times of n: never wrong so far, the mean with what was believed
 * before; else the lower end of Wilson's interval (95 %, one-sided), since those rules are used that seem good. */
double vprof_rate_told(uint64_t n_right, uint64_t n, double prior_right, double prior_seen);
/* ... where nothing tests it: what fails where it can be tested is taken to fail more often there. */
double vprof_rate_untested(double rate);
/* Confidence of links that stand on one observation, from 0 to 1. */
double vprof_agreement_forward(const struct vprof_agreement *a, uint32_t thread, enum vprof_forward how);
double vprof_agreement_backward(const struct vprof_agreement *a, uint32_t thread);
/* That a thread keeps a request which it, or another one, received until it replies to it, as far as the order tells in
 * which requests are taken. Threads of a pool that pass requests on to one another wake one another when they are idle.
 */
double vprof_agreement_taking(const struct vprof_agreement *a, uint32_t thread, uint32_t receiver);
double vprof_agreement_handed_rate(const struct vprof_agreement *a, uint32_t thread, int by_item);
double vprof_agreement_only(const struct vprof_agreement *a, uint32_t thread);

#endif
