/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of several hosts, recorded at the same time, as one trace: times are brought to one clock, and numbers that
 * mean something on one host only (processes, threads, CPUs, locks and channels within a host) are made to differ. What
 * remains equal on both sides are the connections between the hosts, so that a wait on one of them is explained by what
 * the other host's threads did.
 *
 * How far the clocks are apart follows from what was sent over these connections (common/clocks/host_clocks.h).
 */
#ifndef VPROF_TRACE_JOIN_H
#define VPROF_TRACE_JOIN_H

#include "common/clocks/host_clocks.h"
#include "common/error.h"

#define VPROF_JOIN_MOST 64u /* traces */
/* Added to the process and thread numbers of each further host; larger than any of a host's own. */
#define VPROF_JOIN_PIDS (UINT32_C(1) << 22)

struct vprof_joined {
	uint64_t n_processes, n_threads;
	uint64_t n_connections; /* between two of the hosts, each way counted by itself */
	uint64_t n_several;	/* left out: several hosts have a connection between the same addresses */
	struct vprof_host_clocks clocks;
	double errors_ns[VPROF_JOIN_MOST];	/* of each clock, at most, in all of its host's recording */
	int has_switches;			/* of all hosts: else what is known of some of them is left out */
	int has_kernel;				/* some had the kernel's events, which are left out */
	int is_cut;				/* records of a trace are missing or damaged, as the joined one says */
	double record_least_ns, record_most_ns; /* what a record took on the hosts; 0: not known */
};

/* Writes `out_dir`/records.vpt from the trace folders dirs[n]. INPUT: traces that cannot be joined, with the reason and
 * what to do; CORRUPT, FAILED, NOMEM. Release `joined` in any case. O(records). */
int vprof_trace_join(struct vprof_joined *joined, const char *out_dir, const char *const *dirs, size_t n,
		     struct vprof_error *err);
void vprof_joined_release(struct vprof_joined *joined);

#endif
