/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What went from host to host over their connections. */
#ifndef VPROF_TRACE_JOIN_MESSAGES_H
#define VPROF_TRACE_JOIN_MESSAGES_H

#include "common/array.h"
#include "common/clocks/host_clocks.h"
#include "trace/reader.h"

/* Each way of a connection is a channel, and counts by itself. */
struct vprof_join_messages {
	VPROF_ARRAY(struct vprof_host_message) v; /* hosts by their place in `traces` */
	/* of two hosts: the one sends, the other receives; sorted */
	VPROF_ARRAY(uint64_t) between;
	uint64_t n_several; /* several hosts have such an end: networks with the same addresses */
	/* of `between`, those that tell nothing of the clocks: their begin is not recorded, or amounts do not agree */
	uint64_t n_older, n_unequal;
};

/* Times are ns of each host's CLOCK_MONOTONIC. Where several threads of a host moved data at once, the order of that
 * data is not known, and it is no message. OK or NOMEM; to be released in any case. */
int vprof_join_messages_find(struct vprof_join_messages *m, struct vprof_trace *const *traces, size_t n);
void vprof_join_messages_release(struct vprof_join_messages *m);

#endif
