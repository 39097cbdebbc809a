/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording windows of a trace (trace/windows.h): intervals that begin outside of them may lack calls. Without any,
 * the trace is one window. */
#ifndef VPROF_WINDOW_LIST_H
#define VPROF_WINDOW_LIST_H

#include "common/array.h"
#include "trace/reader.h"

struct vprof_window {
	uint64_t t0, t1; /* intervals that begin at t0 or later, and before t1 */
};

struct vprof_window_list {
	VPROF_ARRAY(struct vprof_window) windows; /* in the order of time; none overlaps another */
};

int vprof_window_list_read(struct vprof_window_list *list, const struct vprof_trace *trace);
void vprof_window_list_release(struct vprof_window_list *list);
int vprof_window_list_contains(const struct vprof_window_list *list, uint64_t t);

#endif
