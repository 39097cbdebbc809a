/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Perfetto trace (protos/perfetto/trace of Perfetto; field numbers below are theirs). All packets are one sequence;
 * names, places and categories are interned with identifiers that follow from the trace's own codes, so that no table
 * of names is kept.
 *
 * Tracks: each thread, with its calls and waits as nested slices; beneath it one that says for which interval it
 * worked; and one for each interval beneath its process, all of the interval's name, which viewers show as one. Flows:
 * from who ended a wait to its end, and from one thread's work for an interval to the next.
 */
#include "report/export/export.h"
#include "report/export/protobuf.h"
#include "report/export/slices.h"

#define SEQUENCE 1
#define CLOCK_OF_REALTIME 1
#define CLOCK_OF_MONOTONIC 3
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum category {
	CATEGORY_CALL = 1,
	CATEGORY_SAMPLED,
	CATEGORY_WAIT,
	CATEGORY_PREEMPTED,
	CATEGORY_WAKE,
	CATEGORY_INTERVAL
};
static const char *const categories[] = { NULL, "call", "sampled", "wait", "preempted", "wake", "interval" };

/* Kinds of tracks: the upper half of their identifiers. */
enum track { TRACK_PROCESS = 1, TRACK_THREAD, TRACK_WORK, TRACK_INTERVAL };
#define TRACK(kind, number) ((uint64_t)(kind) << 32 | (number))
/* Kinds of interned names, above the codes of calls. */
#define NAME_OF_WAIT(index) ((uint64_t)(VP_CODE_MASK) + 2 + (index))
#define FLOW_OF_INTERVAL(index) ((uint64_t)1 << 40 | (index))

struct perfetto {
	FILE *to;
	const struct vprof_trace_part *part;
	struct vprof_text packet, event, inner, interned;
	uint8_t *known_codes; /* bit set: interned already */
	uint8_t *known_waits; /* [n_names] */
	int failed;
};

static void put_packet(struct perfetto *p, uint64_t flags)
{
	struct vprof_text head = VPROF_TEXT_INIT;

	if (p->interned.len) {
		vprof_protobuf_message(&p->packet, 12, &p->interned);
		vprof_text_clear(&p->interned);
	}
	vprof_protobuf_uint(&p->packet, 10, SEQUENCE);
	vprof_protobuf_uint(&p->packet, 13, flags);
	vprof_protobuf_message(&head, 1, &p->packet);
	p->failed |= head.failed;
	fwrite(head.s, 1, head.len, p->to);
	vprof_text_release(&head);
	vprof_text_clear(&p->packet);
}

static void put_event(struct perfetto *p, uint64_t ticks)
{
	vprof_protobuf_uint(&p->packet, 8, vprof_part_monotonic_ns(p->part, ticks));
	vprof_protobuf_message(&p->packet, 11, &p->event);
	put_packet(p, FLAG_NEEDS_STATE);
	vprof_text_clear(&p->event);
}

static void begin_event(struct perfetto *p, unsigned type, uint64_t track, enum category category)
{
	vprof_protobuf_uint(&p->event, 9, type);
	vprof_protobuf_uint(&p->event, 11, track);
	if (category)
		vprof_protobuf_uint(&p->event, 3, category);
}

static void end_slice(struct perfetto *p, uint64_t track, uint64_t ticks)
{
	begin_event(p, SLICE_END, track, 0);
	put_event(p, ticks);
}

/* A debug annotation: a text, or a number when that is NULL. */
static void annotate(struct perfetto *p, const char *name, const char *text, uint64_t number)
{
	vprof_protobuf_string(&p->inner, 10, name);
	if (text)
		vprof_protobuf_string(&p->inner, 6, text);
	else
		vprof_protobuf_uint(&p->inner, 3, number);
	vprof_protobuf_message(&p->event, 4, &p->inner);
	vprof_text_clear(&p->inner);
}

static void intern_name(struct perfetto *p, uint32_t field, uint64_t id, const char *name)
{
	vprof_protobuf_uint(&p->inner, 1, id);
	vprof_protobuf_string(&p->inner, 2, name);
	vprof_protobuf_message(&p->interned, field, &p->inner);
	vprof_text_clear(&p->inner);
}

