/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/fuzz_made_trace.h"

#include <string.h>

#include "tests/fuzz/fuzz_file.h"

#define THREADS 8
#define UNITS_MAX 4000

static unsigned char file[sizeof(struct vp_file_header) + THREADS * (sizeof(struct vp_chunk_header) + UNITS_MAX * 16)];

struct vp_file_header fuzz_trace_header(uint32_t n_chunks)
{
	return (struct vp_file_header){ .magic = VP_FILE_MAGIC,
					.version = VP_FORMAT_VERSION,
					.clock = VP_CLOCK_MONOTONIC,
					.ns_per_tick = 1,
					.start_ticks = 1,
					.start_ns = 1,
					.end_ticks = 1u << 30,
					.end_ns = 1u << 30,
					.n_chunks = n_chunks,
					.has_switches = 1 };
}

static size_t make_file(const uint8_t *data, size_t n)
{
	struct vp_file_header h = fuzz_trace_header(THREADS);
	size_t size = sizeof h;

	memcpy(file, &h, sizeof h);
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		struct vp_chunk_header *c = (void *)(file + size);

		/* The last two are a processor's and the recording windows'. Two processes share the others. */
		*c = (struct vp_chunk_header){ .magic = VP_CHUNK_MAGIC,
					       .pid = 1 + thread % 2,
					       .tid = thread + 1,
					       .thread_seq = thread == 7 ? VP_THREAD_WINDOWS :
							     thread == 6 ? VP_THREAD_PROCESSOR :
									   thread + 1,
					       .process_seq = thread >= 6 ? 1 : 1 + thread % 2 };
		size += sizeof *c;
		for (size_t at = 0; at + 17 <= n && c->n_bytes < UNITS_MAX * 16; at += 17) {
			if (data[at] % THREADS != thread)
				continue;
			memcpy(file + size, data + at + 1, 16);
			size += 16;
			c->n_bytes += 16;
		}
		if (thread == 7 && !c->n_bytes) /* no windows: all calls are recorded */
			size -= sizeof *c;
	}
	return size;
}

struct vprof_plan *fuzz_make_plan(void)
{
	struct vprof_plan *plan = vprof_plan_new("/");
	char name[8] = "f0";

	for (uint32_t i = 0; plan && i < 8; i++) {
		name[1] = (char)('0' + i);
		vprof_plan_add(plan, &(struct vprof_probe){ .code = VP_CODE_FUNCTION + i,
							    .kind = VPROF_PROBE_FUNCTION,
							    .fact_id = i,
							    .mask = VPROF_MASK_ANY,
							    .context = VPROF_CONTEXT_FIRST,
							    .broken_down = i % 2,
							    .height = 8 - i,
							    .n_children = 2,
							    .name = name,
							    .display = name,
							    .file = "f.c",
							    .line = 1,
							    .caller = "" });
	}
	return plan;
}

void fuzz_make_trace(const uint8_t *data, size_t n)
{
	if (data[0] % 2)
		fuzz_file("records.vpt", file, make_file(data + 1, n - 1));
	else
		fuzz_file("records.vpt", data + 1, n - 1);
}
