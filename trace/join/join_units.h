/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One host's records as records of the joined trace. */
#ifndef VPROF_TRACE_JOIN_UNITS_H
#define VPROF_TRACE_JOIN_UNITS_H

#include <stddef.h>

#include "trace/format.h"

struct vprof_join_host {
	/* t -> to + rate * (t - from), in ticks; rate is positive */
	uint64_t from, to;
	double rate;
	uint32_t threads, processes, processors; /* added to numbers */
	uint32_t pids;
	uint64_t number;	 /* 0: what means something on this host only stays as it is */
	const uint64_t *between; /* [n_between] channels that lead to another host of the joined ones, sorted */
	size_t n_between;
};

uint64_t vprof_join_time(const struct vprof_join_host *host, uint64_t t);
/* A record of n units, at most those of its kind, in place. */
void vprof_join_record(const struct vprof_join_host *host, struct vp_unit *u);
/* The header of a chunk of threads, or of a CPU's switches. */
void vprof_join_header(const struct vprof_join_host *host, struct vp_chunk_header *h);

#endif