/* The clocks' times at the trace's begin; what all packets have in common; the categories. */
static void put_head(struct perfetto *p)
{
	const struct {
		uint64_t clock, ns;
	} clocks[] = {
		{ CLOCK_OF_REALTIME, vprof_part_unix_ns(p->part, p->part->start) },
		{ CLOCK_OF_MONOTONIC, vprof_part_monotonic_ns(p->part, p->part->start) },
	};

	for (int i = 0; i < 2; i++) {
		vprof_protobuf_uint(&p->inner, 1, clocks[i].clock);
		vprof_protobuf_uint(&p->inner, 2, clocks[i].ns);
		vprof_protobuf_message(&p->event, 1, &p->inner);
		vprof_text_clear(&p->inner);
	}
	vprof_protobuf_uint(&p->event, 2, CLOCK_OF_MONOTONIC);
	vprof_protobuf_message(&p->packet, 6, &p->event);
	vprof_text_clear(&p->event);
	vprof_protobuf_uint(&p->event, 58, CLOCK_OF_MONOTONIC);
	vprof_protobuf_message(&p->packet, 59, &p->event);
	vprof_text_clear(&p->event);
	vprof_protobuf_uint(&p->packet, 87, 1);
	for (uint64_t i = CATEGORY_CALL; i <= CATEGORY_INTERVAL; i++)
		intern_name(p, 1, i, categories[i]);
	put_packet(p, FLAG_CLEARED);
}

static void put_track(struct perfetto *p, uint64_t track, uint64_t parent, const char *name)
{
	vprof_protobuf_uint(&p->event, 1, track);
	if (parent)
		vprof_protobuf_uint(&p->event, 5, parent);
	if (name)
		vprof_protobuf_string(&p->event, 2, name);
	vprof_protobuf_message(&p->packet, 60, &p->event);
	put_packet(p, FLAG_NEEDS_STATE);
	vprof_text_clear(&p->event);
}

static void put_thread_tracks(struct perfetto *p, uint32_t thread)
{
	const struct vprof_thread_timeline *line = &p->part->timeline->threads[thread];
	struct vprof_part_name name;

	if (!thread || line[-1].process_seq != line->process_seq) {
		vprof_protobuf_uint(&p->inner, 1, line->pid);
		vprof_protobuf_string(&p->inner, 6, *p->part->program ? p->part->program : "process");
		vprof_protobuf_message(&p->event, 3, &p->inner);
		vprof_text_clear(&p->inner);
		put_track(p, TRACK(TRACK_PROCESS, line->process_seq), 0, NULL);
	}
	vprof_protobuf_uint(&p->inner, 1, line->pid);
	vprof_protobuf_uint(&p->inner, 2, line->tid);
	vprof_protobuf_string(&p->inner, 5, vprof_part_thread(p->part, thread, &name));
	vprof_protobuf_message(&p->event, 4, &p->inner);
	vprof_text_clear(&p->inner);
	put_track(p, TRACK(TRACK_THREAD, thread), TRACK(TRACK_PROCESS, line->process_seq), NULL);
}

static void name_call(struct perfetto *p, uint32_t code)
{
	struct vprof_part_name room;
	const char *name;
	const struct vprof_probe *probe = vprof_part_call(p->part, code, &name, &room);
	int has_place = probe && probe->file && *probe->file;

	vprof_protobuf_uint(&p->event, 10, (uint64_t)code + 1);
	if (has_place)
		vprof_protobuf_uint(&p->event, 34, (uint64_t)code + 1);
	if (p->known_codes[code / 8] >> code % 8 & 1)
		return;
	p->known_codes[code / 8] |= (uint8_t)(1u << code % 8);
	intern_name(p, 2, (uint64_t)code + 1, name);
	if (!has_place)
		return;
	vprof_protobuf_uint(&p->inner, 1, (uint64_t)code + 1);
	vprof_protobuf_string(&p->inner, 2, probe->file);
	vprof_protobuf_string(&p->inner, 3, name);
	if (probe->line > 0)
		vprof_protobuf_uint(&p->inner, 4, (uint64_t)probe->line);
	vprof_protobuf_message(&p->interned, 4, &p->inner);
	vprof_text_clear(&p->inner);
}

