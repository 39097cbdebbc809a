/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges the CPUs' events by time: a binary heap of one event for each CPU. Within a CPU the order of the file stays,
 * whatever a damaged file says of the times.
 */
#include <stdlib.h>

#include "trace/kernel_events.h"

struct source {
	struct vprof_trace_cursor cursor;
	struct vprof_kernel_event next;
};

struct vprof_kernel_stream {
	size_t n, n_open; /* sources; heap[0 .. n_open) are those that have an event */
	uint32_t *heap;
	struct source *sources;
};

static int comes_before(const struct vprof_kernel_stream *s, uint32_t a, uint32_t b)
{
	uint64_t ta = s->sources[a].next.t, tb = s->sources[b].next.t;

	return ta != tb ? ta < tb : a < b;
}

/* Places `x` in the heap at `at` or deeper. */
static void sink(struct vprof_kernel_stream *s, size_t at, uint32_t x)
{
	for (size_t child; (child = 2 * at + 1) < s->n_open; at = child) {
		if (child + 1 < s->n_open && comes_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!comes_before(s, s->heap[child], x))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = x;
}

static int advance(struct source *source)
{
	const struct vp_unit *u;
	uint32_t n;

	while ((u = vprof_trace_next(&source->cursor, &n)))
		if (vprof_kernel_event_decode(u, n, source->cursor.thread->tid, &source->next))
			return 1;
	return 0;
}

int vprof_kernel_stream_open(struct vprof_kernel_stream **out, const struct vprof_trace *trace, struct vprof_error *err)
{
	struct vprof_kernel_stream *s = calloc(1, sizeof *s);

	*out = NULL;
	if (s) {
		s->heap = calloc(trace->n_kernel + 1, sizeof *s->heap);
		s->sources = calloc(trace->n_kernel + 1, sizeof *s->sources);
	}
	if (!s || !s->heap || !s->sources) {
		vprof_kernel_stream_close(s);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the kernel's events of %zu CPUs",
				       trace->n_kernel);
	}
	for (; s->n < trace->n_kernel; s->n++) {
		vprof_trace_cursor_init(&s->sources[s->n].cursor, &trace->kernel[s->n]);
		if (advance(&s->sources[s->n]))
			s->heap[s->n_open++] = (uint32_t)s->n;
	}
	for (size_t at = s->n_open / 2; at-- > 0;)
		sink(s, at, s->heap[at]);
	*out = s;
	return VPROF_OK;
}

int vprof_kernel_stream_next(struct vprof_kernel_stream *s, struct vprof_kernel_event *e)
{
	uint32_t first;

	if (!s->n_open)
		return 0;
	first = s->heap[0];
	*e = s->sources[first].next;
	if (!advance(&s->sources[first]))
		first = s->heap[--s->n_open];
	if (s->n_open)
		sink(s, 0, first);
	return 1;
}

void vprof_kernel_stream_close(struct vprof_kernel_stream *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		vprof_trace_cursor_release(&s->sources[i].cursor);
	free(s->heap);
	free(s->sources);
	free(s);
}
