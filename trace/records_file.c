/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/records_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/files.h"

#define HEADER_REFRESH_NS 1000000000u		/* a killed collector leaves counts at most this old */
#define COMPRESS_MIN_BYTES ((uint64_t)64 << 20) /* a smaller trace does not show the disk's speed */
#define ROOM_CHECK_BYTES ((uint64_t)4 << 20)	/* between two looks at its room: every second might be too late */

/* At the end of one of both files, of which *n_bytes are whole. */
static int write_all(int fd, uint64_t *n_bytes, const struct iovec *parts, int n_parts)
{
	uint64_t at = *n_bytes;

	for (int i = 0; i < n_parts; i++) {
		const char *bytes = parts[i].iov_base;
		size_t left = parts[i].iov_len;

		while (left) {
			ssize_t n = pwrite(fd, bytes, left, (off_t)at);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0) {
				int failed = n < 0 ? errno : ENOSPC;

				/* When even this fails, the reader still finds the cut. */
				if (ftruncate(fd, (off_t)*n_bytes))
					return failed;
				return failed;
			}
			bytes += n;
			left -= (size_t)n;
			at += (uint64_t)n;
		}
	}
	*n_bytes = at;
	return 0;
}

static int write_header(struct vprof_records_file *f, int finished)
{
	struct vp_file_header *h = &f->header;
	ssize_t n;

	h->magic = VP_FILE_MAGIC;
	h->version = f->compressor ? VP_FORMAT_COMPRESSED : VP_FORMAT_VERSION;
	h->clock = f->clock.kind;
	h->ns_per_tick = f->clock.ns_per_tick;
	h->start_ticks = f->clock.start_ticks;
	h->start_ns = f->clock.start_ns;
	h->start_realtime_ns = f->clock.start_realtime_ns;
	h->n_chunks = f->n_chunks;
	h->end_ticks = finished ? f->clock.now_ticks : 0;
	h->end_ns = finished ? f->clock.now_ns : 0;
	if (gethostname(h->host, sizeof h->host - 1))
		h->host[0] = 0;
	do
		n = pwrite(f->fd, h, sizeof *h, 0);
	while (n < 0 && errno == EINTR);
	f->header_ns = f->clock.now_ns;
	return n == (ssize_t)sizeof *h ? 0 : n < 0 ? errno : ENOSPC;
}

/* Chunks are compressed from now on, which the header says before the first of them is written. */
static int begin_compression(struct vprof_records_file *f)
{
	f->compressor = vprof_compressor_new();
	return f->compressor ? write_header(f, 0) : 0;
}

int vprof_records_open(struct vprof_records_file *f, const char *trace_dir, uint64_t max_bytes,
		       enum vprof_compress_mode compress, struct vprof_error *err)
{
	char *path;
	int code, failed;

	f->fd = -1;
	f->max_bytes = max_bytes;
	f->compress = compress;
	code = vprof_dir_make(trace_dir, err);
	if (code)
		return code;
	path = vprof_path_join(trace_dir, "records.vpt");
	f->beside_path = vprof_path_join(trace_dir, "records.beside");
	if (!path || !f->beside_path) {
		free(path);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the trace in %s", trace_dir);
	}
	f->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	failed = f->fd < 0 ? errno : write_header(f, 0);
	if (!failed && compress == VPROF_COMPRESS_ON)
		failed = begin_compression(f);
	if (failed)
		code = vprof_error_set(err, VPROF_ERR_FAILED,
				       "cannot write the trace %s: %s; free space or choose another "
				       "folder",
				       path, strerror(failed));
	f->n_bytes = sizeof(struct vp_file_header);
	free(path);
	return code;
}

int vprof_records_append(struct vprof_records_file *f, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	struct vp_chunk_header compressed;
	const void *bytes = units;
	uint64_t start_ns;

	if (f->compressor && !f->disk_failed && vprof_compress_chunk(f->compressor, h, units, &compressed, &bytes))
		h = &compressed;
	if (f->max_bytes && f->n_bytes + f->n_beside_bytes + sizeof *h + vp_chunk_stored_bytes(h) > f->max_bytes)
		f->limit_reached = 1;
	if (f->disk_failed || f->limit_reached)
		return 1;
	start_ns = vprof_clock_monotonic_ns();
	f->disk_failed = write_all(
		f->is_sealed ? f->beside_fd : f->fd, f->is_sealed ? &f->n_beside_bytes : &f->n_bytes,
		(const struct iovec[]){ { (void *)h, sizeof *h }, { (void *)bytes, vp_chunk_stored_bytes(h) } }, 2);
	f->write_ns += vprof_clock_monotonic_ns() - start_ns;
	*(f->is_sealed ? &f->n_beside_chunks : &f->n_chunks) += !f->disk_failed;
	return f->disk_failed != 0;
}

