/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where in the sources an access lies: the functions from the one whose critical section it is down to the one that
 * makes the access, those that the compiler inlined included.
 *
 * The section's function is the innermost one in which both the acquisition and the release lie: `queue_push`, not the
 * wrapper that locks, nor the container's method that stores.
 */
#ifndef VPROF_FLOW_PLACE_H
#define VPROF_FLOW_PLACE_H

#include <stddef.h>

#define VPROF_FLOW_DEPTH 16

struct vprof_flow_function {
	const char *name; /* as struct vprof_symbol has it */
	const char *file; /* as the compiler was given it; NULL: not known */
	int line;	  /* of the access, or of the call of the next one; 0: not known */
};

struct vprof_flow_place {
	struct vprof_flow_function functions[VPROF_FLOW_DEPTH]; /* outermost first: the section's function */
	size_t n;						/* 0: no symbols */
};

#endif
