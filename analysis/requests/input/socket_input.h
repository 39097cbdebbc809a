/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of vprof record --paths as one socket history (analysis/requests/history/socket_history.h): one trace of each
 * host.
 *
 * This is the entry to the room analysis/requests/input. marks_input.h adds what programs say themselves. */
#ifndef VPROF_SOCKET_INPUT_H
#define VPROF_SOCKET_INPUT_H

#include "analysis/requests/history/socket_history.h"
#include "common/hash/string_set.h"
#include "trace/reader.h"

struct vprof_socket_source { /* a trace that was added */
	uint32_t host;
	uint64_t start_ns; /* its start in the history's time */
};

struct vprof_socket_input {
	struct vprof_socket_history history; /* its texts belong to `strings` */
	struct vprof_strings strings;
	uint64_t base_ns;				 /* time of day that is the history's 0 */
	VPROF_ARRAY(struct vprof_socket_source) sources; /* in the order in which they were added */
	uint64_t n_transfers;
	uint64_t n_unknown;  /* transfers of sockets of which nothing else is known: left out */
	const char *missing; /* what was not recorded, and what to do; "" */
};

/* Adds a trace; times of several are put side by side by their hosts' time of day. INPUT when it has no transfers
 * because they were not recorded, NOMEM; to be released in any case. One pass, O(events log CPUs). */
int vprof_socket_input_add(struct vprof_socket_input *input, const struct vprof_trace *trace, struct vprof_error *err);
void vprof_socket_input_release(struct vprof_socket_input *input);

#endif
