/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of all CPUs, in order of time, are given to their threads; then each thread's are put in order (a system
 * call is recorded as it returns, and began earlier) and become events with stacks. Where a thread is at each of them
 * (in which system call, with or without a CPU) follows from the order.
 */
#include "analysis/latency/input/latency_input.h"

#include <sys/syscall.h>

#include "common/radix.h"
#include "common/search.h"
#include "trace/kernel_events.h"

/* RESUME: in a system call that was entered before the window, at its begin. */
enum raw_kind { RAW_ENTER, RAW_RESUME, RAW_OUT, RAW_IN, RAW_WAKING, RAW_FAULT, RAW_TIMER, RAW_EXIT };

struct raw { /* an event of a thread, before its stack is looked at */
	uint64_t t;
	uint32_t user, kernel; /* ids of stacks */
	uint32_t number;   /* ENTER: of the system call | calls skipped << 16; EXIT: of it; OUT: enum vp_task_state */
	uint32_t n_losses; /* stretches with lost events before it */
	uint8_t kind;
};

struct tracked {
	struct vprof_latency_thread thread;
	int is_session;
	int is_kernel; /* ... or otherwise none of the program's */
	int is_in_history;
	VPROF_ARRAY(struct raw) raw;
};

struct reading {
	struct vprof_latency_input *input;
	const struct vprof_trace *trace;
	struct vprof_kernel_tables tables;
	struct vprof_stack_frames *frames;
	VPROF_ARRAY(struct tracked) threads;
	VPROF_ARRAY(uint32_t) latest; /* the thread of each tid known, in the order of by_tid */
	struct vprof_hash_index by_tid;
	VPROF_ARRAY(struct vprof_latency_window) windows; /* in which events have stacks; at least one */
	uint64_t begin, now;				  /* ns */
	uint32_t n_losses;
};

/* where a thread is, while its events are gone through */
struct position {
	/* what is seen of it without a break */
	int is_seen;
	uint64_t seen_until; /* before that */
	size_t window;	     /* the one of the event, or the next one */
	uint64_t begin;
	int begin_is_cut;
	size_t first_event;
	uint64_t call_end; /* of the system call that is known to hold the event; 0: none */
	uint32_t call_number, call_stack;
	uint32_t n_calls; /* begun so far */
	int is_out;	  /* switched out */
	uint32_t out_losses, out_state, out_stack;
	int is_unpaired; /* a switch of a sleep is missing since the last event taken */
	/* of the event that was taken last */
	int has_last, last_in_call;
	uint32_t last_call, last_stack, last_losses;
};

static uint64_t to_ns(const struct vprof_trace *trace, uint64_t ticks)
{
	return vprof_latency_time(vprof_trace_ns(trace, ticks));
}

static struct tracked *begin_thread(struct reading *g, uint32_t tid, uint32_t pid, const char *name, int is_cut)
{
	uint64_t hash = vprof_mix(tid);
	struct tracked *t = VPROF_PUSH(&g->threads);
	uint32_t *slot = NULL;
	size_t at;

	if (!t || vprof_hash_index_room(&g->by_tid, 1))
		return NULL;
	t->thread = (struct vprof_latency_thread){ .name = vprof_strings_keep(&g->input->strings, name),
						   .pid = pid,
						   .tid = tid,
						   .begin = is_cut ? g->begin : g->now,
						   .end = VPROF_LATENCY_TIME_MAX,
						   .begin_is_cut = is_cut,
						   .end_is_cut = 1 };
	VPROF_HASH_EACH(&g->by_tid, hash, at, i)
	{
		if (g->threads.v[g->latest.v[i]].thread.tid == tid) {
			slot = &g->latest.v[i];
			break;
		}
	}
	if (!slot) {
		slot = VPROF_PUSH(&g->latest);
		if (slot)
			vprof_hash_index_put(&g->by_tid, at, hash, (uint32_t)g->latest.n - 1);
	}
	if (!slot || !t->thread.name)
		return NULL;
	*slot = (uint32_t)g->threads.n - 1;
	return t;
}

/* NULL: none of this tid yet. */
static struct tracked *find_thread(struct reading *g, uint32_t tid)
{
	size_t at;

