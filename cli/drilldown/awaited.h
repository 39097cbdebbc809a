/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a wait is for, as the source has it: the first argument of the call that waits. */
#ifndef VPROF_AWAITED_H
#define VPROF_AWAITED_H

#include <stddef.h>

#include "analysis/results/results.h"

#define VPROF_AWAITED_BYTES 64

/* The first argument of `callee` in `text`, a few lines of C, without "&" and blanks around: "store_lock" of
 * "pthread_mutex_lock(&store_lock)". `out` is "" when the call is not there, or the argument is none, is not plain text
 * or has VPROF_AWAITED_BYTES or more. */
void vprof_awaited_of(const char *text, const char *callee, char out[VPROF_AWAITED_BYTES]);

/* Fills `awaited` of all waits of causes, knots and crosstalk whose call is known, from the sources below `root` as
 * they are now; what cannot be read is left as it was. OK or NOMEM. */
int vprof_awaited_fill(struct vprof_results *r, const char *root);

#endif
