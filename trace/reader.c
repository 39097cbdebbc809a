/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of records.vpt.
 *
 * Chunks lie back to back at multiples of 16 bytes. A chunk whose header makes no sense is skipped, up to the next
 * place where a chunk and what follows it both make sense. The last chunk of a cut file is copied once, with its true
 * length, so that all other code can trust n_bytes; all others are used in place, in the mapping.
 *
 * Looking for the chunks does not touch those pages of the mapping that are in the page cache: they are faulted in when
 * the records are read, possibly by several threads.
 */
#define _GNU_SOURCE /* preadv2 */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/files.h"
#include "trace/walk.h"

_Static_assert(sizeof(struct vp_file_header) == 4096, "the file header has a fixed size");
_Static_assert(sizeof(struct vp_chunk_header) == 64, "the chunk header has a fixed size");

#define RECORD_NS_MAX 1e5
#define KERNEL_ERROR_NS_MAX 1e9
#define WINDOW_BYTES ((size_t)2 << 20) /* that are mapped at once */
/* that the kernel maps around a page that is touched, by default */
#define AROUND_BYTES ((size_t)1 << 16)

/* a chunk, and what its header says of its place among the others */
struct found {
	const struct vp_chunk_header *chunk;
	uint32_t thread_seq, process_seq, chunk_seq;
};

struct vprof_trace_private {
	const unsigned char *map;
	size_t n_bytes;
	int fd;		     /* while chunks are looked for; -1: only the mapping is left */
	struct found *found; /* [n_chunks], until they are grouped */
	size_t n_chunks, cap;
	const struct vp_chunk_header **chunks; /* [n_chunks] of all threads, sorted */
	int may_be_compressed;		       /* the file's version */
	_Atomic unsigned char *is_expected;    /* [windows of the file] */
	struct vp_chunk_header *cut_chunk;     /* heap copy of a chunk that the file ends in, or NULL */
};

static int header_makes_sense(const struct vp_chunk_header *h, int may_be_compressed)
{
	if (h->magic == VP_CHUNK_COMPRESSED && (!may_be_compressed || !h->n_stored || h->n_stored > VP_UNITS_MAX_BYTES))
		return 0;
	return (h->magic == VP_CHUNK_MAGIC || h->magic == VP_CHUNK_COMPRESSED) && h->n_bytes <= VP_UNITS_MAX_BYTES &&
	       h->n_bytes % VP_UNIT_BYTES == 0 && h->thread_seq && h->process_seq;
}

/* From the page cache; what is not there comes through the mapping, which reads ahead. */
static void read_header(struct vprof_trace_private *p, size_t at, struct vp_chunk_header *h)
{
	struct iovec to = { h, sizeof *h };

	if (p->fd >= 0) {
		ssize_t n = preadv2(p->fd, &to, 1, (off_t)at, RWF_NOWAIT);

		if (n == (ssize_t)sizeof *h)
			return;
		if (n >= 0 || errno != EAGAIN) /* a file system without RWF_NOWAIT, or the file has changed */
			p->fd = -1;
	}
	memcpy(h, p->map + at, sizeof *h);
}

/* Offset behind the chunk at `at`, whose header is filled in, or 0 when none is there. May lie beyond the file: then it
 * is cut. */
static size_t chunk_end(struct vprof_trace_private *p, size_t at, struct vp_chunk_header *h)
{
	if (p->n_bytes - at < sizeof *h)
		return 0;
	read_header(p, at, h);
	return header_makes_sense(h, p->may_be_compressed) ? at + sizeof *h + vp_chunk_stored_bytes(h) : 0;
}

/* The same while damage is skipped, which looks at every place. */
static size_t mapped_end(const struct vprof_trace_private *p, size_t at)
{
	const struct vp_chunk_header *h = (const void *)(p->map + at);

	if (p->n_bytes - at < sizeof *h || !header_makes_sense(h, p->may_be_compressed))
		return 0;
	return at + sizeof *h + vp_chunk_stored_bytes(h);
}

/* Where the next plausible chunk begins after damage at `at`; n_bytes when there is none. */
static size_t find_chunk(const struct vprof_trace_private *p, size_t at)
{
	for (at += VP_UNIT_BYTES; at + sizeof(struct vp_chunk_header) <= p->n_bytes; at += VP_UNIT_BYTES) {
		size_t end = mapped_end(p, at);

		if (end && (end >= p->n_bytes || mapped_end(p, end)))
			return at;
	}
	return p->n_bytes;
}

/* h: what the chunk's header says. */
static int add_chunk(struct vprof_trace_private *p, const struct vp_chunk_header *chunk,
		     const struct vp_chunk_header *h, struct vprof_error *err)
{
	if (p->n_chunks == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 256;
		struct found *more = realloc(p->found, cap * sizeof *more);

		if (!more)
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for %zu chunks of a trace", cap);
		p->found = more;
		p->cap = cap;
	}
	p->found[p->n_chunks++] = (struct found){ chunk, h->thread_seq, h->process_seq, h->chunk_seq };
	return VPROF_OK;
}

