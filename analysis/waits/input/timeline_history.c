/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each thread's waits and off-CPU intervals, merged: a wait for another thread is blocked until its wake-up, then
 * runnable; any other time is running but where the thread was off-CPU, blocked there if it did not want the CPU. */
#include "analysis/waits/input/timeline_history.h"

#include <stdio.h>
#include <string.h>

#include "analysis/timeline/edges/thread_roles.h"
#include "analysis/timeline/edges/thread_starts.h"

enum other { DISK, TIMER, OUTSIDE, N_OTHER }; /* entities beside threads, behind them */

struct drawing {
	struct vprof_waits_input *input;
	const struct vprof_timeline *timeline;
	uint32_t *stack_of; /* [n_names] number of the stack that stands for a name of waits; 0: none yet */
	uint32_t thread;
	size_t off_cpu; /* next of the thread */
	uint64_t end;	/* ns: up to where the thread has segments */
};

/* what ended a blocked stretch */
struct cause {
	uint32_t waker, stack;
	int is_disk;
};

static const struct cause no_cause = { VPROF_NONE, 0, 0 };

static uint64_t to_ns(const struct drawing *d, uint64_t ticks)
{
	return vprof_waits_time(vprof_trace_ns(d->timeline->trace, ticks));
}

static uint32_t other(const struct drawing *d, enum other which)
{
	return (uint32_t)d->timeline->n_threads + which;
}

static int draw(struct drawing *d, uint64_t from_ticks, uint64_t to_ticks, int state, struct cause cause)
{
	struct vprof_waits_entity *e = &d->input->history.entities.v[d->thread];
	uint64_t from = to_ns(d, from_ticks), to = to_ns(d, to_ticks);
	struct vprof_waits_segment *s = e->segments.n ? &e->segments.v[e->segments.n - 1] : NULL;

	from = from > d->end ? from : d->end;
	if (from >= to)
		return VPROF_OK;
	d->end = to;
	if (s && s->to == from && s->state == state && state != VPROF_WAITS_BLOCKED) {
		s->to = to;
		return VPROF_OK;
	}
	s = VPROF_PUSH(&e->segments);
	if (!s)
		return VPROF_ERR_NOMEM;
	*s = (struct vprof_waits_segment){ .from = from,
					   .to = to,
					   .waker = cause.waker == d->thread ? VPROF_NONE : cause.waker,
					   .wait_stack = cause.stack,
					   .state = (uint8_t)state };
	if (cause.is_disk) {
		struct vprof_waits_request *r = VPROF_PUSH(&d->input->history.requests);

		if (!r)
			return VPROF_ERR_NOMEM;
		*r = (struct vprof_waits_request){ from, to, 0, other(d, DISK), d->thread };
	}
	return VPROF_OK;
}

/* A stretch in which the thread waited for no other thread: `cause` is what it waited for where it was blocked. */
static int draw_awake(struct drawing *d, uint64_t from, uint64_t to, struct cause cause)
{
	const struct vprof_thread_timeline *thr = &d->timeline->threads[d->thread];
	int ret = VPROF_OK;

	while (d->off_cpu < thr->off_cpu.n && thr->off_cpu.v[d->off_cpu].t1 <= from)
		d->off_cpu++;
	for (size_t i = d->off_cpu; i < thr->off_cpu.n && thr->off_cpu.v[i].t0 < to && !ret; i++) {
		const struct vprof_off_cpu *off = &thr->off_cpu.v[i];
		uint64_t a = off->t0 > from ? off->t0 : from, b = off->t1 < to ? off->t1 : to;

		ret = draw(d, from, a, VPROF_WAITS_RUNNING, no_cause);
		ret = ret ? ret :
			    draw(d, a, b, off->is_preempted ? VPROF_WAITS_RUNNABLE : VPROF_WAITS_BLOCKED,
				 off->is_preempted ? no_cause : cause);
		from = b;
	}
	return ret ? ret : draw(d, from, to, VPROF_WAITS_RUNNING, no_cause);
}