	VPROF_HASH_EACH(&g->by_tid, vprof_mix(tid), at, i)
	if (g->threads.v[g->latest.v[i]].thread.tid == tid)
		return &g->threads.v[g->latest.v[i]];
	return NULL;
}

/* ... which was there before the recording, if it is not known; NULL without memory. */
static struct tracked *get_thread(struct reading *g, uint32_t tid)
{
	struct tracked *t = find_thread(g, tid);

	return t ? t : begin_thread(g, tid, 0, "", 1);
}

static void end_thread(struct tracked *t, uint64_t at)
{
	if (t && t->thread.end_is_cut && at >= t->thread.begin) {
		t->thread.end = at;
		t->thread.end_is_cut = 0;
	}
}

static int add_raw(struct reading *g, uint32_t tid, enum raw_kind kind, uint64_t t, uint32_t user, uint32_t kernel,
		   uint32_t number)
{
	struct tracked *thread = tid ? get_thread(g, tid) : NULL;
	struct raw *r;

	if (!tid)
		return VPROF_OK;
	r = thread ? VPROF_PUSH(&thread->raw) : NULL;
	if (!r)
		return VPROF_ERR_NOMEM;
	*r = (struct raw){ t, user, kernel, number, g->n_losses, (uint8_t)kind };
	if (kind == RAW_ENTER || kind == RAW_RESUME || kind == RAW_EXIT || kind == RAW_FAULT || kind == RAW_TIMER)
		thread->is_session = 1;
	return VPROF_OK;
}

/* The command that vprof record starts is vprof itself before it executes the program. */
static void leave_out_start(struct tracked *t)
{
	if (t && t->thread.begin_is_cut && !strcmp(t->thread.name, "vprof"))
		t->is_kernel = 1;
}

