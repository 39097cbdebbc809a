/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zstd's fastest level: higher ones save little more, and take CPU time that the target could use. */
#include "trace/compress.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 1

struct vprof_compressor {
	ZSTD_CCtx *context;
	unsigned char bytes[VP_CHUNK_BYTES];
};

struct vprof_compressor *vprof_compressor_new(void)
{
	struct vprof_compressor *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->context = ZSTD_createCCtx();
	if (c->context)
		return c;
	free(c);
	return NULL;
}

void vprof_compressor_free(struct vprof_compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->context);
	free(c);
}

int vprof_compress_chunk(struct vprof_compressor *c, const struct vp_chunk_header *h, const struct vp_unit *units,
			 struct vp_chunk_header *out, const void **stored)
{
	size_t n = h->n_bytes < 16 ? 0 :
				     ZSTD_compressCCtx(c->context, c->bytes, h->n_bytes - 15, units, h->n_bytes, LEVEL);

	if (!n || ZSTD_isError(n))
		return 0;
	*out = *h;
	out->magic = VP_CHUNK_COMPRESSED;
	out->n_stored = (uint32_t)n;
	memset(c->bytes + n, 0, vp_chunk_stored_bytes(out) - n);
	*stored = c->bytes;
	return 1;
}

const struct vp_unit *vprof_chunk_units(const struct vp_chunk_header *h, struct vprof_trace_buffer *buffer,
					size_t *n_units)
{
	*n_units = h->n_bytes / VP_UNIT_BYTES;
	if (h->magic != VP_CHUNK_COMPRESSED)
		return (const void *)(h + 1);
	*n_units = 0;
	if (!buffer->units)
		buffer->units = malloc(VP_CHUNK_BYTES);
	if (!buffer->context)
		buffer->context = ZSTD_createDCtx();
	if (!buffer->units || !buffer->context || h->n_bytes > VP_UNITS_MAX_BYTES ||
	    ZSTD_decompressDCtx(buffer->context, buffer->units, h->n_bytes, h + 1, h->n_stored) != h->n_bytes)
		return NULL;
	*n_units = h->n_bytes / VP_UNIT_BYTES;
	return buffer->units;
}

void vprof_trace_buffer_release(struct vprof_trace_buffer *buffer)
{
	free(buffer->units);
	ZSTD_freeDCtx(buffer->context);
	*buffer = (struct vprof_trace_buffer){ NULL, NULL };
}
