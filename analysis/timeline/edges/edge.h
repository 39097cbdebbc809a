/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One edge by which an instance of an interval came to a thread (edges.h). */
#ifndef VPROF_EDGE_H
#define VPROF_EDGE_H

#include "common/array.h"

enum vprof_edge_kind {
	VPROF_EDGE_NONE,	 /* nothing was recorded that explains it */
	VPROF_EDGE_CREATION,	 /* an item or message that the thread dequeued */
	VPROF_EDGE_HANDOVER,	 /* a wake-up by a thread that worked for the instance */
	VPROF_EDGE_CONTINUATION, /* the instance's previous segment */
};

/* where an instance came from */
struct vprof_edge {
	uint64_t t;	  /* ticks: of the enqueue, of the wake-up, of the end of the previous segment */
	uint32_t thread;  /* that the edge comes from */
	uint32_t segment; /* of that thread at t, labelled with the instance; VPROF_NONE: it worked for none, or another
			   */
	uint8_t kind;	  /* enum vprof_edge_kind; NONE: the other members say nothing */
};

static const struct vprof_edge vprof_no_edge = { 0, 0, VPROF_NONE, VPROF_EDGE_NONE };

#endif
