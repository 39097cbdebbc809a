/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks of all threads in the order of time drive one small state machine: a label for each thread, and a table of
 * open instances by (name, id).
 *
 * The table holds what is open at the moment, so it stays in the CPU's cache. Whether a mark of something that is
 * not open follows an earlier begin only changes how it is counted: that is settled at the end, for all such marks
 * together. */
#include "analysis/timeline/intervals.h"

#include "analysis/timeline/losses.h"
#include "common/hash/hash_index.h"

#define LABELS_BACK_MAX 65536 /* segments of a thread that are looked at for what a thread worked for */

struct event {
	uint64_t t;
	uint32_t thread, mark;
};

/* a (name, id) of which an instance is open */
struct open_key {
	uint64_t name, id;
	uint32_t newest; /* open instance begun last */
	uint32_t next;	 /* of the keys that are free again */
};

/* a mark of what was not open */
struct unopened {
	uint64_t name, id;
	uint32_t n_instances; /* that had begun before it */
	uint8_t kind;
};

/* when a key was used first */
struct past {
	uint64_t name, id;
	uint32_t instance; /* ... by a BEGIN: the first one's, or VPROF_NONE */
	uint8_t has_ended; /* ... by an END that was settled */
};

struct tracker {
	const struct vprof_timeline *timeline;
	struct vprof_intervals *iv;
	struct event *next; /* heap of threads by their next marks */
	size_t n_next;
	uint32_t *label;	      /* [n_threads] open segment or VPROF_NONE */
	uint32_t *last;		      /* [n_threads] segment that began last, or VPROF_NONE */
	VPROF_ARRAY(uint32_t) before; /* [segments] the one of the same thread before it, or VPROF_NONE */
	struct vprof_hash_index by_key;
	VPROF_ARRAY(struct open_key) keys;
	uint32_t free_key; /* VPROF_NONE: all are in use */
	VPROF_ARRAY(struct unopened) unopened;
};

static int is_before(const struct event *x, const struct event *y)
{
	return x->t != y->t ? x->t < y->t : x->thread < y->thread;
}

/* Puts the event at the heap's root into its place. */
static void sink(struct tracker *tr, struct event e)
{
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < tr->n_next; i = child) {
		if (child + 1 < tr->n_next && is_before(&tr->next[child + 1], &tr->next[child]))
			child++;
		if (is_before(&e, &tr->next[child]))
			break;
		tr->next[i] = tr->next[child];
	}
	tr->next[i] = e;
}

static int first_event_order(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

/* Each thread's marks are sorted. Sorted, the first ones are a heap. An instance for each begin: memory in one piece
 * costs less. */
static int collect_events(struct tracker *tr)
{
	size_t n = 0, n_begins = 0, n_resumes = 0;

	for (size_t i = 0; i < tr->timeline->n_threads; i++) {
		n += tr->timeline->threads[i].marks.n;
		n_begins += tr->timeline->threads[i].n_begins;
		n_resumes += tr->timeline->threads[i].n_resumes;
	}
	tr->next = malloc((tr->timeline->n_threads + 1) * sizeof *tr->next);
	if (!tr->next || n >= VPROF_NONE || VPROF_RESERVE(&tr->iv->instances, n_begins + 1) ||
	    VPROF_RESERVE(&tr->iv->segments, n_begins + n_resumes + 1))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < tr->timeline->n_threads; i++)
		if (tr->timeline->threads[i].marks.n)
			tr->next[tr->n_next++] =
				(struct event){ tr->timeline->threads[i].marks.v[0].t, (uint32_t)i, 0 };
	qsort(tr->next, tr->n_next, sizeof *tr->next, first_event_order);
	return 0;
}

/* Takes the earliest event; 0 when there are no more. */
static int next_event(struct tracker *tr, struct event *e)
{
	const struct vprof_thread_timeline *thr;
	struct event after;

	if (!tr->n_next)
		return 0;
	*e = tr->next[0];
	thr = &tr->timeline->threads[e->thread];
	if (e->mark + 1 < thr->marks.n)
		after = (struct event){ thr->marks.v[e->mark + 1].t, e->thread, e->mark + 1 };
	else
		after = tr->next[--tr->n_next];
	if (tr->n_next)
		sink(tr, after);
	return 1;
}

