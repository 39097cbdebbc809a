/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/files.h"

static char folder[] = "/tmp/vprof-kernel-image-XXXXXX";

static void add_bytes(struct kernel_image *image, const void *bytes, size_t n)
{
	assert_int_equal(VPROF_ROOM(&image->bytes, image->bytes.n + n), 0);
	memcpy(image->bytes.v + image->bytes.n, bytes, n);
	image->bytes.n += n;
}

void kernel_image_chunk(struct kernel_image *image, struct vp_chunk_header h, const struct vp_unit *units, size_t n)
{
	h.magic = VP_CHUNK_MAGIC;
	h.n_bytes = (uint32_t)(n * VP_UNIT_BYTES);
	h.chunk_seq = (uint32_t)image->n_chunks++;
	add_bytes(image, &h, sizeof h);
	add_bytes(image, units, n * sizeof *units);
}

void kernel_image_events(struct kernel_image *image, struct vp_chunk_header h, const struct vprof_kernel_event *events,
			 size_t n)
{
	struct vp_unit units[256];
	size_t n_units = 0;

	for (size_t i = 0; i < n; i++)
		n_units += vprof_kernel_event_encode(&events[i], units + n_units);
	assert_true(n_units <= 256);
	kernel_image_chunk(image, h, units, n_units);
}

struct vprof_trace *kernel_image_open(struct kernel_image *image, struct vp_file_header h)
{
	char *path = vprof_path_join(folder, "records.vpt");
	struct kernel_image file = { .n_chunks = 0 };
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	h.magic = VP_FILE_MAGIC;
	h.version = VP_FORMAT_VERSION;
	h.clock = VP_CLOCK_MONOTONIC;
	h.ns_per_tick = 1;
	h.start_ticks = 1;
	h.n_chunks = image->n_chunks;
	add_bytes(&file, &h, sizeof h);
	add_bytes(&file, image->bytes.v, image->bytes.n);
	assert_int_equal(vprof_file_write(path, (char *)file.bytes.v, file.bytes.n, &err), 0);
	free(path);
	VPROF_ARRAY_RELEASE(&file.bytes);
	VPROF_ARRAY_RELEASE(&image->bytes);
	if (vprof_trace_open(&t, folder, &err))
		fail_msg("%s", err.message);
	return t;
}

int kernel_image_setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

int kernel_image_teardown(void **state)
{
	char *path = vprof_path_join(folder, "records.vpt");

	(void)state;
	remove(path);
	remove(folder);
	free(path);
	return 0;
}