/* Is the disk the bottleneck? It has no room for as much again, or writing took more than half of the time. */
static int is_disk_limit(struct vprof_records_file *f, uint64_t elapsed_ns)
{
	struct statvfs fs;

	if (f->n_bytes - f->room_bytes >= ROOM_CHECK_BYTES) {
		f->room_bytes = f->n_bytes;
		if (!fstatvfs(f->fd, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize < f->n_bytes)
			return 1;
	}
	return elapsed_ns > HEADER_REFRESH_NS && f->n_bytes >= COMPRESS_MIN_BYTES && f->write_ns > elapsed_ns / 2;
}

int vprof_records_step(struct vprof_records_file *f, uint64_t now_ns)
{
	if (f->is_sealed)
		return 0;
	if (!f->compressor && f->compress == VPROF_COMPRESS_AUTO && !f->disk_failed &&
	    is_disk_limit(f, now_ns - f->header_ns))
		f->disk_failed = begin_compression(f);
	return now_ns - f->header_ns > HEADER_REFRESH_NS && !f->disk_failed;
}

void vprof_records_refresh(struct vprof_records_file *f)
{
	vprof_clock_calibrate(&f->clock);
	f->disk_failed = write_header(f, 0);
	f->write_ns = 0;
}

static void drop_beside(struct vprof_records_file *f)
{
	if (f->is_sealed && f->beside_fd >= 0)
		close(f->beside_fd);
	f->n_beside_bytes = f->n_beside_chunks = 0;
	f->is_sealed = 0;
}

void vprof_records_seal(struct vprof_records_file *f)
{
	if (f->is_sealed || f->disk_failed)
		return;
	f->beside_fd = open(f->beside_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f->disk_failed = f->beside_fd < 0 || unlink(f->beside_path) ? errno : 0;
	f->is_sealed = f->beside_fd >= 0;
	vprof_clock_calibrate(&f->clock);
	if (!f->disk_failed)
		f->disk_failed = write_header(f, 1);
}

/* Behind what is in the file, or nothing of it. 0 or errno. */
static int copy_beside(struct vprof_records_file *f)
{
	char bytes[65536];
	uint64_t before = f->n_bytes, at = 0;
	int failed = 0;

	while (!failed && at < f->n_beside_bytes) {
		ssize_t n = pread(f->beside_fd, bytes, sizeof bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		failed = n < 0 ? errno : n == 0 ? EIO : 0;
		if (!failed)
			failed = write_all(f->fd, &f->n_bytes, &(const struct iovec){ bytes, (size_t)n }, 1);
		at += failed ? 0 : (uint64_t)n;
	}
	if (failed) {
		f->n_bytes = before;
		if (ftruncate(f->fd, (off_t)before))
			return failed;
	}
	return failed;
}

void vprof_records_go_on(struct vprof_records_file *f)
{
	int failed;

	if (!f->is_sealed)
		return;
	failed = copy_beside(f);
	f->n_chunks += failed ? 0 : f->n_beside_chunks;
	drop_beside(f);
	if (!failed)
		failed = write_header(f, 0);
	f->disk_failed = f->disk_failed ? f->disk_failed : failed;
}

int vprof_records_finish(struct vprof_records_file *f)
{
	int failed = 0;

	vprof_clock_calibrate(&f->clock);
	if (!f->is_sealed)
		failed = write_header(f, 1);
	if (close(f->fd) && !failed)
		failed = errno;
	f->fd = -1;
	if (failed && !f->disk_failed)
		f->disk_failed = failed;
	return failed;
}

void vprof_records_release(struct vprof_records_file *f)
{
	drop_beside(f);
	free(f->beside_path);
	f->beside_path = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	vprof_compressor_free(f->compressor);
	f->compressor = NULL;
}
