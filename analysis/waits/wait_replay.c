/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discrete-event simulation. Each thread goes on through its steps until it must wait: for a CPU, for the end of its
 * work, for a wake-up, for a time. Events lie in a heap by time, equal ones in the order in which they were made.
 *
 * A wake-up that comes before the wait is kept: the thread does not wait then. Every other wait ends exactly once: the
 * thread's `turn` rises with each, and what would have ended an earlier one finds another turn and does nothing.
 */
#include "analysis/waits/wait_replay.h"

#define SLICE_NS 3000000      /* that a thread runs while others want its CPU */
#define SLICES_MAX (1u << 19) /* in the recording: of one that lasts longer than 26 minutes, slices are longer */

enum event_kind { EVENT_WORKED, EVENT_READY, EVENT_COMPLETE, EVENT_END };

struct event {
	uint64_t t, order;
	uint32_t item; /* thread, or request of COMPLETE, or wait of END */
	uint32_t turn;
	uint32_t kind;
};

struct thread_state {
	size_t step;
	uint64_t left_ns; /* of a WORK that was cut by the slice */
	uint32_t turn;
	uint32_t wait; /* that it is in, VPROF_NONE: none */
	uint8_t has_cpu, is_queued;
};

struct replay {
	const struct vprof_waits_program *p;
	const struct vprof_waits_change *change;
	struct thread_state *threads;
	unsigned char *is_over; /* [waits] ended, before or after the thread came to it */
	uint64_t *free_at;	/* [entities] of a device: when it can begin the next request */
	uint32_t *queue;	/* [entities] threads that want a CPU, a ring */
	size_t queue_first, n_queued;
	uint32_t n_free; /* CPUs */
	uint64_t slice_ns;
	VPROF_ARRAY(struct event) heap;
	uint64_t now, n_made;
	const unsigned char *counts;
	uint64_t last; /* when counted work was done */
	int failed;
};

static int is_before(const struct event *a, const struct event *b)
{
	return a->t != b->t ? a->t < b->t : a->order < b->order;
}

