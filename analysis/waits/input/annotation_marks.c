/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of the timeline is the kernel's of the same number whose segments overlap its records. */
#include "analysis/waits/input/annotation_marks.h"

#include "analysis/timeline/edges/wakes.h"
#include "common/radix.h"
#include "common/search.h"

struct marking {
	struct vprof_waits_input *input;
	struct vprof_timeline *timeline;
	uint32_t *entity; /* [n threads of the timeline] VPROF_NONE: the kernel has none */
	uint32_t *stack;  /* [n_names] number of the stack that stands for a name of spin waits; 0: none yet */
	VPROF_ARRAY(struct vprof_waits_mark) marks;
};

static uint64_t to_ns(const struct marking *m, uint64_t ticks)
{
	return vprof_waits_time(vprof_trace_ns(m->timeline->trace, ticks));
}

static int overlaps(const struct vprof_waits_entity *e, uint64_t from, uint64_t to)
{
	return e->kind == VPROF_WAITS_THREAD && e->segments.n && e->segments.v[0].from <= to &&
	       e->segments.v[e->segments.n - 1].to >= from;
}

static int find_entities(struct marking *m)
{
	const struct vprof_waits_history *h = &m->input->history;
	VPROF_ARRAY(struct vprof_keyed) by_tid = { NULL, 0, 0 };
	int ret = VPROF_RESERVE(&by_tid, h->entities.n + 1) ? VPROF_ERR_NOMEM : VPROF_OK;

	for (uint32_t i = 0; i < h->entities.n && !ret; i++)
		by_tid.v[by_tid.n++] = (struct vprof_keyed){ h->entities.v[i].tid, i };
	ret = ret ? ret : vprof_radix_sort(by_tid.v, by_tid.n);
	for (size_t t = 0; t < m->timeline->n_threads && !ret; t++) {
		const struct vprof_thread_timeline *thr = &m->timeline->threads[t];
		uint64_t from = to_ns(m, thr->t_first), to = to_ns(m, thr->t_last);
		size_t at = VPROF_BISECT(by_tid.n, i, by_tid.v[i].key < thr->tid);

		m->entity[t] = VPROF_NONE;
		for (; at < by_tid.n && by_tid.v[at].key == thr->tid && m->entity[t] == VPROF_NONE; at++)
			if (overlaps(&h->entities.v[by_tid.v[at].item], from, to))
				m->entity[t] = by_tid.v[at].item;
	}
	VPROF_ARRAY_RELEASE(&by_tid);
	return ret;
}

static int add_mark(struct marking *m, const struct vprof_waits_mark *mark)
{
	struct vprof_waits_mark *added = VPROF_PUSH(&m->marks);

	if (added)
		*added = *mark;
	return added ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Matching makes one wait of the two around a false wake-up: so this comes before. The thread found out after the
 * first.
 */
static int add_false_wakes(struct marking *m)
{
	int ret = VPROF_OK;

	for (size_t t = 0; t < m->timeline->n_threads; t++) {
		const struct vprof_thread_timeline *thr = &m->timeline->threads[t];

		for (size_t i = 1; i < thr->waits.n && !ret && m->entity[t] != VPROF_NONE; i++) {
			uint64_t at = to_ns(m, thr->waits.v[i - 1].t1);

			if (thr->waits.v[i].goes_on)
				ret = add_mark(m, &(struct vprof_waits_mark){ .from = at,
									      .to = at,
									      .thread = m->entity[t],
									      .waker = VPROF_NONE,
									      .is_false_wake = 1 });
		}
	}
	return ret;
}

static int add_spin(struct marking *m, size_t thread, const struct vprof_wait *w)
{
	int has_waker = w->waker != VPROF_NONE && w->waker < m->timeline->n_threads;
	struct vprof_waits_mark mark = { .from = to_ns(m, w->t0),
					 .to = to_ns(m, has_waker ? w->wake_t : w->t1),
					 .thread = m->entity[thread],
					 .waker = has_waker ? m->entity[w->waker] : VPROF_NONE };

	if (mark.waker == mark.thread)
		mark.waker = VPROF_NONE;
	if (w->name < m->timeline->n_names) {
		if (vprof_waits_input_stack_of_name(m->input, m->timeline->names[w->name], &m->stack[w->name]))
			return VPROF_ERR_NOMEM;
		mark.stack = m->stack[w->name];
	}
	return mark.from < mark.to ? add_mark(m, &mark) : VPROF_OK;
}

static int add_spins(struct marking *m)
{
	for (size_t t = 0; t < m->timeline->n_threads; t++) {
		const struct vprof_thread_timeline *thr = &m->timeline->threads[t];

		for (size_t i = 0; i < thr->waits.n && m->entity[t] != VPROF_NONE; i++)
			if (thr->waits.v[i].kind == VP_WAIT_SPIN && add_spin(m, t, &thr->waits.v[i]))
				return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct vprof_waits_mark *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int apply(struct marking *m, struct vprof_error *err)
{
	if (!m->marks.n)
		return VPROF_OK;
	if (vprof_array_sort(m->marks.v, m->marks.n, sizeof *m->marks.v, by_thread_and_time))
		return vprof_error_no_memory(err);
	return vprof_waits_history_mark(&m->input->history, m->marks.v, m->marks.n, err);
}

int vprof_waits_input_annotate(struct vprof_waits_input *input, const struct vprof_trace *trace,
			       struct vprof_error *err)
{
	struct marking m = { .input = input };
	struct vprof_wake_counts counts;
	int ret;

	if (!trace->n_threads)
		return VPROF_OK;
	ret = vprof_timeline_build(&m.timeline, trace, 0, NULL, NULL, err);
	if (ret)
		return ret;
	m.entity = malloc((m.timeline->n_threads + 1) * sizeof *m.entity);
	m.stack = calloc(m.timeline->n_names + 1, sizeof *m.stack);
	if (!m.entity || !m.stack || find_entities(&m) || add_false_wakes(&m))
		ret = vprof_error_no_memory(err);
	if (!ret)
		ret = vprof_wakes_match(m.timeline, &counts, err);
	if (!ret && add_spins(&m))
		ret = vprof_error_no_memory(err);
	if (!ret)
		ret = apply(&m, err);
	free(m.entity);
	free(m.stack);
	VPROF_ARRAY_RELEASE(&m.marks);
	vprof_timeline_free(m.timeline);
	return ret;
}
