/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chunks that are compressed in the file: each is a zstd frame by itself, so a cut file and a single chunk stay
 * readable. */
#ifndef VPROF_COMPRESS_H
#define VPROF_COMPRESS_H

#include <stddef.h>

#include "trace/format.h"

#define VP_UNITS_MAX_BYTES (VP_CHUNK_BYTES - (uint32_t)sizeof(struct vp_chunk_header))

/* Bytes that follow the header in the file. */
static inline uint64_t vp_chunk_stored_bytes(const struct vp_chunk_header *h)
{
	return h->magic == VP_CHUNK_COMPRESSED ? ((uint64_t)h->n_stored + 15) & ~UINT64_C(15) : h->n_bytes;
}

struct vprof_compressor;
struct vprof_compressor *vprof_compressor_new(void); /* NULL without memory */
void vprof_compressor_free(struct vprof_compressor *c);
/* Compresses a chunk's units; *stored, padded to vp_chunk_stored_bytes(out), belongs to the compressor. 0 when they do
 * not become smaller: store them as they are. */
int vprof_compress_chunk(struct vprof_compressor *c, const struct vp_chunk_header *h, const struct vp_unit *units,
			 struct vp_chunk_header *out, const void **stored);

/* Room for a chunk's units; zero-initialised, for one thread. */
struct vprof_trace_buffer {
	struct vp_unit *units;
	void *context;
};

/* A chunk's units: where they lie, or in the buffer until its next use. NULL when they are damaged or there is no
 * memory. The header is followed, in its mapping, by all that it stores. */
const struct vp_unit *vprof_chunk_units(const struct vp_chunk_header *h, struct vprof_trace_buffer *buffer,
					size_t *n_units);
void vprof_trace_buffer_release(struct vprof_trace_buffer *buffer);

#endif
