/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A wait history from what the probes and wrappers of an instrumented program recorded: waits that go through libc, the
 * wake edges that were matched, annotated spin waits and false wake-ups, and the context switches if there are any.
 *
 * What it lacks, compared with the kernel's events: threads that are not instrumented, waits inside system calls that
 * are not wrapped, devices by name. All file I/O counts as one disk, which is busy while anybody waits for it.
 */
#ifndef VPROF_TIMELINE_HISTORY_H
#define VPROF_TIMELINE_HISTORY_H

#include "analysis/timeline/timeline.h"
#include "analysis/waits/input/input.h"

/* The timeline's waits must be matched (vprof_wakes_match()). OK, INPUT when it has no threads, NOMEM; the input is to
 * be released in any case. O(n) for n waits and switches. */
int vprof_waits_input_timeline(struct vprof_waits_input *input, const struct vprof_timeline *timeline,
			       struct vprof_error *err);

#endif
