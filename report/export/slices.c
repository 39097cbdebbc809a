/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/slices.h"
#include "analysis/timeline/calls.h"

#define CALLS_BYTES ((size_t)32 << 20)

int vprof_slices_init(struct vprof_slices *s, const struct vprof_trace_part *part)
{
	*s = (struct vprof_slices){ .part = part, .left = part->limit ? 2 * part->limit + 65536 : UINT64_MAX };
	s->calls = vprof_calls_new(part->timeline->n_threads, CALLS_BYTES);
	return s->calls ? 0 : VPROF_ERR_NOMEM;
}

void vprof_slices_release(struct vprof_slices *s)
{
	vprof_calls_free(s->calls);
	VPROF_ARRAY_RELEASE(&s->v);
	VPROF_ARRAY_RELEASE(&s->open);
}

static int add(struct vprof_slices *s, uint64_t t0, uint64_t t1, struct vprof_slice slice)
{
	struct vprof_slice *slot;

	if (!s->left) {
		s->n_left_out++;
		return 0;
	}
	slot = VPROF_PUSH(&s->v);
	if (!slot)
		return VPROF_ERR_NOMEM;
	s->left--;
	slice.low = t0 > s->part->from ? t0 : s->part->from;
	slice.high = t1 < s->part->to ? t1 : s->part->to;
	slice.is_cut = t0 < s->part->from || t1 > s->part->to;
	*slot = slice;
	return 0;
}

static int add_calls(struct vprof_slices *s, uint32_t thread)
{
	struct vprof_stretch stretch;
	int more;

	vprof_stretch_begin(&stretch, s->calls, thread, &s->part->timeline->threads[thread].calls, s->part->from,
			    s->part->to);
	while ((more = vprof_stretch_next(&stretch)) > 0) {
		for (size_t i = stretch.n_kept; i < stretch.n; i++) {
			const struct vprof_stretch_call *c = &stretch.v[i];
			struct vprof_slice slice = { .kind = VPROF_SLICE_CALL,
						     .index = c->code,
						     .is_sampled = c->is_sampled };

			if (add(s, c->low, c->high, slice))
				return VPROF_ERR_NOMEM;
			if (s->v.n && (c->t0 < s->part->from || c->t1 > s->part->to))
				s->v.v[s->v.n - 1].is_cut = 1;
		}
		if (!s->left)
			break;
	}
	return more < 0 ? VPROF_ERR_NOMEM : 0;
}

static int add_waits(struct vprof_slices *s, const struct vprof_thread_timeline *line)
{
	size_t i = vprof_time_search(line->waits.v, sizeof *line->waits.v, line->waits.n, s->part->from, 0);

	for (i = i ? i - 1 : 0; i < line->waits.n && line->waits.v[i].t0 < s->part->to; i++) {
		const struct vprof_wait *w = &line->waits.v[i];

		if (w->t1 > s->part->from &&
		    add(s, w->t0, w->t1, (struct vprof_slice){ .kind = VPROF_SLICE_WAIT, .index = (uint32_t)i }))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int add_preempted(struct vprof_slices *s, const struct vprof_thread_timeline *line)
{
	size_t i = vprof_time_search(line->off_cpu.v, sizeof *line->off_cpu.v, line->off_cpu.n, s->part->from, 0);

	for (i = i ? i - 1 : 0; i < line->off_cpu.n && line->off_cpu.v[i].t0 < s->part->to; i++) {
		const struct vprof_off_cpu *o = &line->off_cpu.v[i];

		if (o->is_preempted && o->t1 > s->part->from &&
		    add(s, o->t0, o->t1, (struct vprof_slice){ .kind = VPROF_SLICE_PREEMPTED, .index = (uint32_t)i }))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

/* Sorted stably: of calls with the same times the outer one was added first. */
static int preorder(const void *a, const void *b)
{
	const struct vprof_slice *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return x->kind - y->kind;
}

static int nest(struct vprof_slices *s)
{
	s->open.n = 0;
	for (size_t i = 0; i < s->v.n; i++) {
		struct vprof_slice *x = &s->v.v[i];
		uint32_t *slot;

		while (s->open.n && s->v.v[s->open.v[s->open.n - 1]].high <= x->low &&
		       (s->v.v[s->open.v[s->open.n - 1]].high < x->low || x->high > x->low))
			s->open.n--;
		if (s->open.n && x->high > s->v.v[s->open.v[s->open.n - 1]].high)
			x->high = s->v.v[s->open.v[s->open.n - 1]].high;
		x->depth = (uint32_t)s->open.n;
		slot = VPROF_PUSH(&s->open);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (uint32_t)i;
	}
	return 0;
}

int vprof_slices_gather(struct vprof_slices *s, uint32_t thread)
{
	const struct vprof_thread_timeline *line = &s->part->timeline->threads[thread];

	s->v.n = 0;
	if (add_calls(s, thread) || add_waits(s, line) || add_preempted(s, line) ||
	    vprof_array_sort(s->v.v, s->v.n, sizeof *s->v.v, preorder))
		return VPROF_ERR_NOMEM;
	return nest(s);
}

int vprof_slices_is_woken(const struct vprof_trace_part *part, const struct vprof_wait *w)
{
	return w->waker < part->timeline->n_threads && w->wake_t >= part->from && w->t1 < part->to &&
	       w->wake_t <= w->t1;
}