static uint64_t key_hash(uint64_t name, uint64_t id)
{
	return vprof_mix(name ^ vprof_mix(id));
}

static struct open_key *find_key(struct tracker *tr, uint64_t name, uint64_t id, size_t *at)
{
	VPROF_HASH_EACH(&tr->by_key, key_hash(name, id), *at, i)
	if (tr->keys.v[i].name == name && tr->keys.v[i].id == id)
		return &tr->keys.v[i];
	return NULL;
}

static struct open_key *add_key(struct tracker *tr, uint64_t name, uint64_t id, size_t at)
{
	struct open_key *key = tr->free_key != VPROF_NONE ? &tr->keys.v[tr->free_key] : VPROF_PUSH(&tr->keys);

	if (!key)
		return NULL;
	if (tr->free_key != VPROF_NONE)
		tr->free_key = key->next;
	*key = (struct open_key){ name, id, VPROF_NONE, VPROF_NONE };
	vprof_hash_index_put(&tr->by_key, at, key_hash(name, id), (uint32_t)(key - tr->keys.v));
	return key;
}

static void free_key(struct tracker *tr, struct open_key *key, size_t at)
{
	vprof_hash_index_remove(&tr->by_key, at);
	key->next = tr->free_key;
	tr->free_key = (uint32_t)(key - tr->keys.v);
}

static struct vprof_interval_name *name_counts(struct tracker *tr, uint64_t name)
{
	struct vprof_interval_name *n;

	for (size_t i = 0; i < tr->iv->names.n; i++)
		if (tr->iv->names.v[i].name == name)
			return &tr->iv->names.v[i];
	if (tr->iv->names.n >= 4096) /* more names than anyone annotates: damaged hashes */
		return &tr->iv->names.v[0];
	n = VPROF_PUSH(&tr->iv->names);
	if (n)
		n->name = name;
	return n;
}

/* The open instance that a mark means. The own process comes first; else the one begun last, and it is ambiguous
 * when there were several. */
static uint32_t find_open(struct tracker *tr, struct open_key *key, uint32_t process_seq, int mark_ambiguous)
{
	struct vprof_instance *all = tr->iv->instances.v;

	for (uint32_t i = key->newest; i != VPROF_NONE; i = all[i].older)
		if (all[i].process_seq == process_seq)
			return i;
	if (key->newest != VPROF_NONE && all[key->newest].older != VPROF_NONE && mark_ambiguous)
		all[key->newest].ambiguous = 1;
	return key->newest;
}

static void unlink_open(struct tracker *tr, struct open_key *key, uint32_t instance)
{
	struct vprof_instance *all = tr->iv->instances.v;
	uint32_t *link = &key->newest;

	while (*link != VPROF_NONE && *link != instance)
		link = &all[*link].older;
	if (*link == instance)
		*link = all[instance].older;
	all[instance].older = VPROF_NONE;
}

static void label_clear(struct tracker *tr, uint32_t thread, uint64_t t, uint32_t path)
{
	if (tr->label[thread] != VPROF_NONE) {
		tr->iv->segments.v[tr->label[thread]].t1 = t;
		tr->iv->segments.v[tr->label[thread]].end_path = path;
	}
	tr->label[thread] = VPROF_NONE;
}

static int label_set(struct tracker *tr, uint32_t thread, uint64_t t, uint32_t instance, uint32_t path)
{
	struct vprof_segment *s;
	uint32_t *before;

	if (tr->label[thread] != VPROF_NONE && tr->iv->segments.v[tr->label[thread]].instance == instance) {
		tr->iv->segments.v[tr->label[thread]].t_again = t;
		return 0;
	}
	label_clear(tr, thread, t, 0);
	s = VPROF_PUSH(&tr->iv->segments);
	before = s ? VPROF_PUSH(&tr->before) : NULL;
	if (!before)
		return VPROF_ERR_NOMEM;
	*s = (struct vprof_segment){ t, t, 0, thread, instance, path, 0 };
	*before = tr->last[thread];
	tr->label[thread] = tr->last[thread] = (uint32_t)(tr->iv->segments.n - 1);
	tr->iv->instances.v[instance].n_segments++;
	return 0;
}

