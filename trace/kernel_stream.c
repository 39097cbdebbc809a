/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges the CPUs' events by time: a binary heap of one record for each CPU, of which an event is made when its turn
 * comes. Within a CPU the order of the file stays, whatever a damaged file says of the times.
 */
#include <stdlib.h>

#include "trace/kernel_events.h"

struct source {
	struct vprof_trace_cursor cursor;
	const struct vp_unit *next;
	uint32_t n_units, cpu;
};

struct place { /* of a source, by its next record */
	uint64_t t;
	uint32_t source;
};

struct vprof_kernel_stream {
	size_t n, n_open;   /* sources; heap[0 .. n_open) are those that have an event */
	struct place *heap; /* [2 * n + 2] what is not open comes last of all */
	struct source *sources;
};

static const struct place last_of_all = { UINT64_MAX, UINT32_MAX };

/* Without a branch for the times, which nobody can foresee; they are hardly ever the same. */
static int comes_before(const struct place *a, const struct place *b)
{
	return __builtin_expect(a->t == b->t, 0) ? a->source < b->source : a->t < b->t;
}

/* Places `x` in the heap at `at` or deeper. */
static void sink(struct vprof_kernel_stream *s, size_t at, struct place x)
{
	for (size_t child; (child = 2 * at + 1) < s->n_open; at = child) {
		child += (size_t)comes_before(&s->heap[child + 1], &s->heap[child]);
		if (!comes_before(&s->heap[child], &x))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = x;
}

static int advance(struct source *source)
{
	while ((source->next = vprof_trace_next(&source->cursor, &source->n_units)))
		if (vprof_kernel_event_is(source->next, source->n_units))
			return 1;
	return 0;
}

int vprof_kernel_stream_open(struct vprof_kernel_stream **out, const struct vprof_trace *trace, struct vprof_error *err)
{
	struct vprof_kernel_stream *s = calloc(1, sizeof *s);

	*out = NULL;
	if (s) {
		s->heap = calloc(2 * trace->n_kernel + 2, sizeof *s->heap);
		s->sources = calloc(trace->n_kernel + 1, sizeof *s->sources);
	}
	if (!s || !s->heap || !s->sources) {
		vprof_kernel_stream_close(s);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the kernel's events of %zu CPUs",
				       trace->n_kernel);
	}
	for (size_t i = 0; i < 2 * trace->n_kernel + 2; i++)
		s->heap[i] = last_of_all;
	for (; s->n < trace->n_kernel; s->n++) {
		struct source *source = &s->sources[s->n];

		vprof_trace_cursor_init(&source->cursor, &trace->kernel[s->n]);
		source->cpu = trace->kernel[s->n].tid;
		if (advance(source))
			s->heap[s->n_open++] = (struct place){ source->next->t, (uint32_t)s->n };
	}
	for (size_t at = s->n_open / 2; at-- > 0;)
		sink(s, at, s->heap[at]);
	*out = s;
	return VPROF_OK;
}

int vprof_kernel_stream_next(struct vprof_kernel_stream *s, struct vprof_kernel_event *e)
{
	struct source *source;
	struct place first;

	if (!s->n_open)
		return 0;
	first = s->heap[0];
	source = &s->sources[first.source];
	vprof_kernel_event_decode(source->next, source->n_units, source->cpu, e);
	if (advance(source)) {
		first.t = source->next->t;
	} else {
		first = s->heap[--s->n_open];
		s->heap[s->n_open] = last_of_all;
	}
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
