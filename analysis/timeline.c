/* Records to timelines. One pass over every thread's records; strings and modules go to tables of the whole trace. */
#include "analysis/timeline.h"

#include <stdio.h>

#define TIME_MAX (UINT64_MAX / 4) /* later times cannot be real and would overflow sums */
#define ENTER_SLACK_TICKS 4096	  /* between an ENTER and the entry time of the same frame's call record */
#define N_KIND_NAMES VP_WAIT_COUNT

struct string_slot {
	uint64_t hash;
	const char *text; /* NULL: free slot */
};

struct annotated_name {
	uint64_t hash;
	uint32_t index; /* into names */
};

struct vprof_timeline_private {
	struct string_slot *slots;
	size_t n_slots, n_strings; /* n_slots is a power of two */
	VPROF_ARRAY(char *) texts; /* owned */
	VPROF_ARRAY(struct annotated_name) annotated;
	VPROF_ARRAY(const char *) names;
};

struct open_frame {
	uint64_t t;
	uint32_t code;
};

struct build {
	struct vprof_timeline *timeline;
	struct vprof_line *line;
	VPROF_ARRAY(struct vprof_ended_call) ended;
	VPROF_ARRAY(struct open_frame) open;
	size_t pending_stack; /* index + 1 */
	int false_wake;
};

static const char *const call_names[VP_CALL_COUNT] = {
#define VPROF_CALL_NAME(id, name) [VP_CALL_##id] = name,
	VP_CALLS(VPROF_CALL_NAME)
#undef VPROF_CALL_NAME
};

static const char *const kind_names[N_KIND_NAMES] = {
	[0] = "wait",
	[VP_WAIT_MUTEX] = "pthread_mutex_lock",
	[VP_WAIT_RWLOCK_READ] = "pthread_rwlock_rdlock",
	[VP_WAIT_RWLOCK_WRITE] = "pthread_rwlock_wrlock",
	[VP_WAIT_COND] = "pthread_cond_wait",
	[VP_WAIT_BARRIER] = "pthread_barrier_wait",
	[VP_WAIT_SEMAPHORE] = "sem_wait",
	[VP_WAIT_JOIN] = "pthread_join",
	[VP_WAIT_SPIN] = "spin wait",
	[VP_WAIT_ANNOTATED] = "annotated wait",
	[VP_WAIT_SLEEP] = "sleep",
	[VP_WAIT_DISK] = "disk I/O",
	[VP_WAIT_SOCKET] = "socket I/O",
	[VP_WAIT_PIPE] = "pipe I/O",
	[VP_WAIT_POLL] = "poll",
	[VP_WAIT_CHILD] = "wait for a child process",
	[VP_WAIT_FUTEX] = "futex wait",
	[VP_WAIT_ONCE] = "pthread_once",
	[VP_WAIT_QUEUE] = "message queue",
};

static struct string_slot *string_slot(struct vprof_timeline_private *p, uint64_t hash)
{
	size_t i = vprof_mix(hash) & (p->n_slots - 1);

	while (p->slots[i].text && p->slots[i].hash != hash)
		i = (i + 1) & (p->n_slots - 1);
	return &p->slots[i];
}

const char *vprof_timeline_string(const struct vprof_timeline *timeline, uint64_t hash)
{
	if (!timeline->private->n_slots)
		return NULL;
	return string_slot(timeline->private, hash)->text;
}

static int strings_grow(struct vprof_timeline_private *p)
{
	struct string_slot *old = p->slots;
	size_t n_old = p->n_slots;

	p->n_slots = n_old ? n_old * 2 : 256;
	p->slots = calloc(p->n_slots, sizeof *p->slots);
	if (!p->slots) {
		p->slots = old;
		p->n_slots = n_old;
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < n_old; i++)
		if (old[i].text)
			*string_slot(p, old[i].hash) = old[i];
	free(old);
	return 0;
}