static void name_wait(struct perfetto *p, const struct vprof_wait *w)
{
	if (w->name >= p->part->timeline->n_names) {
		vprof_protobuf_string(&p->event, 23, "wait");
		return;
	}
	vprof_protobuf_uint(&p->event, 10, NAME_OF_WAIT(w->name));
	if (!p->known_waits[w->name])
		intern_name(p, 2, NAME_OF_WAIT(w->name), vprof_part_wait(p->part, w));
	p->known_waits[w->name] = 1;
}

static void begin_slice(struct perfetto *p, uint32_t thread, const struct vprof_slice *x)
{
	const struct vprof_wait *w =
		x->kind == VPROF_SLICE_WAIT ? &p->part->timeline->threads[thread].waits.v[x->index] : NULL;
	struct vprof_part_name name;

	begin_event(p, SLICE_BEGIN, TRACK(TRACK_THREAD, thread),
		    w				? CATEGORY_WAIT :
		    x->kind == VPROF_SLICE_CALL ? CATEGORY_CALL :
						  CATEGORY_PREEMPTED);
	if (x->is_sampled)
		vprof_protobuf_uint(&p->event, 3, CATEGORY_SAMPLED);
	if (w) {
		name_wait(p, w);
		annotate(p, "object", NULL, w->object);
		if (w->waker < p->part->timeline->n_threads)
			annotate(p, "ended by", vprof_part_thread(p->part, w->waker, &name), 0);
	} else if (x->kind == VPROF_SLICE_CALL) {
		name_call(p, x->index);
	} else {
		vprof_protobuf_string(&p->event, 23, "preempted");
	}
	if (x->is_cut)
		annotate(p, "cut", "it began before this part of the trace or ended after it", 0);
	put_event(p, x->low);
}

/* Events of no length at both ends of an arrow: who woke may have been in no call. */
static void put_wake(struct perfetto *p, uint32_t thread, const struct vprof_wait *w, uint64_t flow)
{
	struct vprof_part_name name;
	char text[80];

	snprintf(text, sizeof text, "wakes %s", vprof_part_thread(p->part, thread, &name));
	begin_event(p, INSTANT, TRACK(TRACK_THREAD, w->waker), CATEGORY_WAKE);
	vprof_protobuf_string(&p->event, 23, text);
	vprof_protobuf_fixed64(&p->event, 47, flow);
	put_event(p, w->wake_t);
	snprintf(text, sizeof text, "woken by %s", vprof_part_thread(p->part, w->waker, &name));
	begin_event(p, INSTANT, TRACK(TRACK_THREAD, thread), CATEGORY_WAKE);
	vprof_protobuf_string(&p->event, 23, text);
	vprof_protobuf_fixed64(&p->event, 48, flow);
	put_event(p, w->t1);
}

static int put_slices(struct perfetto *p, struct vprof_slices *s, uint32_t thread, uint64_t *flow)
{
	if (vprof_slices_gather(s, thread))
		return VPROF_ERR_NOMEM;
	s->open.n = 0;
	for (size_t i = 0; i < s->v.n; i++) {
		uint32_t *slot;

		while (s->open.n > s->v.v[i].depth)
			end_slice(p, TRACK(TRACK_THREAD, thread), s->v.v[s->open.v[--s->open.n]].high);
		begin_slice(p, thread, &s->v.v[i]);
		slot = VPROF_PUSH(&s->open);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (uint32_t)i;
	}
	while (s->open.n)
		end_slice(p, TRACK(TRACK_THREAD, thread), s->v.v[s->open.v[--s->open.n]].high);
	for (size_t i = 0; i < s->v.n; i++) {
		const struct vprof_slice *x = &s->v.v[i];
		const struct vprof_wait *w =
			x->kind == VPROF_SLICE_WAIT ? &p->part->timeline->threads[thread].waits.v[x->index] : NULL;

		if (w && vprof_slices_is_woken(p->part, w))
			put_wake(p, thread, w, ++*flow);
	}
	return 0;
}

