/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discovery run's recording: the input's first byte says how the chunk's size is told, the rest is its entries. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/flows/flow_pairs.h"
#include "analysis/flows/flow_places.h"
#include "analysis/flows/flow_requests.h"
#include "analysis/flows/flow_verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Without the modules that the input names: their symbols are other files. */
static void find_requests(struct vprof_flow_trace *t)
{
	struct vprof_flow_places places = { .trace = t };
	struct vprof_flow_requests requests;
	struct vprof_arena arena = { 0 };
	size_t n_modules = t->modules.n;

	t->modules.n = 0;
	vprof_flow_requests_find(&requests, t, &places, &arena, NULL);
	t->modules.n = n_modules;
	vprof_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = VPROF_FLOW_HEADER_BYTES + VPROF_FLOW_CHUNK_BYTES, room = VPROF_FLOW_CHUNK_BYTES;
	unsigned char *file = calloc(1, n);
	struct vprof_flow_header *header = (void *)file;
	struct vprof_flow_chunk *chunk = (void *)(file + VPROF_FLOW_HEADER_BYTES);
	struct vprof_flow_pairs pairs = { 0 };
	struct vprof_flow_trace t = { 0 };

	room -= sizeof *chunk;
	if (file && size) {
		header->magic = VPROF_FLOW_MAGIC;
		header->version = VPROF_FLOW_VERSION;
		chunk->magic = VPROF_FLOW_CHUNK_MAGIC;
		chunk->n_bytes = data[0] < 0x80 ? size - 1 : (uint64_t)data[0] << 9;
		memcpy(chunk + 1, data + 1, size - 1 < room ? size - 1 : room);
		if (!vprof_flow_trace_add(&t, file, n, 0, "fuzzed", NULL) && !vprof_flow_trace_sort(&t, NULL) &&
		    !vprof_flow_pairs_find(&pairs, &t, NULL, NULL, NULL)) {
			for (size_t i = 0; i < pairs.pairs.n; i++)
				vprof_flow_judge(&pairs.pairs.v[i]);
			find_requests(&t);
		}
	}
	vprof_flow_pairs_release(&pairs);
	vprof_flow_trace_release(&t);
	free(file);
	return 0;
}