static char *text_keep(struct vprof_timeline_private *p, const void *bytes, size_t n)
{
	char *text = strndup(bytes, n);
	char **slot = text ? VPROF_PUSH(&p->texts) : NULL;

	if (!slot) {
		free(text);
		return NULL;
	}
	return *slot = text;
}

static int add_string(struct vprof_timeline_private *p, const struct vp_unit *u)
{
	struct string_slot *slot;

	if (2 * p->n_strings >= p->n_slots && strings_grow(p))
		return VPROF_ERR_NOMEM;
	slot = string_slot(p, u->t);
	if (slot->text)
		return 0;
	slot->text = text_keep(p, u + 1, VP_PAYLOAD(u->w));
	slot->hash = u->t;
	p->n_strings += slot->text != NULL;
	return slot->text ? 0 : VPROF_ERR_NOMEM;
}

static int add_module(struct build *b, const struct vp_unit *u)
{
	struct vprof_module *m = VPROF_PUSH(&b->timeline->modules);

	if (!m)
		return VPROF_ERR_NOMEM;
	m->process_seq = b->line->process_seq;
	m->low = u->t;
	m->bias = u[1].t;
	m->high = u[1].w;
	m->path = text_keep(b->timeline->private, u + 2, VP_PAYLOAD(u->w));
	if (m->path)
		return 0;
	b->timeline->modules.n--;
	return VPROF_ERR_NOMEM;
}

/* Name of an annotated acquire function: its text may come later in the trace, so only its place is taken now. */
static int annotated_name(struct vprof_timeline_private *p, uint64_t hash, uint32_t *index)
{
	struct annotated_name *a;
	const char **name;

	for (size_t i = 0; i < p->annotated.n; i++) {
		if (p->annotated.v[i].hash == hash) {
			*index = p->annotated.v[i].index;
			return 0;
		}
	}
	if (p->annotated.n >= 4096) { /* more functions than anyone annotates: damaged hashes */
		*index = VP_CALL_COUNT + VP_WAIT_ANNOTATED;
		return 0;
	}
	a = VPROF_PUSH(&p->annotated);
	name = VPROF_PUSH(&p->names);
	if (!a || !name)
		return VPROF_ERR_NOMEM;
	a->hash = hash;
	a->index = *index = (uint32_t)p->names.n - 1;
	*name = "";
	return 0;
}

static int add_ended(struct build *b, uint64_t t0, uint64_t t1, uint32_t code)
{
	struct vprof_ended_call *e = VPROF_PUSH(&b->ended);

	if (!e)
		return VPROF_ERR_NOMEM;
	*e = (struct vprof_ended_call){ .t0 = t0, .t1 = t1, .code = code & VP_CODE_MASK };
	b->timeline->n_calls++;
	return 0;
}

/* The innermost open frame never wrote its record (longjmp, a kill): it ended by now. */
static int close_unrecorded(struct build *b)
{
	struct open_frame f = b->open.v[--b->open.n];

	b->timeline->n_unclosed++;
	return add_ended(b, f.t, b->line->t_last > f.t ? b->line->t_last : f.t, f.code);
}