static int on_task(struct reading *g, const struct vprof_kernel_event *e)
{
	struct tracked *maker, *t;
	int is_session;

	switch (e->kind) {
	case VP_KIND_KERNEL_FORK:
		maker = find_thread(g, e->task.by_tid);
		is_session = maker && maker->is_session;
		end_thread(find_thread(g, e->task.tid), g->now);
		t = begin_thread(g, e->task.tid, e->task.pid, e->task.comm, 0);
		if (t)
			t->is_session = is_session;
		return t ? VPROF_OK : VPROF_ERR_NOMEM;
	case VP_KIND_KERNEL_EXEC:
		leave_out_start(find_thread(g, e->task.tid));
		end_thread(find_thread(g, e->task.tid), g->now);
		if (e->task.by_tid != e->task.tid)
			end_thread(find_thread(g, e->task.by_tid), g->now);
		t = begin_thread(g, e->task.tid, e->task.pid, e->task.comm, 0);
		if (t)
			t->is_session = 1;
		return t ? VPROF_OK : VPROF_ERR_NOMEM;
	case VP_KIND_KERNEL_EXIT:
		end_thread(find_thread(g, e->task.tid), g->now);
		return VPROF_OK;
	default:
		break;
	}
	t = get_thread(g, e->task.tid);
	if (!t)
		return VPROF_ERR_NOMEM;
	t->thread.pid = e->task.pid;
	t->is_session |= (e->task.flags & VP_TASK_SESSION) != 0 && !(e->task.flags & VP_TASK_RENAMED);
	t->is_kernel |= (e->task.flags & VP_TASK_KERNEL) != 0;
	if (*e->task.comm)
		t->thread.name = vprof_strings_keep(&g->input->strings, e->task.comm);
	return t->thread.name ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* The window at a time, or the first one after it. */
static size_t window_at(const struct reading *g, uint64_t t)
{
	return VPROF_BISECT(g->windows.n, i, g->windows.v[i].end < t);
}

static int is_inside(const struct reading *g, size_t window, uint64_t t)
{
	return window < g->windows.n && g->windows.v[window].begin <= t;
}

/* A call is recorded as it returns. When it was entered is not known if that was before the window. */
static int on_call(struct reading *g, const struct vprof_kernel_event *e)
{
	size_t window = window_at(g, g->now);
	int is_known = e->call.entered && e->call.entered <= e->t;
	uint64_t entered = is_known ? to_ns(g->trace, e->call.entered) : 0;
	int ret;

	if (!is_known && !is_inside(g, window, g->now))
		return VPROF_OK;
	ret = add_raw(g, e->call.tid, is_known ? RAW_ENTER : RAW_RESUME,
		      is_known ? entered : g->windows.v[window].begin, e->call.user_stack, 0,
		      e->call.number | e->call.n_skipped << 16);
	return ret ? ret : add_raw(g, e->call.tid, RAW_EXIT, g->now, e->call.user_stack, 0, e->call.number);
}

static int on_event(struct reading *g, const struct vprof_kernel_event *e)
{
	int ret;

	switch (e->kind) {
	case VP_KIND_KERNEL_SWITCH:
		ret = add_raw(g, e->sched.prev_tid, RAW_OUT, g->now, e->sched.user_stack, e->sched.kernel_stack,
			      e->sched.state);
		return ret ? ret : add_raw(g, e->sched.next_tid, RAW_IN, g->now, 0, 0, 0);
	case VP_KIND_KERNEL_WAKING:
		return e->waking.user_stack || e->waking.kernel_stack ?
			       add_raw(g, e->waking.current_tid, RAW_WAKING, g->now, e->waking.user_stack,
				       e->waking.kernel_stack, 0) :
			       VPROF_OK;
	case VP_KIND_KERNEL_CALL:
		return on_call(g, e);
	case VP_KIND_KERNEL_FAULT:
		return add_raw(g, e->sample.tid, RAW_FAULT, g->now, e->sample.user_stack, 0, 0);
	case VP_KIND_KERNEL_TIMER:
		return add_raw(g, e->sample.tid, RAW_TIMER, g->now, e->sample.user_stack, e->sample.kernel_stack, 0);
	case VP_KIND_KERNEL_FORK:
	case VP_KIND_KERNEL_EXEC:
	case VP_KIND_KERNEL_EXIT:
	case VP_KIND_KERNEL_TASK:
		return on_task(g, e);
	case VP_KIND_KERNEL_LOST:
		g->n_losses++;
		g->input->n_lost += e->n_lost;
		return VPROF_OK;
	default:
		return VPROF_OK;
	}
}

/* Takes an event with a stack; flags beside those that follow from the system call. */
static int take(struct reading *g, struct position *p, uint64_t t, uint32_t stack, int in_call, uint32_t call,
		uint32_t flags, uint32_t n_losses)
{
	struct vprof_latency_event *e;
	int is_same_call = p->has_last && in_call && p->last_in_call && call == p->last_call;

	if (stack == VPROF_NONE)
		return VPROF_OK;
	e = VPROF_PUSH(&g->input->history.events);
	if (!e)
		return VPROF_ERR_NOMEM;
	if (is_same_call)
		flags |= VPROF_LATENCY_HELD;
	else if (!(flags & VPROF_LATENCY_HELD))
		flags |= VPROF_LATENCY_NEW_CALL;
	if (p->is_unpaired && !(flags & VPROF_LATENCY_OFF_CPU))
		flags |= VPROF_LATENCY_UNPAIRED;
	*e = (struct vprof_latency_event){ t, stack, p->has_last ? flags : flags & VPROF_LATENCY_TIMER };
	p->is_unpaired = 0;
	p->has_last = 1;
	p->last_in_call = in_call;
	p->last_call = call;
	p->last_stack = stack;
	p->last_losses = n_losses;
	return VPROF_OK;
}

static int take_stack(struct reading *g, struct position *p, const struct raw *r, uint32_t flags, uint32_t *stack)
{
	int in_call = p->call_end && r->t <= p->call_end, failed = 0;
	enum vprof_entry entry = in_call	      ? VPROF_ENTRY_CALL :
				 r->kind == RAW_FAULT ? VPROF_ENTRY_FAULT :
							VPROF_ENTRY_NONE;

	*stack = vprof_stack_frames_stack(g->frames, in_call && p->call_stack ? p->call_stack : r->user, r->kernel,
					  entry, in_call ? p->call_number : 0, &failed);
	if (failed || *stack == VPROF_NONE)
		return failed;
	/* A call that never returned is not recorded: all that is in none is in that one, unless events are missing. */
	if (!in_call && r->kind != RAW_FAULT && vprof_stack_frames_entry(g->frames, *stack) == VPROF_ENTRY_CALL &&
	    (g->input->kinds & VP_KERNEL_CALLS)) {
		int is_same = p->has_last && p->last_in_call && p->last_call == p->n_calls + 1 &&
			      p->last_losses == r->n_losses;

		p->n_calls += p->has_last && p->last_in_call && p->last_call == p->n_calls + 1 && !is_same;
		return take(g, p, r->t, *stack, 1, p->n_calls + 1, flags, r->n_losses);
	}
	/* A fault that sleeps: the switch comes from where the fault was. */
	if (!in_call && p->has_last && r->kind == RAW_OUT && !p->last_in_call &&
	    vprof_stack_frames_entry(g->frames, *stack) == VPROF_ENTRY_FAULT &&
	    vprof_stack_frames_entry(g->frames, p->last_stack) == VPROF_ENTRY_FAULT && p->last_losses == r->n_losses)
		flags |= VPROF_LATENCY_HELD;
	return take(g, p, r->t, *stack, in_call, in_call ? p->n_calls : 0, flags, r->n_losses);
}

static int take_switch_in(struct reading *g, struct position *p, const struct raw *r)
{
	uint32_t flags = VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU;
	int is_missing = !p->is_out || p->out_losses != r->n_losses;

	if (is_missing || p->out_stack == VPROF_NONE) {
		g->input->n_unpaired += p->is_out || p->has_last;
		p->is_unpaired |= is_missing || p->out_state == VP_TASK_STATE_SLEEPING;
		p->is_out = 0;
		return VPROF_OK;
	}
	p->is_out = 0;
	if (p->out_state != VP_TASK_STATE_SLEEPING)
		flags |= VPROF_LATENCY_DISK;
	return take(g, p, r->t, p->out_stack, p->last_in_call, p->last_call, flags, r->n_losses);
}

/* A thread that does something else than get a CPU has one: the kernel leaves out a switch now and then. */
static void note_missing(struct reading *g, struct position *p, const struct raw *r)
{
	if (!p->is_out || r->kind == RAW_IN || r->kind == RAW_RESUME)
		return;
	g->input->n_unpaired++;
	p->is_unpaired |= p->out_state == VP_TASK_STATE_SLEEPING;
	p->is_out = 0;
}

/* The kernel's stack alone tells nothing of the program's functions. */
static int leave_out(struct reading *g, const struct raw *r)
{
	if (r->kernel) {
		g->input->counts.n_without++;
		g->input->counts.n_kernel_only++;
	}
	return VPROF_OK;
}

static int take_event(struct reading *g, struct position *p, const struct raw *r)
{
	uint32_t stack;
	int ret;

	switch (r->kind) {
	case RAW_ENTER:
	case RAW_RESUME:
		return VPROF_OK; /* begin_call() */
	case RAW_EXIT:
		if (r->number == SYS_rt_sigreturn || !p->call_end) { /* returns elsewhere */
			p->call_end = 0;
			return VPROF_OK;
		}
		ret = take_stack(g, p, r, 0, &stack);
		p->call_end = 0;
		return ret;
	case RAW_IN:
		return take_switch_in(g, p, r);
	case RAW_OUT:
		p->out_stack = VPROF_NONE;
		p->is_out = 1;
		p->out_losses = r->n_losses;
		p->out_state = r->number;
		return r->user ? take_stack(g, p, r, 0, &p->out_stack) : leave_out(g, r);
	default:
		return r->user ? take_stack(g, p, r, r->kind == RAW_TIMER ? VPROF_LATENCY_TIMER : 0, &stack) :
				 leave_out(g, r);
	}
}

/* The system call that begins here, and when it ends. */
static int begin_call(struct reading *g, struct position *p, const struct raw *r, uint64_t end)
{
	uint32_t stack;

	p->call_end = end;
	if (r->kind == RAW_RESUME && p->is_out &&
	    p->last_in_call) { /* it sleeps in that call since the window before */
		p->call_number = r->number & 0xffff;
		p->call_stack = r->user;
		p->n_calls = p->last_call;
		return VPROF_OK;
	}
	p->call_number = r->number & 0xffff;
	p->call_stack = r->user;
	p->n_calls += 2; /* the number in between is that of a call that does not return */
	return take_stack(g, p, r, r->number >> 16 ? VPROF_LATENCY_SKIPPED : 0, &stack);
}

static void begin_seen(struct reading *g, const struct tracked *t, struct position *p, uint64_t at)
{
	uint64_t from = at > p->seen_until ? at : p->seen_until;
	int begins = t->thread.begin >= from;

	*p = (struct position){ .is_seen = 1,
				.seen_until = p->seen_until,
				.window = p->window,
				.begin = begins ? t->thread.begin : from,
				.begin_is_cut = begins ? t->thread.begin_is_cut : 1,
				.first_event = g->input->history.events.n };
}

/* A thread without events is left out. */
static int end_seen(struct reading *g, struct tracked *t, struct position *p, uint64_t at)
{
	struct vprof_latency_history *h = &g->input->history;
	int ends = t->thread.end <= at;
	struct vprof_latency_thread *out;

	if (!p->is_seen)
		return VPROF_OK;
	p->is_seen = 0;
	p->seen_until = at;
	if (h->events.n == p->first_event)
		return VPROF_OK;
	out = VPROF_PUSH(&h->threads);
	if (!out)
		return VPROF_ERR_NOMEM;
	*out = t->thread;
	out->begin = p->begin;
	out->begin_is_cut = p->begin_is_cut;
	out->end = ends ? t->thread.end : at;
	out->end_is_cut = ends ? t->thread.end_is_cut : 1;
	out->is_continued = t->is_in_history;
	out->first_event = p->first_event;
	out->n_events = h->events.n - p->first_event;
	t->is_in_history = 1;
	return VPROF_OK;
}

/* A thread without a CPU stays where it is, beyond windows, too. */
static int is_known_asleep(const struct position *p)
{
	return p->is_seen && p->is_out && p->out_stack != VPROF_NONE;
}

/* Was it switched out between windows, with a stack, to sleep into the next one? */
static int sleeps_into_window(const struct reading *g, const struct position *p, const struct raw *r,
			      const struct raw *next)
{
	return r->kind == RAW_OUT && r->user && next && next->kind == RAW_IN && next->n_losses == r->n_losses &&
	       is_inside(g, p->window, next->t);
}

/* Has it left the system call in which it was last known to sleep, without having been seen to get a CPU? */
static int has_left(const struct position *p, const struct raw *r)
{
	return p->out_losses != r->n_losses ||
	       (r->kind != RAW_IN && r->kind != RAW_RESUME && r->kind != RAW_EXIT && r->kind != RAW_OUT);
}

/* next: the thread's next event, RESUME apart; NULL: there is none. */
static int on_thread_event(struct reading *g, struct tracked *t, struct position *p, const struct raw *r,
			   const struct raw *next)
{
	const struct raw *returned = r + 1; /* of a call: added right after it */
	int is_in, ret = VPROF_OK;

	while (p->window < g->windows.n && g->windows.v[p->window].end < r->t) {
		if (!is_known_asleep(p))
			ret = end_seen(g, t, p, g->windows.v[p->window].end);
		if (ret)
			return ret;
		p->window++;
	}
	is_in = is_inside(g, p->window, r->t);
	if ((g->input->kinds & VP_KERNEL_WINDOWS) && is_known_asleep(p) && has_left(p, r)) {
		g->input->n_unpaired++; /* it may have run in between */
		ret = end_seen(g, t, p, g->input->history.events.v[g->input->history.events.n - 1].t);
	}
	if (!ret && is_known_asleep(p) && !is_in) {
		ret = r->kind == RAW_IN ? take_event(g, p, r) : VPROF_OK;
		return ret ? ret : end_seen(g, t, p, r->t);
	}
	if (ret || (!is_in && !sleeps_into_window(g, p, r, next)))
		return ret;
	if (!p->is_seen)
		begin_seen(g, t, p, is_in ? g->windows.v[p->window].begin : r->t);
	note_missing(g, p, r);
	if (r->kind == RAW_ENTER || r->kind == RAW_RESUME)
		return begin_call(g, p, r, returned->t);
	return take_event(g, p, r);
}

static const struct raw *next_of(const struct tracked *t, const struct vprof_keyed *keys, size_t i)
{
	while (++i < t->raw.n && t->raw.v[keys[i].item].kind == RAW_RESUME)
		;
	return i < t->raw.n ? &t->raw.v[keys[i].item] : NULL;
}

static int finish_thread(struct reading *g, struct tracked *t, struct vprof_keyed *keys)
{
	struct position p = { .call_end = 0 };
	size_t n = t->raw.n;
	int ret = VPROF_OK;

	for (size_t i = 0; i < n; i++) {
		const struct raw *r = &t->raw.v[i];

		keys[i] = (struct vprof_keyed){ r->t * 4 + (r->kind <= RAW_RESUME ? 0 :
							    r->kind == RAW_EXIT	  ? 2 :
										    1),
						(uint32_t)i };
	}
	if (vprof_radix_sort(keys, n))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n && !ret; i++) {
		const struct raw *r = &t->raw.v[keys[i].item];

		if (r->t < t->thread.begin || r->t > t->thread.end)
			continue;
		ret = on_thread_event(g, t, &p, r, next_of(t, keys, i));
	}
	if (ret || !p.is_seen)
		return ret;
	return end_seen(g, t, &p,
			is_known_asleep(&p) || p.window >= g->windows.n ? t->thread.end : g->windows.v[p.window].end);
}