static struct cause cause_of(const struct drawing *d, const struct vprof_wait *w)
{
	struct cause cause = no_cause;

	if (w->flags & VP_FLAG_TIMEOUT || w->kind == VP_WAIT_SLEEP)
		cause.waker = other(d, TIMER);
	else if (w->kind == VP_WAIT_DISK)
		cause = (struct cause){ other(d, DISK), 0, 1 };
	else if ((w->kind == VP_WAIT_SOCKET || w->kind == VP_WAIT_PIPE || w->kind == VP_WAIT_POLL) &&
		 !(w->flags & VPROF_WAIT_UNDECIDED))
		cause.waker = other(d, OUTSIDE);
	return cause;
}

static int draw_wait(struct drawing *d, const struct vprof_wait *w)
{
	struct cause cause = cause_of(d, w);
	int is_io = w->kind >= VP_WAIT_DISK && w->kind <= VP_WAIT_POLL, ret;

	d->input->n_events++;
	if (w->name < d->timeline->n_names) {
		if (vprof_waits_input_stack_of_name(d->input, d->timeline->names[w->name], &d->stack_of[w->name]))
			return VPROF_ERR_NOMEM;
		cause.stack = d->stack_of[w->name];
	}
	if (w->waker != VPROF_NONE && w->waker < d->timeline->n_threads) {
		cause.waker = w->waker;
		cause.is_disk = 0;
		ret = draw(d, w->t0, w->wake_t, VPROF_WAITS_BLOCKED, cause);
		return ret ? ret : draw(d, w->wake_t, w->t1, VPROF_WAITS_RUNNABLE, no_cause);
	}
	if (w->flags & VPROF_WAIT_READY)
		return draw_awake(d, w->t0, w->t1, no_cause);
	if (is_io && d->timeline->has_switches)
		return draw_awake(d, w->t0, w->t1, cause);
	return draw(d, w->t0, w->t1, VPROF_WAITS_BLOCKED, cause);
}

static int draw_thread(struct drawing *d)
{
	const struct vprof_thread_timeline *thr = &d->timeline->threads[d->thread];
	uint64_t t = thr->t_first;
	int ret = VPROF_OK;

	d->off_cpu = 0;
	d->end = d->input->history.begin;
	for (size_t i = 0; i < thr->waits.n && !ret; i++) {
		const struct vprof_wait *w = &thr->waits.v[i];

		ret = draw_awake(d, t, w->t0 > t ? w->t0 : t, no_cause);
		ret = ret ? ret : draw_wait(d, w);
		t = w->t1 > t ? w->t1 : t;
	}
	return ret ? ret : draw_awake(d, t, thr->t_last > t ? thr->t_last : t, no_cause);
}

#define NAMELESS "thread"

