/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What annotations change in a history: each thread's segments are rewritten in one pass for its spin waits, and in
 * another for its false wake-ups. */
#include "analysis/waits/history/history.h"

typedef VPROF_ARRAY(struct vprof_waits_segment) segment_array;

static int push_part(segment_array *out, const struct vprof_waits_segment *whole, uint64_t from, uint64_t to)
{
	struct vprof_waits_segment *s = from < to ? VPROF_PUSH(out) : NULL;

	if (!s)
		return from < to ? -1 : 0;
	*s = *whole;
	s->from = from;
	s->to = to;
	return 0;
}

/* The wait that takes the place of what the thread was seen doing from..to; one that goes on is made longer. */
static int push_spin(segment_array *out, const struct vprof_waits_mark *m, uint64_t from, uint64_t to)
{
	const struct vprof_waits_segment wait = { .waker = m->waker,
						  .wait_stack = m->stack,
						  .state = VPROF_WAITS_BLOCKED };

	if (out->n && from > m->from && out->v[out->n - 1].to == from && from < to) {
		out->v[out->n - 1].to = to;
		return 0;
	}
	return push_part(out, &wait, from, to);
}

static int apply_spins(segment_array *segments, const struct vprof_waits_mark *marks, size_t n_marks)
{
	segment_array out = { NULL, 0, 0 };
	size_t m = 0;
	int failed = 0;

	for (size_t i = 0; i < segments->n && !failed; i++) {
		const struct vprof_waits_segment *s = &segments->v[i];
		uint64_t t = s->from;

		while (t < s->to && !failed) {
			uint64_t from, to;

			while (m < n_marks && (marks[m].is_false_wake || marks[m].to <= t))
				m++;
			from = m < n_marks && marks[m].from < s->to ? marks[m].from : s->to;
			failed = push_part(&out, s, t, from);
			t = from > t ? from : t;
			if (t == s->to)
				break;
			to = marks[m].to < s->to ? marks[m].to : s->to;
			failed = failed || push_spin(&out, &marks[m], t, to);
			t = to;
		}
	}
	VPROF_ARRAY_RELEASE(segments);
	*segments = out;
	return failed;
}

/* The run that begins at `at`: its end, and whether a wake-up proved false within it. */
static size_t run_end(const segment_array *s, size_t at, const struct vprof_waits_mark *marks, size_t n_marks,
		      size_t *m, int *is_false)
{
	size_t end = at;

	while (end < s->n && s->v[end].state != VPROF_WAITS_BLOCKED &&
	       (end == at || s->v[end - 1].to == s->v[end].from))
		end++;
	*is_false = 0;
	while (*m < n_marks && (!marks[*m].is_false_wake || marks[*m].from < s->v[end - 1].to)) {
		*is_false |= marks[*m].is_false_wake && marks[*m].from >= s->v[at].from;
		++*m;
	}
	return end;
}

static void apply_false_wakes(segment_array *s, const struct vprof_waits_mark *marks, size_t n_marks)
{
	size_t n = 0, m = 0, end;

	for (size_t i = 0; i < s->n; i = end) {
		int is_false = 0;

		end = i + 1;
		if (s->v[i].state != VPROF_WAITS_BLOCKED)
			end = run_end(s, i, marks, n_marks, &m, &is_false);
		if (is_false && n && end < s->n && s->v[n - 1].state == VPROF_WAITS_BLOCKED &&
		    s->v[n - 1].to == s->v[i].from && s->v[end - 1].to == s->v[end].from) {
			s->v[n - 1].to = s->v[end].to;
			s->v[n - 1].waker = s->v[end].waker;
			s->v[n - 1].waker_stack = s->v[end].waker_stack;
			end++;
			continue;
		}
		memmove(s->v + n, s->v + i, (end - i) * sizeof *s->v);
		n += end - i;
	}
	s->n = n;
}

int vprof_waits_history_mark(struct vprof_waits_history *h, const struct vprof_waits_mark *marks, size_t n_marks,
			     struct vprof_error *err)
{
	size_t end;

	for (size_t i = 0; i < n_marks; i = end) {
		segment_array segments;
		int failed;

		for (end = i + 1; end < n_marks && marks[end].thread == marks[i].thread; end++)
			;
		if (marks[i].thread >= h->entities.n)
			continue;
		memcpy(&segments, &h->entities.v[marks[i].thread].segments, sizeof segments);
		failed = apply_spins(&segments, marks + i, end - i);
		apply_false_wakes(&segments, marks + i, end - i);
		memcpy(&h->entities.v[marks[i].thread].segments, &segments, sizeof segments);
		if (failed)
			return vprof_error_no_memory(err);
	}
	return VPROF_OK;
}