static int on_begin(struct tracker *tr, const struct event *e, const struct vprof_mark *m, struct open_key *key,
		    struct vprof_interval_name *counts)
{
	uint32_t process = tr->timeline->threads[e->thread].process_seq, i;
	struct vprof_instance *inst;

	for (i = key->newest; i != VPROF_NONE; i = tr->iv->instances.v[i].older)
		if (tr->iv->instances.v[i].process_seq == process)
			break;
	if (i != VPROF_NONE) {
		tr->iv->instances.v[i].state = VPROF_INSTANCE_RESTARTED;
		counts->n_restarted++;
		unlink_open(tr, key, i);
	}
	inst = VPROF_PUSH(&tr->iv->instances);
	if (!inst || tr->iv->instances.n >= VPROF_NONE)
		return VPROF_ERR_NOMEM;
	inst->begin = inst->end = m->t;
	inst->id = m->id;
	inst->name = m->name;
	inst->begin_thread = inst->end_thread = e->thread;
	inst->process_seq = process;
	inst->older = key->newest;
	key->newest = (uint32_t)(tr->iv->instances.n - 1);
	return label_set(tr, e->thread, m->t, key->newest, m->path);
}

static int note_unopened(struct tracker *tr, const struct vprof_mark *m)
{
	struct unopened *u = VPROF_PUSH(&tr->unopened);

	if (!u)
		return VPROF_ERR_NOMEM;
	*u = (struct unopened){ m->name, m->id, (uint32_t)tr->iv->instances.n, m->kind };
	return 0;
}

/* What a thread worked for at t, up to the events so far; VPROF_NONE: nothing. */
static uint32_t label_at(const struct tracker *tr, uint32_t thread, uint64_t t)
{
	const struct vprof_segment *v = tr->iv->segments.v;
	uint32_t i = tr->last[thread];

	for (int n = 0; i != VPROF_NONE && n < LABELS_BACK_MAX; i = tr->before.v[i], n++)
		if (v[i].t0 <= t)
			return tr->label[thread] == i || v[i].t1 >= t ? v[i].instance : VPROF_NONE;
	return VPROF_NONE;
}

/* The open instance of this name that a mark of VP_ID_RECEIVED means; VPROF_NONE: none. */
static uint32_t received_instance(const struct tracker *tr, const struct event *e, const struct vprof_mark *m)
{
	const struct vprof_thread_timeline *thr = &tr->timeline->threads[e->thread];
	const struct vprof_instance *all = tr->iv->instances.v;
	size_t i = VPROF_BISECT(thr->received.n, k, thr->received.v[k].mark < e->mark);
	uint32_t label = m->kind == VP_KIND_RESUME ? VPROF_NONE : tr->label[e->thread];

	if (label != VPROF_NONE)
		label = tr->iv->segments.v[label].instance;
	for (; label == VPROF_NONE && i < thr->received.n && thr->received.v[i].mark == e->mark; i++)
		if (thr->received.v[i].t <= m->t) {
			label = label_at(tr, thr->received.v[i].thread, thr->received.v[i].t);
			if (label != VPROF_NONE && all[label].name != m->name)
				label = VPROF_NONE;
		}
	return label != VPROF_NONE && all[label].name == m->name && all[label].state == VPROF_INSTANCE_OPEN ?
		       label :
		       VPROF_NONE;
}

