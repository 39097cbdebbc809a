/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two hosts' traces, which have exchanged messages and of which the rest is anything: what they are joined to must be a
 * trace, and be analysed. The first 24 bytes are the second host's clock rate and start (ticks and ns); the rest is
 * items of 17 bytes, each a host and thread and one unit of its records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/analyze.h"
#include "common/files.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_made_trace.h"
#include "trace/join/join.h"
#include "trace/reader.h"

#define HOSTS 2
#define THREADS 3 /* of a host; the last one is a CPU */
#define UNITS_MAX 2000
#define THERE (8u | VP_CHANNEL_BETWEEN_HOSTS)
#define BACK (16u | VP_CHANNEL_BETWEEN_HOSTS)

static _Alignas(16) unsigned char file[sizeof(struct vp_file_header) +
				       THREADS * (sizeof(struct vp_chunk_header) + UNITS_MAX * 16)];

static size_t add_move(size_t size, struct vp_chunk_header *c, enum vp_kind kind, uint64_t t, uint64_t channel,
		       uint64_t n)
{
	const struct vp_unit units[2] = { { t, VP_W(kind, 0) }, { channel, n } };

	memcpy(file + size, units, sizeof units);
	c->n_bytes += sizeof units;
	return size + sizeof units;
}

/* Three requests and replies. */
static size_t add_messages(size_t size, struct vp_chunk_header *c, int host, uint64_t start)
{
	if (!host) {
		size = add_move(size, c, VP_KIND_SEND, start + 1, THERE, 0);
		size = add_move(size, c, VP_KIND_SEND, start + 1, BACK, 0);
	}
	for (uint64_t i = 1; i <= 3; i++) {
		uint64_t t = start + 1000 * i;

		size = add_move(size, c, host ? VP_KIND_RECEIVE : VP_KIND_SEND, t + (host ? 100 : 0), THERE, 4);
		size = add_move(size, c, host ? VP_KIND_SEND : VP_KIND_RECEIVE, t + (host ? 200 : 300), BACK, 4);
	}
	return size;
}

static size_t make_host(int host, const uint8_t *data, size_t n)
{
	struct vp_file_header h = fuzz_trace_header(THREADS);
	size_t size = sizeof h;

	if (host) {
		memcpy(&h.ns_per_tick, data, 8);
		memcpy(&h.start_ticks, data + 8, 8);
		memcpy(&h.start_ns, data + 16, 8);
	}
	memcpy(file, &h, sizeof h);
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		struct vp_chunk_header *c = (void *)(file + size);

		*c = (struct vp_chunk_header){ .magic = VP_CHUNK_MAGIC,
					       .pid = 1,
					       .tid = thread + 1,
					       .thread_seq = thread == THREADS - 1 ? VP_THREAD_PROCESSOR : thread + 1,
					       .process_seq = 1 };
		size += sizeof *c;
		if (!thread)
			size = add_messages(size, c, host, h.start_ticks);
		for (size_t at = 24; at + 17 <= n && c->n_bytes < (UNITS_MAX - 1) * 16; at += 17) {
			if (data[at] % (HOSTS * THREADS) != (uint32_t)host * THREADS + thread)
				continue;
			memcpy(file + size, data + at + 1, 16);
			size += 16;
			c->n_bytes += 16;
		}
	}
	return size;
}

static char *folder(const char *name)
{
	char *path = vprof_path_join(fuzz_dir(), name);

	if (!path)
		abort();
	mkdir(path, 0700);
	return path;
}

static void analyse(const char *dir)
{
	static struct vprof_plan *plan;
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };

	plan = plan ? plan : fuzz_make_plan();
	if (!vprof_analyze(&r,
			   &(struct vprof_analyze_options){
				   .trace_dir = dir, .plan = plan, .k = 3, .min_intervals = 2, .n_threads = 1 },
			   &err))
		vprof_results_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char *dirs[HOSTS], *out;
	struct vprof_joined joined;
	struct vprof_trace *trace;
	struct vprof_error err = { "" };

	if (n < 24)
		return 0;
	if (!out) {
		dirs[0] = folder("a");
		dirs[1] = folder("b");
		out = folder("out");
	}
	fuzz_file("a/records.vpt", file, make_host(0, data, n));
	fuzz_file("b/records.vpt", file, make_host(1, data, n));
	if (!vprof_trace_join(&joined, out, (const char *const *)dirs, HOSTS, &err)) {
		if (vprof_trace_open(&trace, out, &err)) {
			fprintf(stderr, "%s\n", err.message);
			abort();
		}
		vprof_trace_free(trace);
		analyse(out);
	}
	vprof_joined_release(&joined);
	return 0;
}
