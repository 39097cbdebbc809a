/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discrete-event simulation. Each thread goes on through its steps until it must wait: for a CPU, for the end of its
 * work, for a wake-up, for a time. Events lie in a heap by time, equal ones in the order in which they were made. Most
 * of them make one other, which takes their place at the top: what is taken leaves a hole there until then.
 *
 * A wake-up that comes before the wait is kept: the thread does not wait then. Every other wait ends exactly once: the
 * thread's `turn` rises with each, and what would have ended an earlier one finds another turn and does nothing.
 */
#include "analysis/waits/wait_replay.h"

#include "analysis/waits/run_queue.h"

#define SLICE_NS 3000000      /* that a thread runs while others want its CPU */
#define SLICES_MAX (1u << 19) /* in the recording: of one that lasts longer than 26 minutes, slices are longer */

#define AHEAD 8	   /* steps that are fetched beforehand */
#define CHILDREN 4 /* of a place in the heap */
#define KIND_BITS 2

enum event_kind { EVENT_WORKED, EVENT_READY, EVENT_COMPLETE, EVENT_END };

struct event {
	uint64_t t;
	uint64_t order; /* << KIND_BITS, | kind */
	uint32_t item;	/* thread, or request of COMPLETE, or wait of END */
	uint32_t turn;
};

struct thread_state {
	size_t step;
	uint64_t left_ns;    /* of a WORK that was cut by the slice */
	uint64_t ran_ns;     /* since it was given its CPU, or its last slice was over */
	uint64_t at;	     /* how far it is in the recording, but for what it was runnable since its last wait */
	uint64_t latency_ns; /* of the wait that it is in */
	uint32_t turn;
	uint32_t wait; /* VPROF_NONE: none */
	uint32_t has_cpu;
};

struct replay {
	const struct vprof_waits_program *p;
	const struct vprof_waits_change *change;
	struct thread_state *threads;
	unsigned char *is_over;	      /* [waits] ended, before or after the thread came to it */
	uint64_t *free_at;	      /* [entities] of a device: when it can begin the next request */
	struct vprof_run_queue queue; /* threads that want a CPU */
	uint32_t n_free;	      /* CPUs */
	uint64_t slice_ns;
	VPROF_ARRAY(struct event) heap;
	int has_hole; /* heap.v[0] was taken */
	uint64_t now, n_made;
	const unsigned char *counts;
	size_t n_counted; /* threads with work that counts, and requests that do, which are not done */
	uint64_t last;	  /* when counted work was done */
	int failed;
};

static int is_before(const struct event *a, const struct event *b)
{
	return a->t != b->t ? a->t < b->t : a->order < b->order;
}

/* Places `e` at the top or deeper. */
static void sink(struct event *heap, size_t n, const struct event *e)
{
	size_t i = 0, first;

	while ((first = CHILDREN * i + 1) < n) {
		size_t end = first + CHILDREN < n ? first + CHILDREN : n, least = first;

		for (size_t child = first + 1; child < end; child++)
			least = is_before(&heap[child], &heap[least]) ? child : least;
		if (!is_before(&heap[least], e))
			break;
		heap[i] = heap[least];
		i = least;
	}
	heap[i] = *e;
}

static void add_event(struct replay *r, uint64_t t, enum event_kind kind, uint32_t item, uint32_t turn)
{
	const struct event e = { t, r->n_made++ << KIND_BITS | kind, item, turn };
	size_t i = r->heap.n;

	if (r->has_hole) {
		r->has_hole = 0;
		sink(r->heap.v, r->heap.n, &e);
		return;
	}
	if (!VPROF_PUSH(&r->heap)) {
		r->failed = 1;
		return;
	}
	for (; i && is_before(&e, &r->heap.v[(i - 1) / CHILDREN]); i = (i - 1) / CHILDREN)
		r->heap.v[i] = r->heap.v[(i - 1) / CHILDREN];
	r->heap.v[i] = e;
}

/* The next event, or 0: there is none. */
static int take_event(struct replay *r, struct event *next)
{
	if (r->has_hole) {
		const struct event last = r->heap.v[--r->heap.n];

		r->has_hole = 0;
		if (r->heap.n)
			sink(r->heap.v, r->heap.n, &last);
	}
	if (!r->heap.n)
		return 0;
	*next = r->heap.v[0];
	r->has_hole = 1;
	return 1;
}

