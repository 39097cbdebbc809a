/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where threads of a process wake one another: at some places, such as a queue's condition variable, to hand a request
 * over, at others, such as a lock, for no reason that has to do with it. What tells them apart is what the woken thread
 * does then: replies to its waker's request, or to another.
 *
 * A place is the address of a futex, in one process. Wakes at no known place have one in common.
 */
#ifndef VPROF_REQUESTS_WAKE_PLACES_H
#define VPROF_REQUESTS_WAKE_PLACES_H

#include "analysis/requests/history/socket_history.h"

enum vprof_place_kind {
	VPROF_PLACE_UNTESTED, /* what happens there has been tested too little */
	VPROF_PLACE_QUEUE,    /* requests are handed over: who sleeps there has nothing to do */
	VPROF_PLACE_OTHER,    /* they are not */
};

struct vprof_wake_place {
	uint32_t process, place;
	uint32_t n_tests, n_right;
	uint8_t kind; /* enum vprof_place_kind */
};

struct vprof_wake_places {
	VPROF_ARRAY(struct vprof_wake_place) v;
	uint32_t *of_wake; /* of each of the history's: its place */
};

/* OK or NOMEM; to be released in any case. */
int vprof_wake_places_init(struct vprof_wake_places *p, const struct vprof_socket_history *h);
void vprof_wake_places_release(struct vprof_wake_places *p);

/* A thread replied that had its request by being woken here: as was thought, or to another. */
void vprof_wake_places_test(struct vprof_wake_places *p, uint32_t place, int is_right);
/* Tells the kinds of places by their tests, and forgets these. 1: a kind has changed, so what was concluded from them
 * is to be concluded again. */
int vprof_wake_places_settle(struct vprof_wake_places *p);
/* How often being woken here told the request, 0 to 1. */
double vprof_wake_places_rate(const struct vprof_wake_places *p, uint32_t place);

#endif
