/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reasons of all waits, before their weights are known: each wait's segment gets the number of its reason. */
#ifndef VPROF_WAITS_REASONS_H
#define VPROF_WAITS_REASONS_H

#include "analysis/waits/history/history.h"

/* All waits of one thread for one entity that began and ended at the same places of the code. */
struct vprof_waits_reason {
	uint32_t from, to; /* entities */
	uint32_t wait_stack, waker_stack;
	uint64_t n_waits;
	uint64_t own_ns;    /* length of these waits */
	uint64_t weight_ns; /* the same, cascaded: at least own_ns */
};

struct vprof_waits_reasons {
	VPROF_ARRAY(struct vprof_waits_reason) v; /* by from, to, wait_stack, waker_stack */
	/* waits whose waker was itself waiting for them: such a wait's weight goes to its own edge, no further */
	uint64_t n_circular;
};

/* Fills out->v with n_waits and own_ns, and `reason` of every blocked segment whose waker is known (VPROF_NONE of all
 * others). OK or NOMEM. O(segments), and O(r log r) for r reasons. */
int vprof_waits_reasons_number(struct vprof_waits_reasons *out, struct vprof_waits_history *history, int n_threads);
void vprof_waits_reasons_release(struct vprof_waits_reasons *reasons);

#endif