/* As far as they lie in the recording. */
static int keep_windows(struct reading *g)
{
	struct vprof_latency_history *h = &g->input->history;
	uint64_t observed = 0;

	for (size_t i = 0; i < g->windows.n; i++) {
		struct vprof_latency_window w = g->windows.v[i], *to;

		w.begin = w.begin < h->begin ? h->begin : w.begin;
		w.end = w.end > h->end ? h->end : w.end;
		if (w.begin >= w.end)
			continue;
		w.observed = observed;
		observed += w.end - w.begin;
		to = VPROF_PUSH(&h->windows);
		if (!to)
			return VPROF_ERR_NOMEM;
		*to = w;
	}
	return VPROF_OK;
}

static int finish(struct reading *g)
{
	struct vprof_latency_history *h = &g->input->history;
	struct vprof_keyed *keys;
	size_t most = 0;
	int ret = VPROF_OK;

	h->begin = g->begin;
	h->end = g->now;
	if (g->input->kinds & VP_KERNEL_WINDOWS)
		ret = keep_windows(g);
	for (size_t i = 0; i < g->threads.n; i++) {
		struct tracked *t = &g->threads.v[i];

		if (t->thread.end > g->now)
			t->thread.end = g->now;
		most = t->raw.n > most ? t->raw.n : most;
	}
	keys = malloc((most + 1) * sizeof *keys);
	for (size_t i = 0; i < g->threads.n && keys && !ret; i++) {
		struct tracked *t = &g->threads.v[i];

		if (t->is_session && !t->is_kernel && t->raw.n < UINT32_MAX)
			ret = finish_thread(g, t, keys);
		VPROF_ARRAY_RELEASE(&t->raw);
	}
	free(keys);
	return keys ? ret : VPROF_ERR_NOMEM;
}

