/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's events and their tables: a trace whose units are the input, or a whole file that is. Whatever they say,
 * events survive encoding, searches find what was read, and the wait-for graph and the paths of requests are built from
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/join/views/views.h"
#include "analysis/latency/annotated_tree.h"
#include "analysis/latency/input/latency_input.h"
#include "analysis/requests/described/describe_requests.h"
#include "analysis/requests/input/socket_input.h"
#include "analysis/waits/describe.h"
#include "analysis/waits/input/annotation_marks.h"
#include "tests/fuzz/fuzz_file.h"
#include "trace/kernel_tables.h"

#define SEQUENCES 5 /* two CPUs, the machine's table, two processes */
#define UNITS_MAX 4000

static unsigned char
	file[sizeof(struct vp_file_header) + SEQUENCES * (sizeof(struct vp_chunk_header) + UNITS_MAX * VP_UNIT_BYTES)];

static size_t make_file(const uint8_t *data, size_t n, int has_windows)
{
	struct vp_file_header h = { .magic = VP_FILE_MAGIC,
				    .version = VP_FORMAT_VERSION,
				    .clock = VP_CLOCK_MONOTONIC,
				    .ns_per_tick = 1,
				    .end_ticks = 1,
				    .n_chunks = SEQUENCES,
				    .kernel_kinds = VP_KERNEL_SOCKETS | VP_KERNEL_STACKS | VP_KERNEL_CALLS |
						    (has_windows ? VP_KERNEL_WINDOWS : 0),
				    .kernel_scope = VP_KERNEL_ALL };
	size_t size = sizeof h;

	memcpy(file, &h, sizeof h);
	for (uint32_t sequence = 0; sequence < SEQUENCES; sequence++) {
		struct vp_chunk_header *c = (void *)(file + size);

		*c = (struct vp_chunk_header){ .magic = VP_CHUNK_MAGIC,
					       .pid = sequence,
					       .tid = sequence,
					       .thread_seq = sequence < 2 ? VP_THREAD_KERNEL : VP_THREAD_KERNEL_TABLE,
					       .process_seq = sequence < 2 ? sequence + 1 : sequence - 1 };
		size += sizeof *c;
		for (size_t at = 0; at + 17 <= n && c->n_bytes < UNITS_MAX * VP_UNIT_BYTES; at += 17) {
			if (data[at] % SEQUENCES != sequence)
				continue;
			memcpy(file + size, data + at + 1, VP_UNIT_BYTES);
			size += VP_UNIT_BYTES;
			c->n_bytes += VP_UNIT_BYTES;
		}
	}
	return size;
}

static void check_event(const struct vprof_kernel_event *e)
{
	struct vprof_kernel_event again;
	struct vp_unit u[VP_KERNEL_UNITS_MAX];
	uint32_t n = vprof_kernel_event_encode(e, u);

	if (!vprof_kernel_event_decode(u, n, e->cpu, &again) || memcmp(e, &again, sizeof again))
		abort();
}

static void check_tables(const struct vprof_kernel_tables *t)
{
	for (size_t i = 1; i < t->devices.n; i++) {
		const struct vprof_kernel_device *d = &t->devices.v[i];

		if (d[-1].source > d->source || (d[-1].source == d->source && d[-1].number > d->number))
			abort();
	}
	for (size_t i = 0; i < t->symbols.n; i++)
		if (!vprof_kernel_symbol_find(t, t->symbols.v[i].address) ||
		    strlen(t->symbols.v[i].name) > VP_STRING_MAX)
			abort();
	for (size_t i = 0; i < t->stacks.n; i++) {
		const struct vprof_kernel_stack *s = &t->stacks.v[i];

		if (!vprof_kernel_stack_find(t, s->id) || s->first + s->n > t->addresses.n ||
		    (s->process != VPROF_NONE && s->process >= t->processes.n))
			abort();
	}
	for (size_t i = 0; i < t->processes.n; i++)
		vprof_kernel_module_find(&t->processes.v[i], UINT64_C(0x400000));
}

static void check_graph(const struct vprof_waits *waits)
{
	const struct vprof_waits_graph *g = &waits->graph;

	for (size_t i = 0; i < g->edges.n; i++) {
		const struct vprof_waits_edge *e = &g->edges.v[i];

		if (e->from >= g->vertices.n || e->to >= g->vertices.n || e->first_reason + e->n_reasons > g->by_edge.n)
			abort();
	}
}

