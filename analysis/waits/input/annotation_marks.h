/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel cannot see: spin waits, and wake-ups that were false. In a run that recorded both (vprof run
 * --kernel), the probes' records of them change the history of the kernel's events.
 */
#ifndef VPROF_ANNOTATION_MARKS_H
#define VPROF_ANNOTATION_MARKS_H

#include "analysis/waits/input/input.h"

/* The trace is that of which the input was made. Nothing happens when it has no probes' records. OK, INPUT when they
 * are damaged, NOMEM. */
int vprof_waits_input_annotate(struct vprof_waits_input *input, const struct vprof_trace *trace,
			       struct vprof_error *err);

#endif