static int add_cut_chunk(struct vprof_trace *t, size_t at, struct vprof_error *err)
{
	struct vprof_trace_private *p = t->private;
	size_t have = p->n_bytes - at, units = (have - sizeof(struct vp_chunk_header)) & ~(size_t)(VP_UNIT_BYTES - 1);

	p->cut_chunk = malloc(sizeof(struct vp_chunk_header) + units);
	if (!p->cut_chunk)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the last chunk of a trace");
	memcpy(p->cut_chunk, p->map + at, sizeof(struct vp_chunk_header) + units);
	p->cut_chunk->n_bytes = (uint32_t)units;
	t->n_bytes_ignored += have - sizeof(struct vp_chunk_header) - units;
	t->is_cut = 1;
	return add_chunk(p, p->cut_chunk, p->cut_chunk, err);
}

static int find_chunks(struct vprof_trace *t, struct vprof_error *err)
{
	struct vprof_trace_private *p = t->private;
	size_t at = sizeof(struct vp_file_header), end;
	struct vp_chunk_header h;
	int code;

	while (at < p->n_bytes) {
		if (p->n_bytes - at < sizeof(struct vp_chunk_header)) {
			t->n_bytes_ignored += p->n_bytes - at;
			t->is_cut = 1;
			break;
		}
		end = chunk_end(p, at, &h);
		if (!end) {
			size_t next = find_chunk(p, at);

			t->n_bytes_ignored += next - at;
			at = next;
			continue;
		}
		if (end > p->n_bytes && h.magic == VP_CHUNK_COMPRESSED) {
			t->n_bytes_ignored += p->n_bytes - at; /* half a frame is useless */
			t->is_cut = 1;
			break;
		}
		if (end > p->n_bytes)
			return add_cut_chunk(t, at, err);
		code = add_chunk(p, (const void *)(p->map + at), &h, err);
		if (code)
			return code;
		at = end;
	}
	return VPROF_OK;
}