static void add_event(struct replay *r, uint64_t t, enum event_kind kind, uint32_t item, uint32_t turn)
{
	const struct event e = { t, r->n_made++, item, turn, kind };
	size_t i = r->heap.n;

	if (!VPROF_PUSH(&r->heap)) {
		r->failed = 1;
		return;
	}
	for (; i && is_before(&e, &r->heap.v[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap.v[i] = r->heap.v[(i - 1) / 2];
	r->heap.v[i] = e;
}

static struct event take_event(struct replay *r)
{
	struct event top = r->heap.v[0], last = r->heap.v[--r->heap.n];
	size_t i = 0, n = r->heap.n;

	while (2 * i + 1 < n) {
		size_t child = 2 * i + 1;

		child += child + 1 < n && is_before(&r->heap.v[child + 1], &r->heap.v[child]);
		if (!is_before(&r->heap.v[child], &last))
			break;
		r->heap.v[i] = r->heap.v[child];
		i = child;
	}
	if (n)
		r->heap.v[i] = last;
	return top;
}

static void ready_at(struct replay *r, uint64_t t, uint32_t thread)
{
	add_event(r, t, EVENT_READY, thread, ++r->threads[thread].turn);
}

static void queue_thread(struct replay *r, uint32_t thread)
{
	size_t size = r->p->history->entities.n;

	r->queue[(r->queue_first + r->n_queued++) % size] = thread;
	r->threads[thread].is_queued = 1;
}

/* The thread's current WORK, for a slice or to its end. */
static void run_on_cpu(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];
	uint64_t left = t->left_ns ? t->left_ns : r->p->steps.v[t->step].n;
	uint64_t slice = left > r->slice_ns && r->p->n_cpus ? r->slice_ns : left;

	t->left_ns = left - slice;
	add_event(r, r->now + slice, EVENT_WORKED, thread, ++t->turn);
}

static void give_up_cpu(struct replay *r, uint32_t thread)
{
	size_t size = r->p->history->entities.n;
	uint32_t next;

	if (!r->threads[thread].has_cpu)
		return;
	r->threads[thread].has_cpu = 0;
	if (!r->n_queued) {
		r->n_free++;
		return;
	}
	next = r->queue[r->queue_first];
	r->queue_first = (r->queue_first + 1) % size;
	r->n_queued--;
	r->threads[next].is_queued = 0;
	r->threads[next].has_cpu = 1;
	run_on_cpu(r, next);
}

/* A wait that takes as long as it took: nothing in the replay ends it, or a thread that does not count. That one has a
 * pace of its own, and would hold up who has become faster. */
static int takes_its_time(const struct replay *r, const struct vprof_waits_wait *w)
{
	return w->ended_by == VPROF_WAITS_BY_TIME ||
	       (w->ended_by == VPROF_WAITS_BY_THREAD && r->counts[w->thread] && !r->counts[w->waker]);
}

static void end_wait(struct replay *r, uint32_t wait)
{
	const struct vprof_waits_wait *w = &r->p->waits.v[wait];
	struct thread_state *t = &r->threads[w->thread];

	if (r->is_over[wait])
		return;
	r->is_over[wait] = 1;
	if (t->wait == wait) {
		t->wait = VPROF_NONE;
		ready_at(r, r->now + w->latency_ns, w->thread);
	}
}

static void submit(struct replay *r, uint32_t request)
{
	const struct vprof_waits_service *s = &r->p->requests.v[request];
	uint64_t free_at = r->free_at[s->device] > r->now ? r->free_at[s->device] : r->now;
	uint64_t least = r->now + s->least_ns, t = free_at + s->busy_ns;

	if (r->change->is_saved && s->edge == r->change->edge && s->edge != VPROF_NONE) {
		add_event(r, r->now, EVENT_COMPLETE, request, 0);
		return;
	}
	t = t > least ? t : least;
	r->free_at[s->device] = t;
	add_event(r, t, EVENT_COMPLETE, request, 0);
}

static void complete(struct replay *r, uint32_t request)
{
	const struct vprof_waits_service *s = &r->p->requests.v[request];
	uint32_t thread = r->p->history->requests.v[request].thread;

	if (thread != VPROF_NONE && r->counts[thread] && r->now > r->last)
		r->last = r->now;
	for (uint32_t w = s->first_wait; w != VPROF_NONE; w = r->p->waits.v[w].next)
		add_event(r, r->now + r->p->waits.v[w].extra_ns, EVENT_END, w, 0);
}

/* True when the thread need not wait. */
static int begin_wait(struct replay *r, uint32_t thread, uint32_t wait)
{
	const struct vprof_waits_wait *w = &r->p->waits.v[wait];
	int is_shortened = w->edge == r->change->edge && w->edge != VPROF_NONE;
	uint64_t most = is_shortened ? (uint64_t)((double)w->length_ns * r->change->share) : w->length_ns;

	if (r->is_over[wait] || (is_shortened && !most)) {
		r->is_over[wait] = 1;
		return 1;
	}
	r->threads[thread].wait = wait;
	if (is_shortened || takes_its_time(r, w))
		ready_at(r, r->now + most + w->latency_ns, thread);
	return 0;
}

/* True when the thread goes on at once with the next step. */
static int do_step(struct replay *r, uint32_t thread, const struct vprof_waits_step *s)
{
	struct thread_state *t = &r->threads[thread];

	switch ((enum vprof_waits_step_kind)s->kind) {
	case VPROF_WAITS_WORK:
		if (t->has_cpu || !r->p->n_cpus) {
			run_on_cpu(r, thread);
		} else if (r->n_free) {
			r->n_free--;
			t->has_cpu = 1;
			run_on_cpu(r, thread);
		} else {
			queue_thread(r, thread);
		}
		return 0;
	case VPROF_WAITS_YIELD:
		if (!r->n_queued || !t->has_cpu)
			return 1;
		give_up_cpu(r, thread);
		return 1; /* its next WORK queues it */
	case VPROF_WAITS_PASS:
		give_up_cpu(r, thread);
		ready_at(r, r->now + s->n, thread);
		return 0;
	case VPROF_WAITS_WAKE:
		if (!takes_its_time(r, &r->p->waits.v[s->n]))
			end_wait(r, (uint32_t)s->n);
		return 1;
	case VPROF_WAITS_SUBMIT:
		submit(r, (uint32_t)s->n);
		return 1;
	case VPROF_WAITS_WAIT:
		if (begin_wait(r, thread, (uint32_t)s->n))
			return 1;
		give_up_cpu(r, thread);
		return 0;
	}
	return 1;
}

/* Steps that take time are left behind (t->step goes past them) when their time is over. */
static void go_on(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];
	size_t end = r->p->first[thread + 1];

	while (t->step < end && do_step(r, thread, &r->p->steps.v[t->step]))
		t->step++;
	if (t->step < end)
		return;
	give_up_cpu(r, thread);
	if (r->counts[thread] && r->now > r->last)
		r->last = r->now;
}

static void worked(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];

	if (!t->left_ns) {
		t->step++;
		go_on(r, thread);
	} else if (r->n_queued) {
		give_up_cpu(r, thread);
		queue_thread(r, thread);
	} else {
		run_on_cpu(r, thread);
	}
}

