/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be handed over although no run can see it: numbers, texts that only libc reads, and members that are copied
 * out while the lock is held. Read from the code alone, so nothing of it is confirmed and nothing is applied.
 *
 * One function stores a parameter under a lock, another one reads it under a lock and takes it out of there. Under a
 * lock is also who is called under one. */
#ifndef VPROF_FLOW_SUGGEST_H
#define VPROF_FLOW_SUGGEST_H

#include "annotate/code/discovery.h"

struct vprof_flow_suggestion {
	const struct vprof_facts_function *from, *to;
	const char *object; /* a variable, or structure.member; the first of those between the same functions */
	const char *type;   /* number, text, or member: one that was copied out of what a pointer leads to */
	const char *item;   /* the parameter that is stored */
	const char *taken;  /* how it leaves the lock: return, param:NAME, after:VARIABLE */
	int from_line, to_line, n_objects;
	int is_waited_for; /* one of the functions wakes or waits */
};

struct vprof_flow_suggestions {
	struct vprof_flow_suggestion *list; /* those with threads that wait first; in the arena of the discovery */
	size_t n;
};

/* -1 without memory. O(functions + guarded rows * log). */
int vprof_flow_suggest(struct vprof_flow_suggestions *out, struct vprof_discovery *d);

#endif
