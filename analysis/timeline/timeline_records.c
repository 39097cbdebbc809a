/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each kind of record adds. Threads are read at the same time: the tables of the trace are under a lock, and what
 * ends up in them does not depend on who came first.
 */
#include "analysis/timeline/timeline_records.h"

#include "analysis/timeline/timeline_gaps.h"
#include "analysis/timeline/timeline_samples.h"
#include "common/files.h"

#define ENTER_SLACK_TICKS 4096 /* between an ENTER and the entry time of the same frame's call record */
#define TIME_MAX VPROF_CALL_TIME_MAX

static struct vprof_hashed_string *find_string(const struct vprof_timeline_private *p, uint64_t hash, size_t *at)
{
	VPROF_HASH_EACH(&p->by_hash, vprof_mix(hash), *at, i)
	if (p->strings.v[i].hash == hash)
		return &p->strings.v[i];
	return NULL;
}

const char *vprof_timeline_string(const struct vprof_timeline *timeline, uint64_t hash)
{
	size_t at;
	const struct vprof_hashed_string *found = find_string(timeline->private, hash, &at);

	return found ? found->text : NULL;
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

static int keep_string(struct vprof_timeline_private *p, uint64_t hash, const char *bytes, size_t n)
{
	struct vprof_hashed_string *string;
	const char *text;
	size_t at;

	if (vprof_hash_index_room(&p->by_hash, 1))
		return VPROF_ERR_NOMEM;
	string = find_string(p, hash, &at);
	/* two texts of one hash are damage: whichever was read first, the same one stays */
	if (string && strncmp(string->text, bytes, n) <= 0)
		return 0;
	text = text_keep(p, bytes, n);
	if (!text)
		return VPROF_ERR_NOMEM;
	if (string) {
		string->text = text;
		return 0;
	}
	string = VPROF_PUSH(&p->strings);
	if (!string)
		return VPROF_ERR_NOMEM;
	*string = (struct vprof_hashed_string){ hash, text };
	vprof_hash_index_put(&p->by_hash, at, vprof_mix(hash), (uint32_t)p->strings.n - 1);
	return 0;
}

static int add_string(struct vprof_timeline_private *p, const struct vp_unit *u)
{
	int ret;

	pthread_mutex_lock(&p->lock);
	ret = keep_string(p, u->t, (const char *)(u + 1), VP_PAYLOAD(u->w));
	pthread_mutex_unlock(&p->lock);
	return ret;
}

int vprof_timeline_add_string(struct vprof_timeline *timeline, const char *text, uint64_t *hash)
{
	*hash = vprof_hash(VPROF_HASH_SEED, text, strlen(text));
	return keep_string(timeline->private, *hash, text, strlen(text));
}

static int add_module(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_timeline_private *p = b->timeline->private;
	struct vprof_module *m = VPROF_PUSH(&b->thr->modules);

	if (!m)
		return VPROF_ERR_NOMEM;
	m->process_seq = b->thr->process_seq;
	m->low = u->t;
	m->bias = u[1].t;
	m->high = u[1].w;
	pthread_mutex_lock(&p->lock);
	m->path = text_keep(p, u + 2, VP_PAYLOAD(u->w));
	pthread_mutex_unlock(&p->lock);
	return m->path ? 0 : VPROF_ERR_NOMEM;
}

static void add_build_id(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_module *m = b->thr->modules.n ? &b->thr->modules.v[b->thr->modules.n - 1] : NULL;

	if (!m || m->low != u->t || VP_PAYLOAD(u->w) > sizeof m->id)
		return; /* its module was lost */
	m->n_id = (unsigned)VP_PAYLOAD(u->w);
	memcpy(m->id, u + 1, m->n_id);
}

/* Name of an annotated acquire function: its text may come later in the trace, so only its place is taken now. */
static int annotated_name_locked(struct vprof_timeline_private *p, uint64_t hash, uint32_t *index)
{
	struct vprof_annotated_name *a;
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

static int annotated_name(struct vprof_timeline_private *p, uint64_t hash, uint32_t *index)
{
	int ret;

	pthread_mutex_lock(&p->lock);
	ret = annotated_name_locked(p, hash, index);
	pthread_mutex_unlock(&p->lock);
	return ret;
}

int vprof_reading_close(struct vprof_reading *b)
{
	struct vprof_open_frame f = b->open.v[--b->open.n];

	b->n_unclosed++;
	b->n_calls++;
	return vprof_call_index_odd(&b->thr->calls, f.t, b->thr->t_last > f.t ? b->thr->t_last : f.t, f.code, b->unit,
				    0, 0);
}

int vprof_reading_enclose(struct vprof_reading *b, uint64_t t0, uint32_t code)
{
	while (b->open.n) {
		const struct vprof_open_frame *f = &b->open.v[b->open.n - 1];
		uint64_t distance = f->t > t0 ? f->t - t0 : t0 - f->t;

		if (f->code == code && distance <= ENTER_SLACK_TICKS) {
			b->open.n--;
			return 0;
		}
		if (f->t <= t0)
			return 0; /* still open around this call, which may begin at the same tick */
		if (vprof_reading_close(b))
			return VPROF_ERR_NOMEM;
	}
	return 0;
}

static int add_sample(struct vprof_reading *b, const struct vp_unit *u)
{
	uint32_t code = VP_CODE(u[1].w);

	if (u[1].t > VP_PAYLOAD_MAX || code < VP_CODE_FUNCTION) {
		b->n_bad++;
		return 0;
	}
	b->n_sampled++;
	if (vprof_reading_call(b, u->t, u[1].t, code, 1) || vprof_gaps_sampled(b->thr, u->t, code, VP_PAYLOAD(u->w)) ||
	    vprof_samples_add(b->thr, u->t, u[1].t, code, VP_PAYLOAD(u->w)))
		return VPROF_ERR_NOMEM;
	return 0;
}

static int add_wait(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_timeline_private *p = b->timeline->private;
	uint32_t kind = VP_PAYLOAD(u->w) & 0xff, call = u[2].w & 0xffff;
	struct vprof_wait *w;
	int ret = 0;

	if (kind == 0 || kind >= VP_WAIT_COUNT || u[2].t < u->t || u[2].t > TIME_MAX) {
		b->n_bad++;
		return 0;
	}
	w = VPROF_PUSH(&b->thr->waits);
	if (!w)
		return VPROF_ERR_NOMEM;
	w->t0 = u->t;
	w->goes_on = b->false_wake && b->thr->waits.n > 1;
	b->false_wake = 0;
	b->has_wait = 1;
	w->t1 = u[2].t > w->t0 ? u[2].t : w->t0;
	w->object = u[1].t;
	w->ticket = (uint32_t)u[1].w;
	w->kind = (uint8_t)kind;
	w->flags = (uint8_t)(VP_PAYLOAD(u->w) >> 8) & (VPROF_WAIT_READY - 1);
	w->seq = (uint32_t)(VP_PAYLOAD(u->w) >> VP_SEQ_SHIFT);
	w->waker = w->lock = VPROF_NONE;
	if (kind == VP_WAIT_ANNOTATED)
		ret = annotated_name(p, u[2].w, &w->name);
	else
		w->name = call > 0 && call < VP_CALL_COUNT ? call : VP_CALL_COUNT + kind;
	if (w->t1 > b->thr->t_last)
		b->thr->t_last = w->t1;
	return ret;
}

static int add_wake(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_wake *w = VPROF_PUSH(&b->thr->wakes);

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

static uint32_t path_number(uint64_t recorded)
{
	return recorded <= VP_PATHS_MAX ? (uint32_t)recorded : 0;
}

static int add_mark(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_mark *m = VPROF_PUSH(&b->thr->marks);

	if (!m)
		return VPROF_ERR_NOMEM;
	m->t = u->t;
	m->id = u[1].t;
	m->name = VP_CODE(u->w) == VP_KIND_TYPE ? VP_PAYLOAD(u->w) : u[1].w;
	m->kind = (uint8_t)VP_CODE(u->w);
	m->path = m->kind == VP_KIND_TYPE ? 0 : path_number(VP_PAYLOAD(u->w));
	b->thr->n_begins += m->kind == VP_KIND_BEGIN;
	b->thr->n_resumes += m->kind == VP_KIND_RESUME;
	return 0;
}

/* What lies in the buffer is gone with the next chunk. */
static const struct vp_unit *keep_addresses(struct vprof_reading *b, const struct vp_unit *u)
{
	size_t n_bytes = (vp_record_units(u->w) - 1) * sizeof *u;
	struct vprof_timeline_private *p = b->timeline->private;
	char *copy, **slot;

	if (!b->buffer.units)
		return u + 1;
	copy = malloc(n_bytes + 1);
	if (!copy)
		return NULL;
	memcpy(copy, u + 1, n_bytes);
	pthread_mutex_lock(&p->lock);
	slot = VPROF_PUSH(&p->texts);
	if (slot)
		*slot = copy;
	pthread_mutex_unlock(&p->lock);
	if (slot)
		return (const void *)copy;
	free(copy);
	return NULL;
}

/* Paths are numbered as they come; others are damage. */
static int add_path(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_thread_timeline *thr = b->thr;
	uint32_t id = path_number(VP_PAYLOAD(u->w) >> VP_PATH_SHIFT);
	struct vprof_call_path *p;

	if (id <= (thr->paths.n ? thr->paths.v[thr->paths.n - 1].id : 0)) {
		b->n_bad++;
		return 0;
	}
	p = VPROF_PUSH(&thr->paths);
	if (!p)
		return VPROF_ERR_NOMEM;
	*p = (struct vprof_call_path){ id, VP_PAYLOAD(u->w) & 0xff, keep_addresses(b, u) };
	return p->addresses ? 0 : VPROF_ERR_NOMEM;
}

static int add_stack(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_stack *s;

	if ((VP_PAYLOAD(u->w) >> 8 & 0xff) == VP_STACK_PATH)
		return add_path(b, u);
	s = VPROF_PUSH(&b->thr->stacks);
	if (!s)
		return VPROF_ERR_NOMEM;
	s->t = u->t;
	s->addresses = keep_addresses(b, u);
	if (!s->addresses)
		return VPROF_ERR_NOMEM;
	s->n = VP_PAYLOAD(u->w) & 0xff;
	s->kind = (uint8_t)(VP_PAYLOAD(u->w) >> 8);
	b->pending_stack = b->thr->stacks.n;
	return 0;
}

static int add_message(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_thread_timeline *thr = b->thr;
	struct vprof_message *m;
	struct vprof_ready *r;

	if (VP_CODE(u->w) == VP_KIND_READY) {
		r = b->has_wait ? VPROF_PUSH(&thr->ready) : NULL;
		if (r)
			*r = (struct vprof_ready){ u[1].t, thr->waits.n - 1 };
		return r || !b->has_wait ? 0 : VPROF_ERR_NOMEM;
	}
	m = VPROF_PUSH(&thr->messages);
	if (!m)
		return VPROF_ERR_NOMEM;
	*m = (struct vprof_message){ u->t, VP_PAYLOAD(u->w), u[1].t, u[1].w, VP_CODE(u->w) == VP_KIND_RECEIVE };
	if (m->is_receive && m->took > m->t)
		m->took = m->t;
	return 0;
}

static int add_small(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_thread_timeline *thr = b->thr;
	struct vprof_queue_event *q;
	struct vprof_creation *c;
	struct vprof_amount *a;

	switch (VP_CODE(u->w)) {
	case VP_KIND_WORK:
		a = VPROF_PUSH(&thr->amounts);
		if (!a)
			return VPROF_ERR_NOMEM;
		*a = (struct vprof_amount){ u->t, u[1].t, (int64_t)u[1].w };
		return 0;
	case VP_KIND_ENQUEUE:
	case VP_KIND_DEQUEUE:
		q = VPROF_PUSH(&thr->queue_events);
		if (!q)
			return VPROF_ERR_NOMEM;
		*q = (struct vprof_queue_event){ u->t, u[1].t, path_number(u[1].w), VP_CODE(u->w) == VP_KIND_DEQUEUE,
						 0 };
		return 0;
	case VP_KIND_SEND:
	case VP_KIND_RECEIVE:
	case VP_KIND_READY:
		return add_message(b, u);
	case VP_KIND_CREATE:
		c = VPROF_PUSH(&thr->creations);
		if (!c)
			return VPROF_ERR_NOMEM;
		*c = (struct vprof_creation){ u->t, u[1].t, u[1].w == 1 };
		return 0;
	case VP_KIND_START:
		thr->start_token = u[1].t;
		return 0;
	case VP_KIND_EXIT:
		thr->t_exit = u->t;
		return 0;
	case VP_KIND_FALSE_WAKE:
		b->false_wake = b->has_wait;
		return 0;
	case VP_KIND_COUNT:
		vprof_samples_count(thr, VP_PAYLOAD(u->w) & VP_CODE_MASK, (uint32_t)(VP_PAYLOAD(u->w) >> VP_CODE_BITS));
		return vprof_gaps_counted(thr, u->t, VP_PAYLOAD(u->w) & VP_CODE_MASK,
					  (uint32_t)(VP_PAYLOAD(u->w) >> VP_CODE_BITS));
	default:
		return 0;
	}
}

int vprof_reading_lost(struct vprof_reading *b, uint64_t t)
{
	struct vprof_loss *loss = VPROF_PUSH(&b->thr->losses);

	if (!loss)
		return VPROF_ERR_NOMEM;
	*loss = (struct vprof_loss){ b->thr->t_last, t > b->thr->t_last ? t : b->thr->t_last };
	b->false_wake = b->has_wait = 0;
	return 0;
}

static int add_enter(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_open_frame *f = VPROF_PUSH(&b->open);

	if (!f)
		return VPROF_ERR_NOMEM;
	f->t = u->t;
	f->code = (uint32_t)VP_PAYLOAD(u->w) & VP_CODE_MASK;
	return 0;
}

int vprof_reading_record(struct vprof_reading *b, const struct vp_unit *u)
{
	struct vprof_thread_timeline *thr = b->thr;
	uint32_t code = VP_CODE(u->w);

	b->n_records++;
	if (code == VP_KIND_STRING)
		return add_string(b->timeline->private, u);
	if (code == VP_KIND_MODULE)
		return add_module(b, u);
	if (code == VP_KIND_BUILD_ID) {
		add_build_id(b, u);
		return 0;
	}
	if (u->t == 0 || u->t > TIME_MAX) {
		b->n_bad++;
		return 0;
	}
	if (b->pending_stack && code != VP_KIND_STACK) {
		struct vprof_stack *s = &thr->stacks.v[b->pending_stack - 1];

		s->next_kind = code < VP_CODE_FUNCTION && code != VP_KIND_SAMPLE ? (uint8_t)code : VP_KIND_NONE;
		s->t = u->t;
		b->pending_stack = 0;
	}
	if (code == VP_KIND_DROPPED) {
		b->n_dropped_marks++;
		if (vprof_reading_lost(b, u->t))
			return VPROF_ERR_NOMEM;
	}
	if (u->t < thr->t_first)
		thr->t_first = u->t;
	if (code >= VP_CODE_FUNCTION)
		return vprof_reading_call(b, u->t, VP_PAYLOAD(u->w), code, 0);
	if (code != VP_KIND_WAIT && u->t > thr->t_last)
		thr->t_last = u->t;
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