static int match_enter(struct build *b, uint64_t t0, uint32_t code)
{
	while (b->open.n) {
		const struct open_frame *f = &b->open.v[b->open.n - 1];
		uint64_t distance = f->t > t0 ? f->t - t0 : t0 - f->t;

		if (f->code == code && distance <= ENTER_SLACK_TICKS) {
			b->open.n--;
			return 0;
		}
		if (f->t <= t0)
			return 0; /* still open around this call, which may begin at the same tick */
		if (close_unrecorded(b))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int add_call(struct build *b, uint64_t t0, uint64_t ticks, uint32_t code)
{
	uint64_t t1 = t0 + ticks;

	if (ticks == VP_PAYLOAD_MAX && b->line->t_last > t1) /* saturated: it ended after its callees */
		t1 = b->line->t_last;
	if (match_enter(b, t0, code))
		return VPROF_ERR_NOMEM;
	if (t1 > b->line->t_last)
		b->line->t_last = t1;
	return add_ended(b, t0, t1, code);
}

static int add_sample(struct build *b, const struct vp_unit *u)
{
	uint32_t code = VP_CODE(u[1].w);

	if (u[1].t > VP_PAYLOAD_MAX || code < VP_CODE_FUNCTION) {
		b->timeline->n_bad++;
		return 0;
	}
	if (add_call(b, u->t, u[1].t, code) || vprof_samples_add(b->line, u->t, u[1].t, code, VP_PAYLOAD(u->w)))
		return VPROF_ERR_NOMEM;
	b->ended.v[b->ended.n - 1].is_sampled = 1;
	b->timeline->n_sampled++;
	return 0;
}

static int add_wait(struct build *b, const struct vp_unit *u)
{
	struct vprof_timeline_private *p = b->timeline->private;
	uint32_t kind = VP_PAYLOAD(u->w) & 0xff, call = u[2].w & 0xffff;
	struct vprof_wait *w;
	int ret = 0;

	if (kind == 0 || kind >= VP_WAIT_COUNT || u[2].t < u->t || u[2].t > TIME_MAX) {
		b->timeline->n_bad++;
		return 0;
	}
	w = VPROF_PUSH(&b->line->waits);
	if (!w)
		return VPROF_ERR_NOMEM;
	w->t0 = u->t;
	w->goes_on = b->false_wake && b->line->waits.n > 1;
	b->false_wake = 0;
	w->t1 = u[2].t > w->t0 ? u[2].t : w->t0;
	w->object = u[1].t;
	w->ticket = (uint32_t)u[1].w;
	w->kind = (uint8_t)kind;
	w->flags = (uint8_t)(VP_PAYLOAD(u->w) >> 8) & (VPROF_WAIT_READY - 1);
	w->seq = (uint32_t)(VP_PAYLOAD(u->w) >> VP_SEQ_SHIFT);
	w->waker = VPROF_NONE;
	if (kind == VP_WAIT_ANNOTATED)
		ret = annotated_name(p, u[2].w, &w->name);
	else
		w->name = call > 0 && call < VP_CALL_COUNT ? call : VP_CALL_COUNT + kind;
	if (w->t1 > b->line->t_last)
		b->line->t_last = w->t1;
	return ret;
}

static int add_wake(struct build *b, const struct vp_unit *u)
{
	struct vprof_wake *w = VPROF_PUSH(&b->line->wakes);

	if (!w)
		return VPROF_ERR_NOMEM;
	w->t = u->t;
	w->object = u[1].t;
	w->before = (uint32_t)u[1].w;
	w->after = (uint32_t)(u[1].w >> 32);
	w->kind = VP_PAYLOAD(u->w) & 0xff;
	w->flags = (uint8_t)(VP_PAYLOAD(u->w) >> 8);
	w->seq = (uint32_t)(VP_PAYLOAD(u->w) >> VP_SEQ_SHIFT);
	return 0;
}

static int add_mark(struct build *b, const struct vp_unit *u)
{
	struct vprof_mark *m = VPROF_PUSH(&b->line->marks);

	if (!m)
		return VPROF_ERR_NOMEM;
	m->t = u->t;
	m->id = u[1].t;
	m->name = VP_CODE(u->w) == VP_KIND_TYPE ? VP_PAYLOAD(u->w) : u[1].w;
	m->kind = (uint8_t)VP_CODE(u->w);
	return 0;
}

static int add_stack(struct build *b, const struct vp_unit *u)
{
	struct vprof_stack *s = VPROF_PUSH(&b->line->stacks);

	if (!s)
		return VPROF_ERR_NOMEM;
	s->t = u->t;
	s->addresses = u + 1;
	s->n = VP_PAYLOAD(u->w) & 0xff;
	s->kind = (uint8_t)(VP_PAYLOAD(u->w) >> 8);
	b->pending_stack = b->line->stacks.n;
	return 0;
}

static int add_message(struct vprof_line *line, const struct vp_unit *u)
{
	struct vprof_message *m;
	struct vprof_ready *r;

	if (VP_CODE(u->w) == VP_KIND_READY) {
		r = line->waits.n ? VPROF_PUSH(&line->ready) : NULL;
		if (r)
			*r = (struct vprof_ready){ u[1].t, line->waits.n - 1 };
		return r || !line->waits.n ? 0 : VPROF_ERR_NOMEM;
	}
	m = VPROF_PUSH(&line->messages);
	if (!m)
		return VPROF_ERR_NOMEM;
	*m = (struct vprof_message){ u->t, VP_PAYLOAD(u->w), u[1].t, u[1].w, VP_CODE(u->w) == VP_KIND_RECEIVE };
	if (m->is_receive && m->took > m->t)
		m->took = m->t;
	return 0;
}

static int add_small(struct build *b, const struct vp_unit *u)
{
	struct vprof_line *line = b->line;
	struct vprof_queue_event *q;
	struct vprof_creation *c;
	struct vprof_amount *a;

	switch (VP_CODE(u->w)) {
	case VP_KIND_WORK:
		a = VPROF_PUSH(&line->amounts);
		if (!a)
			return VPROF_ERR_NOMEM;
		*a = (struct vprof_amount){ u->t, u[1].t, (int64_t)u[1].w };
		return 0;
	case VP_KIND_ENQUEUE:
	case VP_KIND_DEQUEUE:
		q = VPROF_PUSH(&line->queue_events);
		if (!q)
			return VPROF_ERR_NOMEM;
		*q = (struct vprof_queue_event){ u->t, u[1].t, VP_CODE(u->w) == VP_KIND_DEQUEUE, 0 };
		return 0;
	case VP_KIND_SEND:
	case VP_KIND_RECEIVE:
	case VP_KIND_READY:
		return add_message(line, u);
	case VP_KIND_CREATE:
		c = VPROF_PUSH(&line->creations);
		if (!c)
			return VPROF_ERR_NOMEM;
		*c = (struct vprof_creation){ u->t, u[1].t, u[1].w == 1 };
		return 0;
	case VP_KIND_START:
		line->start_token = u[1].t;
		return 0;
	case VP_KIND_EXIT:
		line->t_exit = u->t;
		return 0;
	case VP_KIND_FALSE_WAKE:
		b->false_wake = 1;
		return 0;
	case VP_KIND_DROPPED:
		b->timeline->n_dropped_marks++;
		return 0;
	case VP_KIND_COUNT:
		vprof_samples_count(line, VP_PAYLOAD(u->w) & VP_CODE_MASK, (uint32_t)(VP_PAYLOAD(u->w) >> VP_CODE_BITS));
		return 0;
	default:
		return 0;
	}
}

static int add_enter(struct build *b, const struct vp_unit *u)
{
	struct open_frame *f = VPROF_PUSH(&b->open);

	if (!f)
		return VPROF_ERR_NOMEM;
	f->t = u->t;
	f->code = (uint32_t)VP_PAYLOAD(u->w) & VP_CODE_MASK;
	return 0;
}

static int add_record(struct build *b, const struct vp_unit *u)
{
	struct vprof_line *line = b->line;
	uint32_t code = VP_CODE(u->w);

	b->timeline->n_records++;
	if (code == VP_KIND_STRING)
		return add_string(b->timeline->private, u);
	if (code == VP_KIND_MODULE)
		return add_module(b, u);
	if (u->t == 0 || u->t > TIME_MAX) {
		b->timeline->n_bad++;
		return 0;
	}
	if (b->pending_stack && code != VP_KIND_STACK) {
		struct vprof_stack *s = &line->stacks.v[b->pending_stack - 1];

		s->next_kind = code < VP_CODE_FUNCTION && code != VP_KIND_SAMPLE ? (uint8_t)code : VP_KIND_NONE;
		s->t = u->t;
		b->pending_stack = 0;
	}
	if (u->t < line->t_first)
		line->t_first = u->t;
	if (code >= VP_CODE_FUNCTION)
		return add_call(b, u->t, VP_PAYLOAD(u->w), code);
	if (code != VP_KIND_WAIT && u->t > line->t_last)
		line->t_last = u->t;
	switch (code) {
	case VP_KIND_ENTER:
		return add_enter(b, u);
	case VP_KIND_SAMPLE:
		return add_sample(b, u);
	case VP_KIND_BEGIN:
	case VP_KIND_RESUME:
	case VP_KIND_SUSPEND:
	case VP_KIND_END:
	case VP_KIND_TYPE:
		return add_mark(b, u);
	case VP_KIND_WAIT:
		return add_wait(b, u);
	case VP_KIND_WAKE:
		return add_wake(b, u);
	case VP_KIND_STACK:
		return add_stack(b, u);
	default:
		return add_small(b, u);
	}
}

static int mark_order(const void *a, const void *b)
{
	const struct vprof_mark *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

static int message_order(const void *a, const void *b)
{
	const struct vprof_message *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

static int queue_order(const void *a, const void *b)
{
	const struct vprof_queue_event *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

/* Records of one thread are in time order already, but a signal handler or damage can swap two. */
static void sort_marks(struct vprof_line *line)
{
	for (size_t i = 1; i < line->marks.n; i++) {
		if (line->marks.v[i].t < line->marks.v[i - 1].t) {
			qsort(line->marks.v, line->marks.n, sizeof *line->marks.v, mark_order);
			break;
		}
	}
	for (size_t i = 1; i < line->messages.n; i++) {
		if (line->messages.v[i].t < line->messages.v[i - 1].t) {
			qsort(line->messages.v, line->messages.n, sizeof *line->messages.v, message_order);
			break;
		}
	}
	for (size_t i = 1; i < line->queue_events.n; i++) {
		if (line->queue_events.v[i].t < line->queue_events.v[i - 1].t) {
			qsort(line->queue_events.v, line->queue_events.n, sizeof *line->queue_events.v,
			      queue_order);
			break;
		}
	}
}

static int build_thread(struct build *b, const struct vprof_trace_thread *thread)
{
	struct vprof_timeline *timeline = b->timeline;
	struct vprof_line *line = b->line;
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	uint32_t n_units;

	line->thread_seq = thread->thread_seq;
	line->process_seq = thread->process_seq;
	line->pid = thread->pid;
	line->tid = thread->tid;
	line->t_first = UINT64_MAX;
	b->ended.n = b->open.n = 0;
	b->pending_stack = 0;
	b->false_wake = 0;
	vprof_trace_cursor_init(&cursor, thread);
	while ((u = vprof_trace_next(&cursor, &n_units))) {
		if (n_units < vp_record_units(u->w))
			continue;
		if (add_record(b, u))
			return VPROF_ERR_NOMEM;
	}
	while (b->open.n)
		if (close_unrecorded(b))
			return VPROF_ERR_NOMEM;
	if (line->t_first == UINT64_MAX)
		line->t_first = line->t_last;
	else if (line->t_first < timeline->t_first)
		timeline->t_first = line->t_first;
	if (line->t_last > timeline->t_last)
		timeline->t_last = line->t_last;
	sort_marks(line);
	vprof_samples_sort(line);
	return vprof_calls_build(line, b->ended.v, b->ended.n);
}

static int init_names(struct vprof_timeline_private *p)
{
	for (size_t i = 0; i < VP_CALL_COUNT + N_KIND_NAMES; i++) {
		const char **name = VPROF_PUSH(&p->names);

		if (!name)
			return VPROF_ERR_NOMEM;
		*name = i < VP_CALL_COUNT ? call_names[i] : kind_names[i - VP_CALL_COUNT];
	}
	return 0;
}

static void finish_names(struct vprof_timeline *timeline)
{
	struct vprof_timeline_private *p = timeline->private;

	for (size_t i = 0; i < p->annotated.n; i++) {
		const char *text = vprof_timeline_string(timeline, p->annotated.v[i].hash);

		p->names.v[p->annotated.v[i].index] = text && *text ? text : kind_names[VP_WAIT_ANNOTATED];
	}
	timeline->names = p->names.v;
	timeline->n_names = p->names.n;
}

int vprof_timeline_build(struct vprof_timeline **out, const struct vprof_trace *trace,
			 void (*progress)(void *arg, double done), void *arg, struct vprof_error *err)
{
	struct vprof_timeline *timeline = calloc(1, sizeof *timeline);
	struct build b = { .timeline = timeline };
	int ret = VPROF_ERR_NOMEM;

	*out = NULL;
	if (!timeline)
		goto out;
	timeline->trace = trace;
	timeline->ns_per_tick = trace->header.ns_per_tick;
	timeline->t_first = UINT64_MAX;
	timeline->private = calloc(1, sizeof *timeline->private);
	timeline->threads = calloc(trace->n_threads ? trace->n_threads : 1, sizeof *timeline->threads);
	if (!timeline->private || !timeline->threads || init_names(timeline->private))
		goto out;
	for (size_t i = 0; i < trace->n_threads; i++) {
		b.line = &timeline->threads[i];
		timeline->n_threads = i + 1;
		if (build_thread(&b, &trace->threads[i]))
			goto out;
		if (progress)
			progress(arg, (double)(i + 1) / (double)trace->n_threads);
	}
	if (vprof_samples_limit(timeline->threads, timeline->n_threads))
		goto out;
	if (timeline->t_first == UINT64_MAX)
		timeline->t_first = timeline->t_last;
	if (vprof_offs_build(timeline))
		goto out;
	finish_names(timeline);
	*out = timeline;
	timeline = NULL;
	ret = 0;
out:
	VPROF_ARRAY_RELEASE(&b.ended);
	VPROF_ARRAY_RELEASE(&b.open);
	vprof_timeline_free(timeline);
	if (ret)
		vprof_error_set(err, ret, "not enough memory for the trace's timeline: record a shorter run, or "
				"analyse on a machine with more memory");
	return ret;
}

static void line_release(struct vprof_line *line)
{
	VPROF_ARRAY_RELEASE(&line->calls);
	VPROF_ARRAY_RELEASE(&line->waits);
	VPROF_ARRAY_RELEASE(&line->wakes);
	VPROF_ARRAY_RELEASE(&line->queue_events);
	VPROF_ARRAY_RELEASE(&line->marks);
	VPROF_ARRAY_RELEASE(&line->amounts);
	VPROF_ARRAY_RELEASE(&line->creations);
	VPROF_ARRAY_RELEASE(&line->stacks);
	VPROF_ARRAY_RELEASE(&line->messages);
	VPROF_ARRAY_RELEASE(&line->ready);
	VPROF_ARRAY_RELEASE(&line->samples);
	VPROF_ARRAY_RELEASE(&line->offs);
}

void vprof_timeline_free(struct vprof_timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->n_threads; i++)
		line_release(&timeline->threads[i]);
	free(timeline->threads);
	VPROF_ARRAY_RELEASE(&timeline->modules);
	if (timeline->private) {
		for (size_t i = 0; i < timeline->private->texts.n; i++)
			free(timeline->private->texts.v[i]);
		VPROF_ARRAY_RELEASE(&timeline->private->texts);
		VPROF_ARRAY_RELEASE(&timeline->private->annotated);
		VPROF_ARRAY_RELEASE(&timeline->private->names);
		free(timeline->private->slots);
		free(timeline->private);
	}
	free(timeline);
}