static int on_mark(struct tracker *tr, const struct event *e, const struct vprof_mark *m)
{
	struct vprof_interval_name *counts = name_counts(tr, m->name);
	uint32_t process = tr->timeline->threads[e->thread].process_seq, i;
	struct vprof_mark received;
	struct open_key *key;
	size_t at;

	if (!counts || vprof_hash_index_room(&tr->by_key, 1))
		return VPROF_ERR_NOMEM;
	if (m->id == VP_ID_RECEIVED && m->kind != VP_KIND_BEGIN) {
		i = received_instance(tr, e, m);
		if (i != VPROF_NONE) {
			received = *m;
			received.id = tr->iv->instances.v[i].id;
			process = tr->iv->instances.v[i].process_seq;
			m = &received;
		}
	}
	key = find_key(tr, m->name, m->id, &at);
	if (m->kind == VP_KIND_BEGIN) {
		key = key ? key : add_key(tr, m->name, m->id, at);
		return key ? on_begin(tr, e, m, key, counts) : VPROF_ERR_NOMEM;
	}
	if (!key) {
		if (m->kind == VP_KIND_RESUME) /* it works for something else now, whatever that is */
			label_clear(tr, e->thread, m->t, 0);
		return note_unopened(tr, m);
	}
	i = find_open(tr, key, process, m->kind != VP_KIND_SUSPEND);
	if (m->kind == VP_KIND_RESUME)
		return label_set(tr, e->thread, m->t, i, m->path);
	if (tr->label[e->thread] != VPROF_NONE && tr->iv->segments.v[tr->label[e->thread]].instance == i)
		label_clear(tr, e->thread, m->t, m->path);
	if (m->kind == VP_KIND_END) {
		struct vprof_instance *inst = &tr->iv->instances.v[i];

		inst->end = m->t;
		inst->end_thread = e->thread;
		inst->state = VPROF_INSTANCE_COMPLETE;
		unlink_open(tr, key, i);
		if (key->newest == VPROF_NONE)
			free_key(tr, key, at);
	}
	return 0;
}

static void on_type(struct tracker *tr, const struct event *e, const struct vprof_mark *m)
{
	struct vprof_instance *inst;

	if (tr->label[e->thread] == VPROF_NONE)
		return;
	inst = &tr->iv->instances.v[tr->iv->segments.v[tr->label[e->thread]].instance];
	if (inst->state != VPROF_INSTANCE_OPEN)
		return;
	inst->type = m->id;
	inst->type_kind = m->name == 1 ? 2 : 1;
}

static int track(struct tracker *tr)
{
	struct event e;

	while (next_event(tr, &e)) {
		const struct vprof_mark *m = &tr->timeline->threads[e.thread].marks.v[e.mark];

		if (m->kind == VP_KIND_TYPE)
			on_type(tr, &e, m);
		else if (on_mark(tr, &e, m))
			return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < tr->timeline->n_threads; i++) {
		uint64_t last = tr->timeline->threads[i].t_last;

		if (tr->label[i] != VPROF_NONE)
			label_clear(tr, (uint32_t)i, last, 0);
	}
	return 0;
}

struct pasts {
	VPROF_ARRAY(struct past) v;
	struct vprof_hash_index by_key;
};

static struct past *find_past(const struct pasts *pasts, uint64_t name, uint64_t id, size_t *at)
{
	VPROF_HASH_EACH(&pasts->by_key, key_hash(name, id), *at, i)
	if (pasts->v.v[i].name == name && pasts->v.v[i].id == id)
		return &pasts->v.v[i];
	return NULL;
}

/* The keys of the marks, and the first instance of each. */
static int find_pasts(const struct tracker *tr, struct pasts *pasts)
{
	size_t at;

	if (vprof_hash_index_room(&pasts->by_key, tr->unopened.n))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < tr->unopened.n; i++) {
		const struct unopened *u = &tr->unopened.v[i];
		struct past *p = find_past(pasts, u->name, u->id, &at);

		if (p)
			continue;
		p = VPROF_PUSH(&pasts->v);
		if (!p)
			return VPROF_ERR_NOMEM;
		*p = (struct past){ u->name, u->id, VPROF_NONE, 0 };
		vprof_hash_index_put(&pasts->by_key, at, key_hash(u->name, u->id), (uint32_t)pasts->v.n - 1);
	}
	for (size_t i = tr->iv->instances.n; i-- > 0;) {
		const struct vprof_instance *inst = &tr->iv->instances.v[i];
		struct past *p = find_past(pasts, inst->name, inst->id, &at);

		if (p)
			p->instance = (uint32_t)i;
	}
	return 0;
}