static void ready_at(struct replay *r, uint64_t t, uint32_t thread)
{
	add_event(r, t, EVENT_READY, thread, ++r->threads[thread].turn);
}

static void queue_thread(struct replay *r, uint32_t thread)
{
	vprof_run_queue_add(&r->queue, thread, r->threads[thread].at, r->counts[thread]);
}

/* The thread's current WORK, for a slice or to its end. */
static void run_on_cpu(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];
	uint64_t left = t->left_ns ? t->left_ns : r->p->steps.v[t->step].n;
	uint64_t room = r->slice_ns - t->ran_ns, n = left > room && r->p->n_cpus ? room : left;

	t->left_ns = left - n;
	t->ran_ns += n;
	t->at += n;
	__builtin_prefetch(&r->p->steps.v[t->step + AHEAD]);
	add_event(r, r->now + n, EVENT_WORKED, thread, ++t->turn);
}

static void get_cpu(struct replay *r, uint32_t thread)
{
	r->threads[thread].has_cpu = 1;
	r->threads[thread].ran_ns = 0;
	run_on_cpu(r, thread);
}

static void give_up_cpu(struct replay *r, uint32_t thread)
{
	if (!r->threads[thread].has_cpu)
		return;
	r->threads[thread].has_cpu = 0;
	if (r->queue.n)
		get_cpu(r, vprof_run_queue_take(&r->queue));
	else
		r->n_free++;
}

/* However many steps it has: a slice is of all that a thread does without a wait. */
static void keep_cpu(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];

	if (r->p->n_cpus && t->ran_ns == r->slice_ns) {
		t->ran_ns = 0;
		if (r->queue.n) {
			queue_thread(r, thread);
			give_up_cpu(r, thread);
			return;
		}
	}
	run_on_cpu(r, thread);
}

/* A wait that takes as long as it took: nothing in the replay ends it, or a thread that does not count. That one has a
 * pace of its own, and would hold up who has become faster. */
static int is_paced(const struct replay *r, uint32_t thread, uint32_t waker)
{
	return r->counts[thread] && !r->counts[waker];
}

static void end_wait(struct replay *r, uint32_t thread, uint32_t wait)
{
	struct thread_state *t = &r->threads[thread];

	if (r->is_over[wait])
		return;
	r->is_over[wait] = 1;
	if (t->wait == wait) {
		t->wait = VPROF_NONE;
		ready_at(r, r->now + t->latency_ns, thread);
	}
}

static int is_counted(const struct replay *r, uint32_t request)
{
	uint32_t thread = r->p->history->requests.v[request].thread;

	return thread != VPROF_NONE && r->counts[thread];
}

static void submit(struct replay *r, uint32_t request)
{
	const struct vprof_waits_service *s = &r->p->requests.v[request];
	uint64_t free_at = r->free_at[s->device] > r->now ? r->free_at[s->device] : r->now;
	uint64_t least = r->now + s->least_ns, t = free_at + s->busy_ns;

	r->n_counted += is_counted(r, request);
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

	if (is_counted(r, request)) {
		r->last = r->now;
		r->n_counted--;
	}
	for (uint32_t a = s->first_answer; a != VPROF_NONE; a = r->p->answers.v[a].next)
		add_event(r, r->now + r->p->answers.v[a].extra_ns, EVENT_END, r->p->answers.v[a].wait, 0);
}

/* True when the thread need not wait. */
static int begin_wait(struct replay *r, uint32_t thread, uint32_t wait)
{
	const struct vprof_waits_wait *w = &r->p->waits.v[wait];
	int is_shortened = w->edge == r->change->edge && w->edge != VPROF_NONE;
	uint64_t most = is_shortened ? (uint64_t)((double)w->length_ns * r->change->share) : w->length_ns;

	r->threads[thread].at = w->ended;
	if (r->is_over[wait] || (is_shortened && !most)) {
		r->is_over[wait] = 1;
		return 1;
	}
	r->threads[thread].wait = wait;
	r->threads[thread].latency_ns = w->latency_ns;
	__builtin_prefetch(w + 2); /* the thread's next ones */
	if (is_shortened || w->ended_by == VPROF_WAITS_BY_TIME ||
	    (w->ended_by == VPROF_WAITS_BY_THREAD && is_paced(r, thread, w->waker)))
		ready_at(r, r->now + most + w->latency_ns, thread);
	return 0;
}

