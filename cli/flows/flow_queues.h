/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A flow as two entries of vprof.json's "queues": which function's call hands the item over, which one's takes it, and
 * by which expression the item is known there. */
#ifndef VPROF_FLOW_QUEUES_H
#define VPROF_FLOW_QUEUES_H

#include "analysis/flows/flows.h"
#include "annotate/code/discovery.h"

struct vprof_flow_queue {
	const char *enqueue, *enqueue_item, *dequeue, *dequeue_item; /* as vprof.json has them; NULL: see `open` */
	int dequeue_at_exit;
	const char *open; /* why there is no such entry, and what to do; NULL: there is one */
};

/* Texts belong to the arena of `d`. */
struct vprof_flow_queue vprof_flow_queue_of(struct vprof_discovery *d, const struct vprof_flow *flow);

/* The functions that may handle its events: the one that uses what was registered first, or, where that calls through a
 * pointer, those of the pointer's type; each with the parameter that tells what it works on. Their number, at most
 * VPROF_FLOW_HANDLERS_MAX. */
#define VPROF_FLOW_HANDLERS_MAX 16
struct vprof_flow_handler {
	const char *function, *item;
};
size_t vprof_flow_handlers_of(struct vprof_discovery *d, const struct vprof_flow *flow,
			      struct vprof_flow_handler *handlers);

/* The function of the project that the place means; NULL: none. */
const struct vprof_facts_function *vprof_flow_function_of(struct vprof_discovery *d,
							  const struct vprof_flow_function *f);
/* What a handler is called with: the first pointer that it is given; NULL: it is given none. */
const struct vprof_parameter *vprof_flow_handled(struct vprof_discovery *d, const struct vprof_facts_function *f);

#endif