/* Marks of what had begun or ended before are stray; else, begun before the trace, an END is counted as such. */
static int settle_unopened(struct tracker *tr)
{
	struct pasts pasts = { 0 };
	int ret = tr->unopened.n ? find_pasts(tr, &pasts) : 0;
	size_t at;

	for (size_t i = 0; i < tr->unopened.n && !ret; i++) {
		const struct unopened *u = &tr->unopened.v[i];
		struct past *p = find_past(&pasts, u->name, u->id, &at);
		struct vprof_interval_name *counts = name_counts(tr, u->name);

		if (p->has_ended || p->instance < u->n_instances) {
			counts->n_stray++;
		} else if (u->kind == VP_KIND_END) {
			counts->n_ends_only++;
			p->has_ended = 1;
		}
	}
	VPROF_ARRAY_RELEASE(&pasts.v);
	vprof_hash_index_release(&pasts.by_key);
	return ret;
}

static void count_state(struct tracker *tr, const struct vprof_instance *inst)
{
	struct vprof_interval_name *counts = name_counts(tr, inst->name);

	counts->n_complete += inst->state == VPROF_INSTANCE_COMPLETE;
	counts->n_open += inst->state == VPROF_INSTANCE_OPEN;
	counts->n_ambiguous += inst->state == VPROF_INSTANCE_COMPLETE && inst->ambiguous;
}

/* Counting sort: segments are sorted by begin, so every group is. */
static int group(struct tracker *tr)
{
	struct vprof_intervals *iv = tr->iv;
	size_t n = iv->segments.n;
	uint32_t *place, next = 0;

	iv->n_threads = tr->timeline->n_threads;
	iv->by_instance = vprof_array_room(NULL, &iv->cap_by_instance, n + 1, sizeof *iv->by_instance);
	iv->by_thread = vprof_array_room(NULL, &iv->cap_by_thread, n + 1, sizeof *iv->by_thread);
	iv->thread_first = calloc(iv->n_threads + 2, sizeof *iv->thread_first);
	if (!iv->by_instance || !iv->by_thread || !iv->thread_first)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < iv->instances.n; i++) {
		iv->instances.v[i].first_segment = next;
		next += iv->instances.v[i].n_segments;
		iv->instances.v[i].n_segments = 0;
		count_state(tr, &iv->instances.v[i]);
	}
	for (size_t i = 0; i < n; i++) {
		struct vprof_instance *inst = &iv->instances.v[iv->segments.v[i].instance];

		iv->by_instance[inst->first_segment + inst->n_segments++] = (uint32_t)i;
		iv->thread_first[iv->segments.v[i].thread + 1]++;
	}
	for (size_t i = 0; i < iv->n_threads; i++)
		iv->thread_first[i + 1] += iv->thread_first[i];
	place = malloc((iv->n_threads ? iv->n_threads : 1) * sizeof *place);
	if (!place)
		return VPROF_ERR_NOMEM;
	memcpy(place, iv->thread_first, iv->n_threads * sizeof *place);
	for (size_t i = 0; i < n; i++)
		iv->by_thread[place[iv->segments.v[i].thread]++] = (uint32_t)i;
	free(place);
	return 0;
}

/* Did the thread get anything from a channel after the first loss, and in [from, to]? */
static int has_received(const struct vprof_timeline *timeline, uint32_t thread, uint64_t from, uint64_t to)
{
	const struct vprof_thread_timeline *thr = &timeline->threads[thread];
	uint64_t first = vprof_losses_first(timeline);
	size_t i = VPROF_TIME_SEARCH(&thr->messages, to, 0);

	from = from > first ? from : first;
	while (i-- > 0 && thr->messages.v[i].t >= from)
		if (thr->messages.v[i].is_receive)
			return 1;
	return 0;
}

/* Did the thread enqueue anything in [from, to]? */
static int has_enqueued(const struct vprof_thread_timeline *thr, uint64_t from, uint64_t to)
{
	size_t i = VPROF_TIME_SEARCH(&thr->queue_events, to, 0);

	while (i-- > 0 && thr->queue_events.v[i].t >= from)
		if (!thr->queue_events.v[i].is_dequeue && !thr->queue_events.v[i].is_message)
			return 1;
	return 0;
}

