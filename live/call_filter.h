/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a filter of system calls (seccomp, classic BPF) does with a call. */
#ifndef VPROF_CALL_FILTER_H
#define VPROF_CALL_FILTER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

struct vprof_call {
	const char *name;
	uint32_t number; /* of x86-64 */
	uint32_t known;	 /* bit i: args[i] is the argument; else it may be any */
	uint64_t args[6];
};

/* Whether the filter lets the call go on whatever its unknown arguments are. A filter that is too entangled to tell,
 * or is none, does not. */
int vprof_call_filter_allows(const struct sock_filter *filter, size_t n, const struct vprof_call *call);

#endif
