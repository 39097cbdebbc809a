/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of the kernel, written by hand into a real records.vpt: chunk by chunk into an image, which is then opened as
 * a trace. One tick is one ns, and the recording begins at 1. Whatever fails fails the test.
 */
#ifndef KERNEL_IMAGE_H
#define KERNEL_IMAGE_H

#include "common/array.h"
#include "trace/kernel_events.h"
#include "trace/reader.h"

struct kernel_image { /* zero-initialised */
	VPROF_ARRAY(unsigned char) bytes;
	uint64_t n_chunks;
};

/* Sizes, sequence and magic of the chunk are filled in. */
void kernel_image_chunk(struct kernel_image *image, struct vp_chunk_header h, const struct vp_unit *units, size_t n);

/* At most 256 units. */
void kernel_image_events(struct kernel_image *image, struct vp_chunk_header h, const struct vprof_kernel_event *events,
			 size_t n);

/* In a folder of its own, until the next one is opened. Releases the image; the caller frees the trace. h: end, scope
 * and kinds. */
struct vprof_trace *kernel_image_open(struct kernel_image *image, struct vp_file_header h);

/* For the group of tests: make and remove that folder. */
int kernel_image_setup(void **state);
int kernel_image_teardown(void **state);

#endif