static int compare_u32(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order = compare_u32(x->thread_seq, y->thread_seq);

	if (!order)
		order = compare_u32(x->process_seq, y->process_seq);
	if (!order)
		order = compare_u32(x->chunk_seq, y->chunk_seq);
	return order ? order : x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

static int same_thread(const struct found *x, const struct found *y)
{
	return x->thread_seq == y->thread_seq && x->process_seq == y->process_seq;
}

/* Splits the last entries, those with this reserved number, off the threads; *first = the first of them. */
static size_t split_off(struct vprof_trace *t, uint32_t thread_seq, const struct vprof_trace_thread **first)
{
	size_t n = 0;

	for (; t->n_threads && t->threads[t->n_threads - 1].thread_seq == thread_seq; n++)
		t->n_threads--;
	*first = n ? t->threads + t->n_threads : NULL;
	return n;
}

/* Threads are sorted, and reserved numbers are the largest. */
static void split_off_reserved(struct vprof_trace *t)
{
	t->n_processors = split_off(t, VP_THREAD_PROCESSOR, &t->processors);
	split_off(t, VP_THREAD_WINDOWS, &t->windows); /* those with other process numbers are forged */
	t->n_kernel = split_off(t, VP_THREAD_KERNEL, &t->kernel);
	t->n_kernel_tables = split_off(t, VP_THREAD_KERNEL_TABLE, &t->kernel_tables);
	split_off(t, VP_THREAD_PLANS, &t->plans);
	while (t->n_threads && t->threads[t->n_threads - 1].thread_seq >= VP_THREAD_RESERVED)
		t->n_threads--; /* of a newer vprof */
}

static int group_by_thread(struct vprof_trace *t, struct vprof_error *err)
{
	struct vprof_trace_private *p = t->private;
	size_t n = 0;

	if (!p->n_chunks)
		return VPROF_OK;
	qsort(p->found, p->n_chunks, sizeof *p->found, compare_chunks);
	for (size_t i = 0; i < p->n_chunks; i++)
		n += !i || !same_thread(&p->found[i - 1], &p->found[i]);
	t->threads = calloc(n, sizeof *t->threads);
	p->chunks = malloc(p->n_chunks * sizeof(const struct vp_chunk_header *));
	p->is_expected = calloc(p->n_bytes / WINDOW_BYTES + 1, sizeof *p->is_expected);
	if (!t->threads || !p->chunks || !p->is_expected)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for %zu threads of a trace", n);
	for (size_t i = 0; i < p->n_chunks; i++) {
		const struct vp_chunk_header *h = p->chunks[i] = p->found[i].chunk;

		if (!i || !same_thread(&p->found[i - 1], &p->found[i])) {
			t->threads[t->n_threads++] = (struct vprof_trace_thread){
				.thread_seq = p->found[i].thread_seq,
				.process_seq = p->found[i].process_seq,
				.parent_seq = h->parent_seq,
				.pid = h->pid,
				.tid = h->tid,
				.chunks = p->chunks + i,
			};
		}
		t->threads[t->n_threads - 1].n_chunks++;
	}
	split_off_reserved(t);
	return VPROF_OK;
}

void vprof_trace_check(struct vprof_trace *t)
{
	struct vprof_trace_private *p = t->private;
	struct vprof_trace_buffer buffer = { NULL, NULL };

	for (size_t i = 0; i < p->n_chunks; i++) {
		size_t n_all;
		const struct vp_unit *at = vprof_chunk_units(p->chunks[i], &buffer, &n_all),
				     *end = at ? at + n_all : NULL;
		uint32_t n;

		while (at && vp_walk_next(&at, end, &n))
			;
		t->n_bytes_ignored += at ? (uint64_t)(end - at) * VP_UNIT_BYTES : p->chunks[i]->n_bytes;
	}
	vprof_trace_buffer_release(&buffer);
}

/* `n_bytes`: of the file, at least as far as the header goes. */
static int check_header(struct vp_file_header *h, size_t n_bytes, const char *path, struct vprof_error *err)
{
	if (n_bytes < sizeof *h)
		return vprof_error_set(
			err, VPROF_ERR_CORRUPT,
			"%s: truncated inside its header (%zu of %zu bytes): nothing can be read; record the run again",
			path, n_bytes, sizeof *h);
	h->host[sizeof h->host - 1] = 0;
	h->no_switches[sizeof h->no_switches - 1] = 0;
	h->no_kernel[sizeof h->no_kernel - 1] = 0;
	if (h->magic != VP_FILE_MAGIC)
		return vprof_error_set(err, VPROF_ERR_CORRUPT,
				       "%s: not a vprof trace (wrong first 8 bytes); record the run again", path);
	if (h->version != VP_FORMAT_VERSION && h->version != VP_FORMAT_COMPRESSED)
		return vprof_error_set(
			err, VPROF_ERR_CORRUPT,
			"%s: trace format %u, but this vprof reads formats %u to %u; analyse it with a newer vprof, "
			"or record the run again",
			path, h->version, VP_FORMAT_VERSION, VP_FORMAT_COMPRESSED);
	if (h->clock < VP_CLOCK_TSC || h->clock > VP_CLOCK_MONOTONIC)
		return vprof_error_set(err, VPROF_ERR_CORRUPT,
				       "%s: unknown clock %u in the header; record the run again", path, h->clock);
	if (!isfinite(h->ns_per_tick) || h->ns_per_tick < 1e-3 || h->ns_per_tick > 1e6)
		return vprof_error_set(err, VPROF_ERR_CORRUPT,
				       "%s: invalid clock rate (%g ns per tick) in the header; record the run again",
				       path, h->ns_per_tick);
	if (!(h->record_ns > 0 && h->record_ns < RECORD_NS_MAX) ||
	    !(h->record_inside_ns >= 0 && h->record_inside_ns <= h->record_ns))
		h->record_ns = h->record_inside_ns = 0; /* as in traces from before they were measured */
	if (!(h->kernel_error_ns >= 0 && h->kernel_error_ns < KERNEL_ERROR_NS_MAX))
		h->kernel_error_ns = KERNEL_ERROR_NS_MAX;
	if (h->kernel_scope > VP_KERNEL_ALL)
		h->kernel_scope = VP_KERNEL_NOT;
	return VPROF_OK;
}

/* *fd: to be closed when the chunks were found, or -1. */
static int map_records(struct vprof_trace *t, const char *path, int *fd, struct vprof_error *err)
{
	struct vprof_trace_private *p = t->private;
	int opened = open(path, O_RDONLY | O_CLOEXEC), code = VPROF_OK;
	struct stat st;

	*fd = -1;
	if (opened < 0)
		return vprof_error_set(err, errno == ENOENT ? VPROF_ERR_MISSING : VPROF_ERR_FAILED,
				       "cannot open the trace %s: %s; record a run first (vprof run)", path,
				       strerror(errno));
	if (fstat(opened, &st)) {
		code = vprof_error_set(err, VPROF_ERR_FAILED, "cannot stat %s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		code = vprof_error_set(err, VPROF_ERR_INPUT, "%s is not a regular file; name a run's trace folder",
				       path);
	} else if (st.st_size > 0) {
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, opened, 0);

		if (map == MAP_FAILED) {
			code = vprof_error_set(err, VPROF_ERR_FAILED, "cannot map %s: %s", path, strerror(errno));
		} else {
			p->map = map;
			p->n_bytes = (size_t)st.st_size;
		}
	}
	*fd = opened;
	return code;
}

