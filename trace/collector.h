/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The collector: the shared memory that a run's threads write into, and the loop that empties it to disk.
 *
 *   vprof_collector_open -> set the environment of the run command (VPROF_SHM, LD_PRELOAD) -> start it (its process may
 * be watched before it execs: vprof_collector_watch) -> vprof_collector_drain every few ms while it runs ->
 * vprof_collector_close
 *
 * The collector never blocks a target: when the disk is slow the ring fills and the runtime counts what it drops.
 */
#ifndef VPROF_COLLECTOR_H
#define VPROF_COLLECTOR_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "trace/records_file.h"

struct vprof_collector;

struct vprof_collector_options {
	const char *trace_dir;	    /* created; records.vpt is written here */
	uint64_t memory_bytes;	    /* of the ring; 0: 256 MiB */
	uint64_t max_trace_bytes;   /* stop recording (drop and count) beyond; 0: no limit */
	int stack_samples;	    /* stacks to sample per thread and kind; 0: 200 */
	uint32_t sample_after;	    /* calls of a function in one stretch of work before they are sampled; 0: never */
	const uint32_t *every_call; /* codes of functions that are never sampled, in ascending order */
	size_t n_every_call;	    /* the first VP_EVERY_CALL_MAX count */
	enum vprof_compress_mode compress; /* chunks, with zstd */
	double budget;	   /* share of one CPU that recording may take, see trace/windows.h; 0: no limit */
	const uid_t *user; /* whose processes are to open the shared memory; NULL: the caller's */
	int records_hosts; /* connections to other hosts are channels, too (trace/join/join.h) */
	int is_live; /* the caller turns windows and plans itself (trace/collector/collector_live.h); budget is ignored
		      */
};

struct vprof_collector_stats {
	uint64_t n_bytes, n_chunks, n_dropped, n_processes, n_threads;
	uint64_t n_unit_bytes; /* recorded: what chunks that are not compressed would take */
	uint64_t n_switches, n_switches_lost;
	uint64_t n_windows;    /* in which calls were recorded */
	double recorded_share; /* of the time; 1: throughout */
	int has_switches;
	char no_switches[240]; /* why not, and what to do about it */
	int disk_failed;       /* errno of the first failed write, else 0; recording went on without the disk */
};

struct vprof_collector_state {			     /* while it records */
	uint64_t n_unit_bytes, n_dropped, n_threads; /* as above; what lies in the ring counts, too */
	double full_share;			     /* of the ring */
};

int vprof_collector_open(struct vprof_collector **out, const struct vprof_collector_options *o,
			 struct vprof_error *err);
const char *vprof_collector_shm(const struct vprof_collector *c); /* value for VPROF_SHM */
uint64_t vprof_collector_nonce(const struct vprof_collector *c);
/* Records the context switches of process `pid` and its descendants, from its next exec on; call it once, before that.
 * After a failure the run can go on: the trace says why switches are not known. `most`: as in trace/processors.h. */
int vprof_collector_watch(struct vprof_collector *c, pid_t pid, uint32_t most, struct vprof_error *err);
/* The program begins: what this thread has spent on preparing the recording so far is no cost of it (budget). */
void vprof_collector_begin(struct vprof_collector *c);
/* Moves full chunks to disk; returns how many. Call again at once while it returns more than 0. */
int vprof_collector_drain(struct vprof_collector *c);
/* For who records into the same trace from another side: stores a chunk of a reserved thread_seq, 0, or 1 when it is
 * not in the file; the run's clock; and the header, of which the kernel_* fields and no_kernel are the caller's to fill
 * in. */
int vprof_collector_append(struct vprof_collector *c, const struct vp_chunk_header *h, const struct vp_unit *units);
const struct vprof_clock *vprof_collector_clock(const struct vprof_collector *c);
struct vp_file_header *vprof_collector_header(struct vprof_collector *c);
/* Reads some words of each chunk: meant for every second, not for every millisecond. */
void vprof_collector_look(const struct vprof_collector *c, struct vprof_collector_state *state);
/* Stores all chunks, also those of processes that still run; writes the header; removes the shared memory. */
int vprof_collector_close(struct vprof_collector *c, struct vprof_collector_stats *stats, struct vprof_error *err);

/* Removes the shared memory's name and nothing else: for a signal handler that ends this process. Async-signal-safe;
 * what running targets record is lost. (After a SIGKILL the next collector's open removes the file.) */
void vprof_collector_abandon(const struct vprof_collector *c);

#endif
