/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that end the process or thread instead of returning, though nothing in their declaration says so. */
#ifndef VPROF_NEVER_RETURNS_H
#define VPROF_NEVER_RETURNS_H

#include "common/facts/facts.h"

/* The call with which the function ends, if it never comes back from it: of exit() and the like, or of a function of
 * the project that ends so. NULL: the function returns, or nothing tells. Reads the sources as they are now; what they
 * say counts only where it is plain: no return, and the call is the last statement of the body. O(its file). */
const struct vprof_facts_call *vprof_facts_final_call(const struct vprof_facts *f, uint32_t function);

#endif
