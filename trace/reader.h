/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads runs/NNNN/trace/: maps records.vpt, finds the chunks, groups them by thread.
 *
 * The file is treated as hostile: every length is checked before use; a cut or damaged chunk ends that chunk's records,
 * and its bytes are counted. Iteration walks the mapping; only compressed chunks are copied, when they are read.
 * Thread-safe for reading.
 */
#ifndef VPROF_TRACE_READER_H
#define VPROF_TRACE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/compress.h"
#include "trace/format.h"

struct vprof_trace_thread {
	uint32_t thread_seq, process_seq, parent_seq, pid, tid;
	const struct vp_chunk_header **chunks; /* in chunk_seq order */
	size_t n_chunks;
};

struct vprof_trace {
	struct vp_file_header header;
	struct vprof_trace_thread *threads; /* by thread_seq */
	size_t n_threads;
	/* each CPU's SWITCH records; tid = its number */
	const struct vprof_trace_thread *processors;
	size_t n_processors;
	/* what the kernel recorded on each CPU, by its number, tid; and the tables for it (trace/kernel_events.h) */
	const struct vprof_trace_thread *kernel, *kernel_tables;
	size_t n_kernel, n_kernel_tables;
	const struct vprof_trace_thread *windows; /* WINDOW records; NULL: all calls are recorded throughout */
	const struct vprof_trace_thread *plans;	  /* PLAN records; NULL: one plan throughout */
	uint64_t n_dropped;			  /* records that the runtime had no room for */
	uint64_t n_bytes_ignored; /* damaged or cut, between chunks; with vprof_trace_check(), also within them */
	int is_cut;		  /* the collector did not finish, or the file ends inside a chunk */
	struct vprof_trace_private *private;
};

/* The header alone, of the trace folder `dir`: what was recorded and when, whatever the trace's size. */
int vprof_trace_read_header(struct vp_file_header *out, const char *dir, struct vprof_error *err);
/* `dir` is the run's trace folder. */
int vprof_trace_open(struct vprof_trace **out, const char *dir, struct vprof_error *err);
void vprof_trace_free(struct vprof_trace *trace);
/* A chunk is about to be read: maps the pages around it at once instead of one by one, unless a thread has done so. */
void vprof_trace_expect(const struct vprof_trace *trace, const struct vp_chunk_header *chunk);
/* Unmaps the pages that were read, which is slow for large traces: it may run beside other work before
 * vprof_trace_free. Records stay readable. */
void vprof_trace_unmap(struct vprof_trace *trace);
/* Walks all records once, and adds the bytes of those that cannot be read to n_bytes_ignored. */
void vprof_trace_check(struct vprof_trace *trace);
double vprof_trace_ns(const struct vprof_trace *trace, uint64_t ticks); /* since header.start_ticks */

struct vprof_trace_cursor {
	const struct vprof_trace_thread *thread;
	size_t chunk;
	const struct vp_unit *unit, *end;
	struct vprof_trace_buffer buffer;
};

/* Iterate until NULL, or release the cursor, which may own a buffer. */
void vprof_trace_cursor_init(struct vprof_trace_cursor *c, const struct vprof_trace_thread *thread);
/* The next whole record's first unit, or NULL at the end; *n_units = its units, all readable until the next call.
 * Unknown or cut records end their chunk. */
const struct vp_unit *vprof_trace_next(struct vprof_trace_cursor *c, uint32_t *n_units);
void vprof_trace_cursor_release(struct vprof_trace_cursor *c);

#endif
