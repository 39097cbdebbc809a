/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the threads of annotated programs say they work for, as spans and items of a socket history. */
#ifndef VPROF_MARKS_INPUT_H
#define VPROF_MARKS_INPUT_H

#include "analysis/requests/history/socket_history.h"
#include "trace/reader.h"

/* A time in ticks as one of the history, and which of its threads had a tid then: given by who reads the trace. */
struct vprof_marks_reader {
	uint32_t (*thread_of)(void *arg, uint32_t tid, uint64_t t); /* VPROF_NONE without memory */
	uint64_t (*time_of)(void *arg, uint64_t ticks);
	void *arg;
};

/* Adds the trace's. OK or NOMEM. O(records log marks). */
int vprof_marks_input_add(struct vprof_socket_history *h, const struct vprof_trace *trace,
			  const struct vprof_marks_reader *reader);

#endif