int vprof_trace_read_header(struct vp_file_header *out, const char *dir, struct vprof_error *err)
{
	char *path = vprof_path_join(dir, "records.vpt");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1, code;
	ssize_t n;

	memset(out, 0, sizeof *out);
	if (!path)
		return vprof_error_no_memory(err);
	n = fd < 0 ? -1 : pread(fd, out, sizeof *out, 0);
	code = n < 0 ? vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s: %s", path, strerror(errno)) :
		       check_header(out, (size_t)n, path, err);
	if (fd >= 0)
		close(fd);
	free(path);
	return code;
}

int vprof_trace_open(struct vprof_trace **out, const char *dir, struct vprof_error *err)
{
	struct vprof_trace *t = calloc(1, sizeof *t);
	struct vprof_trace_private *p = calloc(1, sizeof *p);
	char *path = vprof_path_join(dir, "records.vpt");
	int code, fd;

	*out = NULL;
	if (!t || !p || !path) {
		free(t);
		free(p);
		free(path);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the trace in %s", dir);
	}
	t->private = p;
	code = map_records(t, path, &fd, err);
	p->fd = fd;
	if (!code && p->map)
		memcpy(&t->header, p->map, p->n_bytes < sizeof t->header ? p->n_bytes : sizeof t->header);
	if (!code)
		code = check_header(&t->header, p->n_bytes, path, err);
	p->may_be_compressed = t->header.version == VP_FORMAT_COMPRESSED;
	if (!code)
		code = find_chunks(t, err);
	if (fd >= 0)
		close(fd);
	if (!code)
		code = group_by_thread(t, err);
	free(p->found);
	p->found = NULL;
	if (!code) {
		t->n_dropped = t->header.n_dropped;
		if (!t->header.end_ticks || t->header.n_chunks != p->n_chunks)
			t->is_cut = 1;
		*out = t;
	} else {
		vprof_trace_free(t);
	}
	free(path);
	return code;
}

/* Touching pages one after the other is faster than touching them between records, and than MADV_POPULATE_READ, which
 * looks at each. */
void vprof_trace_expect(const struct vprof_trace *trace, const struct vp_chunk_header *chunk)
{
	struct vprof_trace_private *p = trace->private;
	size_t window, end;

	if (chunk == p->cut_chunk)
		return;
	window = (size_t)((const unsigned char *)chunk - p->map) / WINDOW_BYTES;
	if (atomic_load(&p->is_expected[window]) || atomic_exchange(&p->is_expected[window], 1))
		return;
	end = p->n_bytes / WINDOW_BYTES > window ? (window + 1) * WINDOW_BYTES : p->n_bytes;
	for (size_t at = window * WINDOW_BYTES; at < end; at += AROUND_BYTES)
		(void)*(const volatile unsigned char *)(p->map + at);
}

void vprof_trace_unmap(struct vprof_trace *trace)
{
	if (trace->private->map)
		(void)madvise((void *)trace->private->map, trace->private->n_bytes, MADV_DONTNEED);
}

void vprof_trace_free(struct vprof_trace *trace)
{
	if (!trace)
		return;
	if (trace->private->map)
		munmap((void *)trace->private->map, trace->private->n_bytes);
	free(trace->private->chunks);
	free((void *)trace->private->is_expected);
	free(trace->private->cut_chunk);
	free(trace->private);
	free(trace->threads);
	free(trace);
}

double vprof_trace_ns(const struct vprof_trace *trace, uint64_t ticks)
{
	return (double)(int64_t)(ticks - trace->header.start_ticks) * trace->header.ns_per_tick;
}

static void enter_chunk(struct vprof_trace_cursor *c)
{
	size_t n;

	c->unit = vprof_chunk_units(c->thread->chunks[c->chunk], &c->buffer, &n);
	c->end = c->unit ? c->unit + n : NULL;
}

void vprof_trace_cursor_init(struct vprof_trace_cursor *c, const struct vprof_trace_thread *thread)
{
	*c = (struct vprof_trace_cursor){ .thread = thread };
	if (thread->n_chunks)
		enter_chunk(c);
}

const struct vp_unit *vprof_trace_next(struct vprof_trace_cursor *c, uint32_t *n_units)
{
	while (c->chunk < c->thread->n_chunks) {
		const struct vp_unit *u = c->unit ? vp_walk_next(&c->unit, c->end, n_units) : NULL;

		if (u)
			return u;
		if (++c->chunk < c->thread->n_chunks)
			enter_chunk(c);
	}
	vprof_trace_cursor_release(c);
	return NULL;
}

void vprof_trace_cursor_release(struct vprof_trace_cursor *c)
{
	vprof_trace_buffer_release(&c->buffer);
}