/* Those of the trace; without any, all of the recording is one. */
static int read_windows(struct reading *g, struct vprof_error *err)
{
	for (size_t i = 0; i < g->tables.windows.n; i++) {
		const struct vprof_kernel_window *from = &g->tables.windows.v[i];
		uint64_t begin = to_ns(g->trace, from->begin), end = to_ns(g->trace, from->end);
		struct vprof_latency_window *w = begin < end ? VPROF_PUSH(&g->windows) : NULL;

		if (begin < end && !w)
			return VPROF_ERR_NOMEM;
		if (w)
			*w = (struct vprof_latency_window){ begin, end, 0 };
	}
	if (g->input->kinds & VP_KERNEL_WINDOWS)
		return g->windows.n ?
			       VPROF_OK :
			       vprof_error_set(err, VPROF_ERR_INPUT,
					       "this run has no stacks: the recording ended before the first window "
					       "of time in which they are taken; record a longer one, or with "
					       "--budget 0");
	g->windows.n = 0;
	if (!VPROF_PUSH(&g->windows))
		return VPROF_ERR_NOMEM;
	g->windows.v[0] = (struct vprof_latency_window){ 0, VPROF_LATENCY_TIME_MAX, 0 };
	return VPROF_OK;
}

/* When the threads that were there were told, once the programs recorded. The trace begins earlier, before these are
 * loaded, which takes seconds on a busy machine. */
