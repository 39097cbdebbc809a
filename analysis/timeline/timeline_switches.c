/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When threads were off-CPU, from the context switches that the kernel reported for each CPU (VP_KIND_SWITCH).
 *
 * A thread is off-CPU from the switch that takes it off a CPU to the one that puts it on one, perhaps another. Nothing
 * is guessed: where switches were lost, off-CPU times that reach into the gap are left out, and what a thread did
 * meanwhile is not known.
 */
#include "analysis/timeline/timeline_switches.h"

#define NEXT_MAX_NS 20000.0 /* a switch from one thread to the next takes less */

/* a context switch: a thread goes on or off a CPU */
struct turn {
	uint64_t t;
	uint32_t tid;
	uint32_t next; /* tid of the thread that was switched in then, 0: none */
	uint8_t flags;
};

/* what happened on some CPU is unknown */
struct gap {
	uint64_t t0, t1;
};

struct life {
	uint32_t tid, thread;
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

static int read_cpu(struct switches *s, const struct vprof_trace_thread *cpu)
{
	double next_max = NEXT_MAX_NS / s->timeline->ns_per_tick;
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	size_t lost = SIZE_MAX; /* turn that the next one may answer: who had the CPU then? */
	uint64_t last_t = 0;
	uint32_t n_units;

	vprof_trace_cursor_init(&cursor, cpu);
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

/* The last gap that touches [t0, t1], or NULL; *first: where the first one begins. */
static const struct gap *touching_gap(const struct switches *s, uint64_t t0, uint64_t t1, uint64_t *first)
{
	size_t last = VPROF_TIME_SEARCH(&s->gaps, t1, 0), i;

	if (!last || s->gaps.v[last - 1].t1 < t0)
		return NULL;
	i = VPROF_TIME_SEARCH(&s->gaps, t0, last);
	if (!i || s->gaps.v[i - 1].t1 < t0)
		i++;
	*first = s->gaps.v[i - 1].t0;
	return &s->gaps.v[last - 1];
}

static int take_lives(struct switches *s)
{
	const struct vprof_timeline *timeline = s->timeline;

	s->lives = malloc((timeline->n_threads + 1) * sizeof *s->lives);
	if (!s->lives)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[i];

		/* A thread need not record anything after its start, nor see its end. */
		s->lives[i] = (struct life){ thr->tid, (uint32_t)i, thr->t_first,
					     !thr->t_exit	       ? UINT64_MAX :
					     thr->t_exit > thr->t_last ? thr->t_exit :
									 thr->t_last };
	}
	qsort(s->lives, timeline->n_threads, sizeof *s->lives, life_order);
	return 0;
}

/* The thread of a tid that lived at some time of [t0, t1], or VPROF_NONE: tids are used again. */
static uint32_t thread_of(const struct switches *s, uint32_t tid, uint64_t t0, uint64_t t1)
{
	const struct life *lives = s->lives; /* the last life of this tid that begins before t1 */
	size_t low = VPROF_BISECT(s->timeline->n_threads, i,
				  lives[i].tid < tid || (lives[i].tid == tid && lives[i].t0 < t1));

	if (!low || s->lives[low - 1].tid != tid || s->lives[low - 1].t1 <= t0)
		return VPROF_NONE;
	return s->lives[low - 1].thread;
}

static int add_off(struct switches *s, const struct turn *out, const struct turn *in)
{
	uint32_t thread = thread_of(s, out->tid, out->t, in->t);
	struct vprof_off_cpu *off_cpu;

	if (thread == VPROF_NONE || in->t <= out->t)
		return 0;
	off_cpu = VPROF_PUSH(&s->timeline->threads[thread].off_cpu);
	if (!off_cpu)
		return VPROF_ERR_NOMEM;
	*off_cpu = (struct vprof_off_cpu){ out->t, in->t, VPROF_NONE, (out->flags & VP_SWITCH_PREEMPTED) != 0 };
	if (out->next && out->next != out->tid)
		off_cpu->by = thread_of(s, out->next, out->t, out->t + 1);
	return 0;
}

/* For all lives of the tid, which is used again, that overlap it. */
static int add_cpu_unknown(struct switches *s, uint32_t tid, uint64_t from, uint64_t to)
{
	size_t low = VPROF_BISECT(s->timeline->n_threads, i, s->lives[i].tid < tid);

	for (; from < to && low < s->timeline->n_threads && s->lives[low].tid == tid; low++) {
		struct vprof_cpu_unknown *u;

		if (s->lives[low].t0 >= to || s->lives[low].t1 <= from)
			continue;
		u = VPROF_PUSH(&s->timeline->threads[s->lives[low].thread].cpu_unknown);
		if (!u)
			return VPROF_ERR_NOMEM;
		*u = (struct vprof_cpu_unknown){ from, to };
	}
	return 0;
}

static int is_turn_out(const struct turn *turn)
{
	return (turn->flags & VP_SWITCH_OUT) != 0;
}

/* What a thread did from one of its turns to the next; NULL: from the begin, or to the end of all time. */
static int add_between(struct switches *s, const struct turn *before, const struct turn *after)
{
	uint32_t tid = before ? before->tid : after->tid;
	uint64_t from = before ? before->t : 0, to = after ? after->t : UINT64_MAX, first;
	int went = before && is_turn_out(before), came = after && !is_turn_out(after);
	const struct gap *gap = touching_gap(s, from, to, &first);

	if (gap) {
		if (!went && first > from)
			from = first;
		return add_cpu_unknown(s, tid, from, !came && gap->t1 < to ? gap->t1 : to);
	}
	if (went && came)
		return add_off(s, before, after);
	return went || came ? add_cpu_unknown(s, tid, from, to) : 0; /* a turn is missing */
}

static int pair_turns(struct switches *s)
{
	const struct turn *v = s->turns.v;

	for (size_t i = 0; i <= s->turns.n; i++) {
		const struct turn *before = i ? &v[i - 1] : NULL, *after = i < s->turns.n ? &v[i] : NULL;

		if (before && after && before->tid == after->tid) {
			if (add_between(s, before, after))
				return VPROF_ERR_NOMEM;
			continue;
		}
		if ((before && add_between(s, before, NULL)) || (after && add_between(s, NULL, after)))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

/* Threads that no CPU ever reported. */
static int find_unseen(struct switches *s)
{
	size_t k = 0;

	for (size_t i = 0; i < s->timeline->n_threads; i++) {
		while (k < s->turns.n && s->turns.v[k].tid < s->lives[i].tid)
			k++;
		if ((k == s->turns.n || s->turns.v[k].tid != s->lives[i].tid) &&
		    (!i || s->lives[i - 1].tid != s->lives[i].tid) &&
		    add_cpu_unknown(s, s->lives[i].tid, 0, UINT64_MAX))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

int vprof_off_cpu_build(struct vprof_timeline *timeline)
{
	const struct vprof_trace *trace = timeline->trace;
	struct switches s = { .timeline = timeline };
	int ret = 0;

	timeline->has_switches = trace->header.has_switches == 1;
	timeline->n_switches_lost = trace->header.n_switches_lost;
	if (!timeline->has_switches)
		return 0;
	for (size_t i = 0; i < trace->n_processors && !ret; i++)
		ret = read_cpu(&s, &trace->processors[i]);
	if (!ret)
		ret = take_lives(&s);
	if (!ret) {
		join_gaps(&s);
		ret = vprof_array_sort(s.turns.v, s.turns.n, sizeof *s.turns.v, turn_order) ? VPROF_ERR_NOMEM :
											      pair_turns(&s);
	}
	if (!ret)
		ret = find_unseen(&s);
	VPROF_ARRAY_RELEASE(&s.turns);
	VPROF_ARRAY_RELEASE(&s.gaps);
	free(s.lives);
	return ret;
}
