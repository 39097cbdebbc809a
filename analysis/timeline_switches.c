/* When threads had no processor, from what the kernel told of each processor (VP_KIND_SWITCH).
 *
 * A thread's time without a processor lies between losing one and gaining one, perhaps another. Nothing is guessed: where
 * switches were lost, times without a processor that reach into the gap are left out.
 */
#include "analysis/timeline.h"

#define NEXT_MAX_NS 20000.0 /* a switch from one thread to the next takes less */

struct turn { /* a thread gained or lost a processor */
	uint64_t t;
	uint32_t tid;
	uint32_t next; /* tid of the thread that gained the processor then, 0: none */
	uint8_t flags;
};

struct gap { /* what happened on some processor is not known */
	uint64_t t0, t1;
};

struct life {
	uint32_t tid, line;
	uint64_t t0, t1;
};

struct switches {
	struct vprof_timeline *timeline;
	VPROF_ARRAY(struct turn) turns; /* by tid, then time */
	VPROF_ARRAY(struct gap) gaps;	/* by t0; joined */
	struct life *lives;		/* [n_threads] by tid, then time */
};

static int turn_order(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

static int gap_order(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->t0 < y->t0 ? -1 : x->t0 > y->t0;
}

static int life_order(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->t0 < y->t0 ? -1 : x->t0 > y->t0;
}

static int read_processor(struct switches *s, const struct vprof_trace_thread *processor)
{
	double next_max = NEXT_MAX_NS / s->timeline->ns_per_tick;
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	size_t lost = SIZE_MAX; /* turn that the next one may answer: who had the processor then? */
	uint64_t last_t = 0;
	uint32_t n_units;

	vprof_trace_cursor_init(&cursor, processor);
	while ((u = vprof_trace_next(&cursor, &n_units))) {
		uint64_t payload = VP_PAYLOAD(u->w);

		if (VP_CODE(u->w) == VP_KIND_SWITCHES_LOST) {
			struct gap *g = VPROF_PUSH(&s->gaps);

			if (!g)
				goto nomem;
			*g = (struct gap){ last_t, u->t };
			lost = SIZE_MAX;
		} else if (VP_CODE(u->w) == VP_KIND_SWITCH) {
			struct turn *turn = VPROF_PUSH(&s->turns);

			if (!turn)
				goto nomem;
			*turn = (struct turn){ u->t, (uint32_t)payload, 0, (uint8_t)VP_SWITCH_FLAGS(payload) };
			if (lost != SIZE_MAX && !(turn->flags & VP_SWITCH_OUT) && u->t >= last_t &&
			    (double)(u->t - last_t) <= next_max)
				s->turns.v[lost].next = turn->tid;
			lost = turn->flags & VP_SWITCH_OUT ? s->turns.n - 1 : SIZE_MAX;
			s->timeline->n_switches++;
		} else {
			continue;
		}
		last_t = u->t;
	}
	return 0;
nomem:
	vprof_trace_cursor_release(&cursor);
	return VPROF_ERR_NOMEM;
}

static void join_gaps(struct switches *s)
{
	size_t n = 0;

	if (!s->gaps.n)
		return;
	qsort(s->gaps.v, s->gaps.n, sizeof *s->gaps.v, gap_order);
	for (size_t i = 1; i < s->gaps.n; i++) {
		if (s->gaps.v[i].t0 > s->gaps.v[n].t1)
			s->gaps.v[++n] = s->gaps.v[i];
		else if (s->gaps.v[i].t1 > s->gaps.v[n].t1)
			s->gaps.v[n].t1 = s->gaps.v[i].t1;
	}
	s->gaps.n = n + 1;
}

static int touches_gap(const struct switches *s, uint64_t t0, uint64_t t1)
{
	size_t i = vprof_time_search(s->gaps.v, sizeof *s->gaps.v, s->gaps.n, t1, 0);

	return i && s->gaps.v[i - 1].t1 >= t0;
}

static int take_lives(struct switches *s)
{
	const struct vprof_timeline *timeline = s->timeline;

	s->lives = malloc((timeline->n_threads + 1) * sizeof *s->lives);
	if (!s->lives)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_line *line = &timeline->threads[i];

		/* A thread need not record anything after its start, nor see its end. */
		s->lives[i] = (struct life){ line->tid, (uint32_t)i, line->t_first,
					     !line->t_exit ? UINT64_MAX : line->t_exit > line->t_last ? line->t_exit :
													line->t_last };
	}
	qsort(s->lives, timeline->n_threads, sizeof *s->lives, life_order);
	return 0;
}

/* The line of a tid that lived at some time of [t0, t1], or VPROF_NONE: tids are used again. */
static uint32_t line_of(const struct switches *s, uint32_t tid, uint64_t t0, uint64_t t1)
{
	size_t low = 0, high = s->timeline->n_threads;

	while (low < high) { /* the last life of this tid that begins before t1 */
		size_t middle = low + (high - low) / 2;
		const struct life *l = &s->lives[middle];

		if (l->tid < tid || (l->tid == tid && l->t0 < t1))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || s->lives[low - 1].tid != tid || s->lives[low - 1].t1 <= t0)
		return VPROF_NONE;
	return s->lives[low - 1].line;
}

static int add_off(struct switches *s, const struct turn *out, const struct turn *in)
{
	uint32_t line = line_of(s, out->tid, out->t, in->t);
	struct vprof_off *off;

	if (line == VPROF_NONE || in->t <= out->t || touches_gap(s, out->t, in->t))
		return 0;
	off = VPROF_PUSH(&s->timeline->threads[line].offs);
	if (!off)
		return VPROF_ERR_NOMEM;
	*off = (struct vprof_off){ out->t, in->t, VPROF_NONE, (out->flags & VP_SWITCH_PREEMPTED) != 0 };
	if (out->next && out->next != out->tid)
		off->by = line_of(s, out->next, out->t, out->t + 1);
	return 0;
}

static int pair_turns(struct switches *s)
{
	for (size_t i = 0; i + 1 < s->turns.n; i++) {
		const struct turn *out = &s->turns.v[i], *in = out + 1;

		if (out->tid == in->tid && (out->flags & VP_SWITCH_OUT) && !(in->flags & VP_SWITCH_OUT) &&
		    add_off(s, out, in))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

int vprof_offs_build(struct vprof_timeline *timeline)
{
	const struct vprof_trace *trace = timeline->trace;
	struct switches s = { .timeline = timeline };
	int ret = 0;

	timeline->has_switches = trace->header.has_switches == 1;
	timeline->n_switches_lost = trace->header.n_switches_lost;
	if (!timeline->has_switches)
		return 0;
	for (size_t i = 0; i < trace->n_processors && !ret; i++)
		ret = read_processor(&s, &trace->processors[i]);
	if (!ret)
		ret = take_lives(&s);
	if (!ret) {
		join_gaps(&s);
		ret = vprof_array_sort(s.turns.v, s.turns.n, sizeof *s.turns.v, turn_order) ? VPROF_ERR_NOMEM : pair_turns(&s);
	}
	VPROF_ARRAY_RELEASE(&s.turns);
	VPROF_ARRAY_RELEASE(&s.gaps);
	free(s.lives);
	return ret;
}