static void begin_recording(struct reading *g, const struct vprof_kernel_event *first)
{
	uint64_t t = first->t;

	for (size_t i = 0; i < g->tables.tasks.n; i++)
		t = g->tables.tasks.v[i].t < t ? g->tables.tasks.v[i].t : t;
	g->begin = g->now = to_ns(g->trace, t);
}

static int read_events(struct reading *g, struct vprof_error *err)
{
	struct vprof_kernel_stream *stream = NULL;
	struct vprof_kernel_event e;
	int ret = read_windows(g, err), has_event = 0;

	if (!ret)
		ret = vprof_kernel_stream_open(&stream, g->trace, err);
	if (!ret)
		has_event = vprof_kernel_stream_next(stream, &e);
	if (has_event)
		begin_recording(g, &e);
	for (size_t i = 0; i < g->tables.tasks.n && !ret; i++)
		ret = on_task(g, &g->tables.tasks.v[i]);
	for (; has_event && !ret; has_event = vprof_kernel_stream_next(stream, &e)) {
		uint64_t t = to_ns(g->trace, e.t);

		g->now = t > g->now ? t : g->now;
		ret = on_event(g, &e);
	}
	vprof_kernel_stream_close(stream);
	return ret;
}

int vprof_latency_input_read(struct vprof_latency_input *input, const struct vprof_trace *trace,
			     struct vprof_error *err)
{
	struct reading g = { .input = input, .trace = trace };
	int ret;

