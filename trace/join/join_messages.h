/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What went from host to host over their connections. */
#ifndef VPROF_TRACE_JOIN_MESSAGES_H
#define VPROF_TRACE_JOIN_MESSAGES_H

#include "common/array.h"
#include "common/clocks/host_clocks.h"
#include "trace/reader.h"

struct vprof_join_messages {
	VPROF_ARRAY(struct vprof_host_message) v; /* hosts by their place in `traces` */
	uint64_t n_connections;			  /* recorded on two hosts, each way by itself */
	uint64_t n_one_sided;			  /* recorded on one host only */
};

/* Times are ns of each host's CLOCK_MONOTONIC. Left out are connections of which the begin is not recorded, whose
 * amounts do not agree, or over which several threads of a host moved data at once. OK or NOMEM; to be released in any
 * case. */
int vprof_join_messages_find(struct vprof_join_messages *m, struct vprof_trace *const *traces, size_t n);
void vprof_join_messages_release(struct vprof_join_messages *m);

#endif