static int is_lossy(const struct vprof_timeline *timeline, const struct vprof_intervals *iv,
		    const struct vprof_instance *inst)
{
	if (inst->end < vprof_losses_first(timeline))
		return 0;
	if (vprof_losses_touch(timeline, inst->begin, inst->end) ||
	    has_received(timeline, inst->end_thread, inst->begin, inst->end))
		return 1;
	/* a dispatcher may have got it from a channel and enqueued it */
	for (size_t i = 0; i < timeline->n_threads; i++)
		if (has_received(timeline, (uint32_t)i, inst->begin, inst->end) &&
		    has_enqueued(&timeline->threads[i], inst->begin, inst->end))
			return 1;
	for (uint32_t i = 0; i < inst->n_segments; i++) {
		const struct vprof_segment *s = &iv->segments.v[iv->by_instance[inst->first_segment + i]];

		if (has_received(timeline, s->thread, inst->begin, s->t1 < inst->end ? s->t1 : inst->end))
			return 1;
	}
	return 0;
}

/* Sets is_lossy of the instances that cannot be trusted. */
static void mark_lossy(const struct vprof_timeline *timeline, struct vprof_intervals *intervals)
{
	for (size_t i = 0; i < intervals->instances.n && timeline->losses.n; i++)
		intervals->instances.v[i].is_lossy = (uint8_t)is_lossy(timeline, intervals, &intervals->instances.v[i]);
}

int vprof_intervals_build(struct vprof_intervals **out, const struct vprof_timeline *timeline, struct vprof_error *err)
{
	struct tracker tr = { .timeline = timeline, .free_key = VPROF_NONE };
	int ret = VPROF_ERR_NOMEM;

	*out = NULL;
	tr.iv = calloc(1, sizeof *tr.iv);
	tr.label = malloc((timeline->n_threads ? timeline->n_threads : 1) * sizeof *tr.label);
	tr.last = malloc((timeline->n_threads ? timeline->n_threads : 1) * sizeof *tr.last);
	if (!tr.iv || !tr.label || !tr.last)
		goto out;
	for (size_t i = 0; i < timeline->n_threads; i++)
		tr.label[i] = tr.last[i] = VPROF_NONE;
	if (collect_events(&tr) || track(&tr) || settle_unopened(&tr) || group(&tr))
		goto out;
	mark_lossy(timeline, tr.iv);
	*out = tr.iv;
	tr.iv = NULL;
	ret = 0;
out:
	vprof_intervals_free(tr.iv);
	free(tr.label);
	free(tr.last);
	free(tr.next);
	VPROF_ARRAY_RELEASE(&tr.before);
	vprof_hash_index_release(&tr.by_key);
	VPROF_ARRAY_RELEASE(&tr.keys);
	VPROF_ARRAY_RELEASE(&tr.unopened);
	if (ret)
		vprof_error_set(err, ret, "not enough memory for the trace's intervals: record a shorter run");
	return ret;
}

void vprof_intervals_free(struct vprof_intervals *iv)
{
	if (!iv)
		return;
	VPROF_ARRAY_RELEASE(&iv->instances);
	VPROF_ARRAY_RELEASE(&iv->segments);
	VPROF_ARRAY_RELEASE(&iv->names);
	vprof_array_free(iv->by_instance, iv->cap_by_instance, sizeof *iv->by_instance);
	vprof_array_free(iv->by_thread, iv->cap_by_thread, sizeof *iv->by_thread);
	free(iv->thread_first);
	free(iv);
}

uint32_t vprof_intervals_segment_before(const struct vprof_intervals *iv, uint32_t thread, uint64_t t)
{
	uint32_t first = iv->thread_first[thread];
	const uint32_t *of_thread = iv->by_thread + first;
	size_t n = VPROF_BISECT(iv->thread_first[thread + 1] - first, i, iv->segments.v[of_thread[i]].t0 <= t);

	return n ? first + (uint32_t)n - 1 : VPROF_NONE;
}

uint32_t vprof_intervals_segment_of(const struct vprof_intervals *iv, uint32_t thread, uint64_t t, uint32_t instance)
{
	uint32_t place = vprof_intervals_segment_before(iv, thread, t);

	while (place != VPROF_NONE) {
		uint32_t s = iv->by_thread[place];

		if (iv->segments.v[s].t1 < t)
			return VPROF_NONE;
		if (iv->segments.v[s].instance == instance)
			return s;
		if (place-- == iv->thread_first[thread])
			return VPROF_NONE;
	}
	return VPROF_NONE;
}