	*input = (struct vprof_latency_input){ .missing = "", .kinds = trace->header.kernel_kinds };
	if (!trace->n_kernel || !(trace->header.kernel_kinds & VP_KERNEL_STACKS))
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "this run has no stacks, from which latencies are inferred: record one with "
				       "vprof record --stacks -- COMMAND");
	ret = vprof_kernel_tables_read(&g.tables, trace, err);
	g.frames = ret ? NULL : vprof_stack_frames_new(&input->history, &input->strings, &input->counts, &g.tables);
	if (!ret)
		ret = g.frames ? read_events(&g, err) : VPROF_ERR_NOMEM;
	if (!ret)
		ret = finish(&g);
	if (!ret) {
		input->missing = vprof_strings_keep(&input->strings, trace->header.no_kernel);
		ret = input->missing ? vprof_latency_history_check(&input->history, err) : VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < g.threads.n; i++)
		VPROF_ARRAY_RELEASE(&g.threads.v[i].raw);
	VPROF_ARRAY_RELEASE(&g.threads);
	VPROF_ARRAY_RELEASE(&g.latest);
	VPROF_ARRAY_RELEASE(&g.windows);
	vprof_hash_index_release(&g.by_tid);
	input->frames = g.frames;
	input->history.may_follow = g.frames ? vprof_stack_frames_may_follow : NULL;
	input->history.may_become = g.frames ? vprof_stack_frames_may_become : NULL;
	input->history.arg = g.frames;
	input->history.is_continuous = 1;
	vprof_kernel_tables_release(&g.tables);
	return ret == VPROF_ERR_NOMEM ? vprof_error_no_memory(err) : ret;
}

void vprof_latency_input_release(struct vprof_latency_input *input)
{
	vprof_latency_history_release(&input->history);
	vprof_stack_frames_free(input->frames);
	input->frames = NULL;
	vprof_strings_release(&input->strings);
}