static void ready(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];

	if (t->wait != VPROF_NONE) { /* its time is over before a wake-up came */
		r->is_over[t->wait] = 1;
		t->wait = VPROF_NONE;
	}
	t->step++;
	go_on(r, thread);
}

static void run(struct replay *r)
{
	size_t n = r->p->history->entities.n;

	for (uint32_t e = 0; e < n; e++) {
		r->threads[e].step = r->p->first[e];
		r->threads[e].wait = VPROF_NONE;
	}
	for (uint32_t e = 0; e < n; e++)
		if (r->p->first[e] < r->p->first[e + 1])
			go_on(r, e);
	while (r->heap.n && !r->failed) {
		struct event e = take_event(r);

		r->now = e.t;
		if (e.kind == EVENT_COMPLETE)
			complete(r, e.item);
		else if (e.kind == EVENT_END)
			end_wait(r, e.item);
		else if (e.turn != r->threads[e.item].turn)
			continue;
		else if (e.kind == EVENT_WORKED)
			worked(r, e.item);
		else
			ready(r, e.item);
	}
}

int vprof_waits_replay(struct vprof_waits_replayed *out, const struct vprof_waits_program *p,
		       const struct vprof_waits_change *change, const unsigned char *counts)
{
	size_t n = p->history->entities.n;
	struct replay r = { .p = p, .change = change, .n_free = p->n_cpus, .counts = counts };

	r.slice_ns = (p->history->end - p->history->begin) / SLICES_MAX;
	r.slice_ns = r.slice_ns > SLICE_NS ? r.slice_ns : SLICE_NS;
	r.threads = calloc(n + 1, sizeof *r.threads);
	r.is_over = calloc(p->waits.n + 1, 1);
	r.free_at = calloc(n + 1, sizeof *r.free_at);
	r.queue = calloc(n + 1, sizeof *r.queue);
	*out = (struct vprof_waits_replayed){ 0, 0 };
	if (r.threads && r.is_over && r.free_at && r.queue)
		run(&r);
	else
		r.failed = 1;
	for (uint32_t e = 0; e < n && !r.failed; e++)
		out->is_stuck |= counts[e] && r.threads[e].step < p->first[e + 1];
	out->took_ns = r.last;
	free(r.threads);
	free(r.is_over);
	free(r.free_at);
	free(r.queue);
	VPROF_ARRAY_RELEASE(&r.heap);
	return r.failed ? VPROF_ERR_NOMEM : VPROF_OK;
}