/* What the recorder may have written is a history without contradictions. */
static void check_waits(const struct vprof_trace *t)
{
	struct vprof_waits_options options = vprof_waits_defaults();
	struct vprof_waits_results *results = vprof_waits_results_new();
	struct vprof_waits_input input = { 0 };
	struct vprof_waits waits = { 0 };
	struct vprof_error err = { "" };

	if (!results || vprof_waits_input_kernel(&input, t, 1e9, &err)) {
		vprof_waits_input_release(&input);
		vprof_waits_results_free(results);
		return;
	}
	if (vprof_waits_input_annotate(&input, t, &err) ||
	    vprof_waits_analyze(&waits, &input.history, &options, &err)) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	check_graph(&waits);
	if (vprof_waits_describe(results, &waits, &options, &err))
		abort();
	vprof_waits_release(&waits);
	vprof_waits_input_release(&input);
	vprof_waits_results_free(results);
}

/* Nor does what is joined with them: functions within visits, and tiers without probes. */
static void check_joined(const struct vprof_trace *t, const struct vprof_socket_input *input,
			 const struct vprof_requests *found, struct vprof_requests_results *results)
{
	struct vprof_plan plan = { .root = "" };
	struct vprof_visits_source visits = { t, &plan, input->sources.v[0].host, input->sources.v[0].start_ns };
	struct vprof_source source = { .trace = (struct vprof_trace *)t };
	struct vprof_wake_counts counts;
	struct vprof_error err = { "" };
	size_t n_real;

	if (vprof_functions_of_visits_fill(results, found, &visits, 1, &err))
		abort();
	for (size_t i = 0; i < results->n_opened; i++)
		if (results->opened[i].n_opened && results->opened[i].layer >= results->functions->n_layers)
			abort();
	if (vprof_timeline_build(&source.timeline, t, 1, NULL, NULL, &err))
		return;
	n_real = source.timeline->n_threads;
	if (vprof_wakes_match(source.timeline, &counts, &err) || vprof_tiers_without_probes_add(&source, &err))
		abort();
	for (size_t i = n_real; i < source.timeline->n_threads; i++)
		for (size_t k = 0; k < source.timeline->threads[i].waits.n; k++) {
			const struct vprof_wait *w = &source.timeline->threads[i].waits.v[k];

			if (w->t0 >= w->t1 || (k && w[-1].t1 > w->t0) ||
			    (w->waker != VPROF_NONE && w->waker >= source.timeline->n_threads))
				abort();
		}
	vprof_timeline_free(source.timeline);
}

/* Nor do the paths of requests break, whatever the sends and receives are. */
static void check_requests(const struct vprof_trace *t)
{
	struct vprof_requests_results *results = vprof_requests_results_new();
	struct vprof_socket_input input = { 0 };
	struct vprof_requests found = { 0 };
	struct vprof_error err = { "" };

	if (results && !vprof_socket_input_add(&input, t, &err)) {
		if (vprof_requests_find(&found, &input.history, &err) ||
		    vprof_requests_describe(results, &found, 1, &err)) {
			fprintf(stderr, "%s\n", err.message);
			abort();
		}
		for (size_t i = 0; i < results->n_calls; i++)
			if (results->calls[i].to >= results->n_tiers ||
			    (results->calls[i].from != VPROF_NONE && results->calls[i].from >= results->n_tiers))
				abort();
		check_joined(t, &input, &found, results);
	}
	vprof_requests_release(&found);
	vprof_socket_input_release(&input);
	vprof_requests_results_free(results);
}

/* So is what it says of stacks; and own times add up. */
static void check_latencies(const struct vprof_trace *t)
{
	struct vprof_latency_input in;
	struct vprof_annotated_tree tree = { 0 };
	uint64_t own = 0;

	if (!vprof_latency_input_read(&in, t, NULL)) {
		if (vprof_annotated_tree_build(&tree, &in.history, 1, NULL))
			abort();
		for (size_t i = 0; i < tree.tree.nodes.n; i++)
			own += tree.contexts[i].own_ns;
		if (own != tree.total_ns)
			abort();
		vprof_annotated_tree_release(&tree);
	}
	vprof_latency_input_release(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct vprof_kernel_tables tables;
	struct vprof_kernel_stream *s = NULL;
	struct vprof_kernel_event e;
	struct vprof_error err = { "" };
	struct vprof_trace *t;

	if (!n)
		return 0;
	if (data[0] % 2)
		fuzz_file("records.vpt", file, make_file(data + 1, n - 1, data[0] & 128));
	else
		fuzz_file("records.vpt", data + 1, n - 1);
	if (vprof_trace_open(&t, fuzz_dir(), &err))
		return 0;
	if (vprof_kernel_stream_open(&s, t, &err) || vprof_kernel_tables_read(&tables, t, &err))
		abort();
	while (vprof_kernel_stream_next(s, &e))
		check_event(&e);
	check_tables(&tables);
	vprof_kernel_tables_release(&tables);
	vprof_kernel_stream_close(s);
	check_waits(t);
	check_requests(t);
	check_latencies(t);
	vprof_trace_free(t);
	return 0;
}