/* True when the thread goes on at once with the next step. */
static int do_step(struct replay *r, uint32_t thread, struct vprof_waits_step s)
{
	struct thread_state *t = &r->threads[thread];

	switch ((enum vprof_waits_step_kind)s.kind) {
	case VPROF_WAITS_WORK:
		if (t->has_cpu || !r->p->n_cpus) {
			keep_cpu(r, thread);
		} else if (r->n_free) {
			r->n_free--;
			get_cpu(r, thread);
		} else {
			queue_thread(r, thread);
		}
		return 0;
	case VPROF_WAITS_YIELD:
		if (!r->queue.n || !t->has_cpu)
			return 1;
		give_up_cpu(r, thread);
		return 1; /* its next WORK queues it */
	case VPROF_WAITS_PASS:
		give_up_cpu(r, thread);
		t->at += s.n;
		ready_at(r, r->now + s.n, thread);
		return 0;
	case VPROF_WAITS_WAKE:
		if (!is_paced(r, (uint32_t)(s.n >> 32), thread))
			end_wait(r, (uint32_t)(s.n >> 32), (uint32_t)s.n);
		return 1;
	case VPROF_WAITS_SUBMIT:
		submit(r, (uint32_t)s.n);
		return 1;
	case VPROF_WAITS_WAIT:
		if (begin_wait(r, thread, (uint32_t)s.n))
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

	while (t->step < end && do_step(r, thread, r->p->steps.v[t->step]))
		t->step++;
	if (t->step < end)
		return;
	give_up_cpu(r, thread);
	if (r->counts[thread]) {
		r->last = r->now;
		r->n_counted--;
	}
}

static void worked(struct replay *r, uint32_t thread)
{
	struct thread_state *t = &r->threads[thread];

	if (t->left_ns) {
		keep_cpu(r, thread);
		return;
	}
	t->step++;
	go_on(r, thread);
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

static void run(struct replay *r, const unsigned char *matters)
{
	size_t n = r->p->history->entities.n;
	struct event e;

	for (uint32_t e = 0; e < n; e++) {
		r->threads[e].step = r->p->first[e];
		r->threads[e].wait = VPROF_NONE;
		r->threads[e].at = r->p->history->begin;
		r->n_counted += r->counts[e] && r->p->first[e] < r->p->first[e + 1];
	}
	for (uint32_t e = 0; e < n; e++)
		if (matters[e] && r->p->first[e] < r->p->first[e + 1])
			go_on(r, e);
	while (r->n_counted && !r->failed && take_event(r, &e)) {
		enum event_kind kind = (enum event_kind)(e.order & ((1u << KIND_BITS) - 1));

		r->now = e.t;
		if (kind == EVENT_COMPLETE)
			complete(r, e.item);
		else if (kind == EVENT_END)
			end_wait(r, r->p->waits.v[e.item].thread, e.item);
		else if (e.turn != r->threads[e.item].turn)
			continue;
		else if (kind == EVENT_WORKED)
			worked(r, e.item);
		else
			ready(r, e.item);
	}
}

int vprof_waits_replay(struct vprof_waits_replayed *out, const struct vprof_waits_program *p,
		       const struct vprof_waits_change *change, const unsigned char *counts,
		       const unsigned char *matters)
{
	size_t n = p->history->entities.n;
	struct replay r = { .p = p, .change = change, .n_free = p->n_cpus, .counts = counts };

	r.slice_ns = (p->history->end - p->history->begin) / SLICES_MAX;
	r.slice_ns = r.slice_ns > SLICE_NS ? r.slice_ns : SLICE_NS;
	r.threads = calloc(n + 1, sizeof *r.threads);
	r.is_over = calloc(p->waits.n + 1, 1);
	r.free_at = calloc(n + 1, sizeof *r.free_at);
	*out = (struct vprof_waits_replayed){ 0, 0 };
	if (!vprof_run_queue_init(&r.queue, n) && r.threads && r.is_over && r.free_at)
		run(&r, matters);
	else
		r.failed = 1;
	for (uint32_t e = 0; e < n && !r.failed; e++)
		out->is_stuck |= counts[e] && r.threads[e].step < p->first[e + 1];
	out->took_ns = r.last;
	free(r.threads);
	free(r.is_over);
	free(r.free_at);
	vprof_run_queue_release(&r.queue);
	VPROF_ARRAY_RELEASE(&r.heap);
	return r.failed ? VPROF_ERR_NOMEM : VPROF_OK;
}
