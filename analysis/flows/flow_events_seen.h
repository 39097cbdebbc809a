/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of a discovery run: what was registered, for which descriptor, what it leads to, and the functions in
 * which it was handled. */
#ifndef VPROF_FLOW_EVENTS_SEEN_H
#define VPROF_FLOW_EVENTS_SEEN_H

#include "analysis/flows/flow_places.h"

#define VPROF_FLOW_EVENT_LINKS (VPROF_FLOW_SPAN / 8)

/* From the function that waits for events, which is left out, to the one that received or sent. */
struct vprof_flow_path {
	uint64_t key;
	struct vprof_flow_function functions[VPROF_FLOW_DEPTH]; /* outermost first */
	size_t n;
};

struct vprof_flow_event_seen {
	uint64_t section, value;
	uint32_t process;
	int fd;					/* -1: not known */
	uint64_t links[VPROF_FLOW_EVENT_LINKS]; /* pointers that were read at offset 8 * i; 0: none, or to a function */
	const char *handler;			/* the first function that was read there; NULL: none */
	unsigned library;			/* VPROF_FLOW_LIBEVENT or the like, which was told the handler */
	const struct vprof_flow_record *head;
	const struct vprof_flow_path *path; /* of the first transfer while it was in hand; NULL: there was none */
	int is_request, is_between;
};

struct vprof_flow_events {
	const struct vprof_flow_trace *t;
	const struct vprof_flow_places *places;
	VPROF_ARRAY(struct vprof_flow_event_seen) list; /* by section */
	VPROF_ARRAY(struct vprof_flow_path *) paths;
	struct vprof_hash_index path_index;
	int failed;
};

/* 0, or -1 without memory. Release it also then. */
int vprof_flow_events_read(struct vprof_flow_events *e, const struct vprof_flow_trace *t,
			   const struct vprof_flow_places *places);
void vprof_flow_events_release(struct vprof_flow_events *e);
/* NULL: no event has this number. O(log n). */
struct vprof_flow_event_seen *vprof_flow_event_find(const struct vprof_flow_events *e, uint64_t section);
/* NULL: neither the loop nor the handler that a library was told is on its stack. */
const struct vprof_flow_path *vprof_flow_path_of(struct vprof_flow_events *e, const struct vprof_flow_event_seen *event,
						 const struct vprof_flow_mark *transfer);

#endif
