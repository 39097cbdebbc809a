/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.vpt while it is written: its header, and chunks appended to it.
 *
 *   vprof_clock_start(&f.clock) -> open -> append ..., and every few ms step; when that says so, bring f.header up to
 * date and refresh -> bring f.header up to date -> finish
 *
 * vprof_records_seal: the file is finished as it is, and can be read as such; what is appended from then on waits
 * beside it. vprof_records_go_on puts that behind; finishing drops it.
 *
 * The file ends at n_bytes: a chunk that could not be written whole is cut off again. After the first failed write
 * nothing is stored any more, so that the trace ends there rather than having holes.
 */
#ifndef VPROF_RECORDS_FILE_H
#define VPROF_RECORDS_FILE_H

#include "common/error.h"
#include "trace/clock.h"
#include "trace/compress.h"

enum vprof_compress_mode {
	/* once the disk is the limit: writing takes more than half of the time, or room runs short */
	VPROF_COMPRESS_AUTO,
	VPROF_COMPRESS_ON,
	VPROF_COMPRESS_OFF,
};

struct vprof_records_file {
	struct vp_file_header
		header; /* the owner's: what is counted, and texts; the rest is filled in when it is written */
	struct vprof_clock clock;
	uint64_t n_bytes, n_chunks;
	int disk_failed;   /* errno of the first failed write, else 0 */
	int limit_reached; /* of the largest size */

	uint64_t max_bytes;
	enum vprof_compress_mode compress;
	struct vprof_compressor *compressor; /* NULL: chunks are stored as they are */
	uint64_t header_ns;		     /* when the header was last written */
	uint64_t write_ns;		     /* spent in writes since then */
	uint64_t room_bytes;		     /* n_bytes when the disk's room was last looked at */
	int fd;
	int is_sealed, beside_fd; /* where chunks wait: a file whose name is gone */
	char *beside_path;
	uint64_t n_beside_bytes, n_beside_chunks;
};

/* Makes the folder and the file, with a header. `max_bytes` 0: no limit. Release it after success and after failure. */
int vprof_records_open(struct vprof_records_file *f, const char *trace_dir, uint64_t max_bytes,
		       enum vprof_compress_mode compress, struct vprof_error *err);

/* 0, or 1 when the chunk is not in the file. */
int vprof_records_append(struct vprof_records_file *f, const struct vp_chunk_header *h, const struct vp_unit *units);

/* Begins compression where that is called for; 1 when the header is due, which is every second. */
int vprof_records_step(struct vprof_records_file *f, uint64_t now_ns);

/* Calibrates the clock and writes the header. Not while it is sealed. */
void vprof_records_refresh(struct vprof_records_file *f);

/* Bring f.header up to date before. What fails is a failed write. When it is sealed already, or is not, these do
 * nothing.
 */
void vprof_records_seal(struct vprof_records_file *f);
void vprof_records_go_on(struct vprof_records_file *f);

/* Writes the header for the last time, unless it is sealed, and closes the file. 0 or errno. */
int vprof_records_finish(struct vprof_records_file *f);

void vprof_records_release(struct vprof_records_file *f);

#endif