/* The outermost function of the program that was seen on its stacks. */
static int name_thread(struct drawing *d, uint32_t thread, struct vprof_symbols *symbols, struct vprof_waits_entity *e)
{
	const char *role = e->tid == e->pid ? NULL : vprof_thread_role(d->timeline, thread, symbols);

	e->name = e->tid == e->pid ? "main thread" : role ? vprof_strings_keep(&d->input->strings, role) : NAMELESS;
	return e->name ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Threads first, by their numbers in the timeline, then what is none. */
static int add_entities(struct drawing *d, struct vprof_symbols *symbols)
{
	static const struct {
		uint8_t kind;
		const char *name;
	} others[N_OTHER] = {
		[DISK] = { VPROF_WAITS_DISK, "disk (files)" },
		[TIMER] = { VPROF_WAITS_TIMER, "timer" },
		[OUTSIDE] = { VPROF_WAITS_OUTSIDE, "outside (sockets, pipes)" },
	};
	struct vprof_waits_history *h = &d->input->history;

	for (size_t i = 0; i < d->timeline->n_threads + N_OTHER; i++) {
		struct vprof_waits_entity *e = VPROF_PUSH(&h->entities);

		if (!e)
			return VPROF_ERR_NOMEM;
		e->creator = VPROF_NONE;
		e->born = h->begin;
		e->ended = h->end;
		if (i >= d->timeline->n_threads) {
			e->kind = others[i - d->timeline->n_threads].kind;
			e->name = others[i - d->timeline->n_threads].name;
			continue;
		}
		e->tid = d->timeline->threads[i].tid;
		e->pid = d->timeline->threads[i].pid;
		if (name_thread(d, (uint32_t)i, symbols, e))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* A thread of which no stack was seen is at least known by whom it was made. */
static int name_by_creator(struct drawing *d)
{
	struct vprof_waits_entity *entities = d->input->history.entities.v;

	for (uint32_t i = 0; i < d->timeline->n_threads; i++) {
		struct vprof_waits_entity *e = &entities[i];
		const char *creator = e->creator == VPROF_NONE ? "" : entities[e->creator].name;
		char name[160];

		if (strcmp(e->name, NAMELESS) || !*creator || !strncmp(creator, NAMELESS, strlen(NAMELESS)))
			continue;
		snprintf(name, sizeof name, NAMELESS " of %.120s", creator);
		e->name = vprof_strings_keep(&d->input->strings, name);
		if (!e->name)
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

static int find_creators(struct drawing *d)
{
	struct vprof_thread_starts starts = { { NULL, 0, 0 }, NULL };
	int ret = vprof_thread_starts_find(&starts, d->timeline);

	for (uint32_t i = 0; i < d->timeline->n_threads && !ret; i++) {
		const struct vprof_thread_timeline *thr = &d->timeline->threads[i];

		for (size_t k = 0; k < thr->creations.n; k++) {
			uint32_t made = vprof_thread_starts_of(&starts, thr->creations.v[k].token);
			struct vprof_waits_entity *e = &d->input->history.entities.v[made == VPROF_NONE ? 0 : made];

			if (made == VPROF_NONE || made == i || thr->creations.v[k].is_process)
				continue;
			e->creator = i;
			e->born = to_ns(d, d->timeline->threads[made].t_first);
			if (d->timeline->threads[made].t_exit)
				e->ended = to_ns(d, d->timeline->threads[made].t_last);
		}
	}
	vprof_thread_starts_release(&starts);
	return ret ? ret : name_by_creator(d);
}

int vprof_waits_input_timeline(struct vprof_waits_input *input, const struct vprof_timeline *timeline,
			       struct vprof_error *err)
{
	struct drawing d = { .input = input, .timeline = timeline };
	struct vprof_symbols *symbols;
	int ret;

	memset(input, 0, sizeof *input);
	if (!timeline->n_threads || timeline->n_threads >= VPROF_NONE - N_OTHER)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "the trace has no threads: record a run with vprof run, or with vprof record");
	input->history.begin = to_ns(&d, timeline->t_first);
	input->history.end = to_ns(&d, timeline->t_last);
	input->n_lost = timeline->n_dropped_marks + timeline->trace->n_dropped;
	input->missing = timeline->has_switches ?
				 "" :
				 "context switches: waits that the wrappers do not see, and runnable threads";
	d.stack_of = calloc(timeline->n_names + 1, sizeof *d.stack_of);
	symbols = vprof_symbols_new(timeline);
	ret = d.stack_of && symbols && vprof_waits_input_add_stack(input, 0, "") != VPROF_NONE ?
		      add_entities(&d, symbols) :
		      VPROF_ERR_NOMEM;
	ret = ret ? ret : find_creators(&d);
	for (d.thread = 0; d.thread < timeline->n_threads && !ret; d.thread++)
		ret = draw_thread(&d);
	free(d.stack_of);
	vprof_symbols_free(symbols);
	return ret ? vprof_error_set(err, ret, "not enough memory for the waits: record a shorter run") : VPROF_OK;
}