static void name_interval(struct perfetto *p, const struct vprof_instance *x)
{
	const char *name = vprof_part_interval_name(p->part, x);
	struct vprof_part_name room;
	const char *type = vprof_part_type(p->part, x, &room);

	vprof_protobuf_string(&p->event, 23, name);
	annotate(p, "id", NULL, x->id);
	if (*type)
		annotate(p, "type", type, 0);
}

/* For which intervals a thread worked, and when. */
static void put_work(struct perfetto *p, uint32_t thread)
{
	const struct vprof_intervals *all = p->part->intervals;
	uint64_t track = TRACK(TRACK_WORK, thread);
	int is_begun = 0;

	for (uint32_t i = all->thread_first[thread]; i < all->thread_first[thread + 1]; i++) {
		const struct vprof_segment *s = &all->segments.v[all->by_thread[i]];
		const struct vprof_instance *x = &all->instances.v[s->instance];
		uint64_t low = s->t0 > p->part->from ? s->t0 : p->part->from,
			 high = s->t1 < p->part->to ? s->t1 : p->part->to;

		if (low > high || s->t1 < p->part->from || s->t0 >= p->part->to)
			continue;
		if (!is_begun++)
			put_track(p, track, TRACK(TRACK_THREAD, thread), "works for");
		begin_event(p, SLICE_BEGIN, track, CATEGORY_INTERVAL);
		name_interval(p, x);
		if (x->n_segments > 1)
			vprof_protobuf_fixed64(&p->event, 47, FLOW_OF_INTERVAL(s->instance));
		put_event(p, low);
		end_slice(p, track, high);
	}
}

static void put_interval(struct perfetto *p, uint32_t index)
{
	const struct vprof_instance *x = &p->part->intervals->instances.v[index];
	uint64_t end = x->state == VPROF_INSTANCE_OPEN ? p->part->timeline->t_last : x->end,
		 track = TRACK(TRACK_INTERVAL, index);

	if (x->state == VPROF_INSTANCE_RESTARTED || end < x->begin)
		return;
	put_track(p, track, TRACK(TRACK_PROCESS, x->process_seq), vprof_part_interval_name(p->part, x));
	begin_event(p, SLICE_BEGIN, track, CATEGORY_INTERVAL);
	name_interval(p, x);
	if (x->state == VPROF_INSTANCE_OPEN)
		annotate(p, "cut", "the trace ended before it", 0);
	put_event(p, x->begin);
	end_slice(p, track, end);
}

int vprof_export_perfetto(struct vprof_export *e, struct vprof_error *err)
{
	struct perfetto p = { .to = e->to,
			      .part = e->part,
			      .packet = VPROF_TEXT_INIT,
			      .event = VPROF_TEXT_INIT,
			      .inner = VPROF_TEXT_INIT,
			      .interned = VPROF_TEXT_INIT,
			      .known_codes = calloc((VP_CODE_MASK + 1) / 8 + 1, 1),
			      .known_waits = calloc(e->part->timeline->n_names + 1, 1) };
	struct vprof_slices s;
	uint64_t flow = 0;
	int ret = vprof_slices_init(&s, e->part);

	if (!p.known_codes || !p.known_waits)
		ret = VPROF_ERR_NOMEM;
	if (!ret)
		put_head(&p);
	for (uint32_t t = 0; !ret && t < e->part->timeline->n_threads; t++)
		put_thread_tracks(&p, t);
	for (size_t i = 0; !ret && i < e->part->instances.n; i++)
		put_interval(&p, e->part->instances.v[i]);
	for (uint32_t t = 0; !ret && t < e->part->timeline->n_threads; t++) {
		put_work(&p, t);
		ret = put_slices(&p, &s, t, &flow);
	}
	if (p.failed)
		ret = VPROF_ERR_NOMEM;
	e->n_left_out = s.n_left_out;
	vprof_slices_release(&s);
	vprof_text_release(&p.packet);
	vprof_text_release(&p.event);
	vprof_text_release(&p.inner);
	vprof_text_release(&p.interned);
	free(p.known_codes);
	free(p.known_waits);
	return ret ? vprof_error_set(
			     err, ret,
			     "not enough memory for this part of the trace: take a shorter one with --from and --to") :
		     0;
}
