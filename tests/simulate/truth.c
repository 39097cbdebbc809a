/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/truth.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulate/schedule/hot.h"
#include "tests/simulate/schedule/programs.h"
#include "tests/simulate/truth_waits.h"

#define DEPTH_MAX 64 /* of waits beneath waits */
#define CONVOY_MAX 64
#define STILL_MAX 64
#define LOOK_BACK_MAX 16 /* waits in which a hand-over is looked for */

/* Where the interval was, one step further back. */
struct place {
	const struct sim_thread *th;
	uint64_t t;
	const struct sim_segment *segment;
	const struct sim_work *before; /* without a segment: what the thread had taken up */
};

static size_t add_piece(struct truth *t, struct truth_piece piece)
{
	t->pieces = sim_grow(t->pieces, t->n_pieces, &t->cap_pieces, sizeof *t->pieces);
	piece.depth = piece.parent ? t->pieces[piece.parent - 1].depth + 1 : 0;
	t->pieces[t->n_pieces++] = piece;
	COVER(t->world, PIECES);
	return t->n_pieces;
}

static size_t child_node(struct truth *t, size_t parent, enum truth_class class, uint32_t code, const char *name,
			 uint32_t level)
{
	for (size_t i = parent + 1; i < t->n_nodes; i++) {
		const struct truth_node *n = &t->nodes[i];

		if (n->parent == parent && n->class == class && n->code == code && n->level == level &&
		    (n->name == name || (name && n->name && !strcmp(name, n->name))))
			return i;
	}
	t->nodes = sim_grow(t->nodes, t->n_nodes, &t->cap_nodes, sizeof *t->nodes);
	t->nodes[t->n_nodes++] =
		(struct truth_node){ .parent = parent, .class = class, .code = code, .name = name, .level = level };
	return t->n_nodes - 1;
}

static const char *site_name(uint32_t code)
{
	return code > VP_CODE_SITE && code <= VP_CODE_SITE + SIM_SITES ? sim_site_names[code - VP_CODE_SITE - 1] : NULL;
}

/* Node of the thread's innermost frame, beneath base. Frames of which no record tells are their callers' time. */
static size_t frame_node(struct truth *t, const struct sim_thread *th, uint32_t frame, size_t base, uint32_t level,
			 uint32_t *innermost, uint64_t at)
{
	const struct sim_frame *f = frame ? &th->frames[frame - 1] : NULL;

	if (!f)
		return base;
	if (!hot_is_seen(f, at)) {
		COVER(t->world, UNRECORDED_FRAME);
		return frame_node(t, th, f->parent, base, level, innermost, at);
	}
	*innermost = *innermost ? *innermost : f->code;
	return child_node(t, frame_node(t, th, f->parent, base, level, &(uint32_t){ 1 }, at), TRUTH_FRAME, f->code,
			  NULL, level);
}

/* Index of the last moment at or before `at`; n_moments when the thread did not exist yet. */
static size_t moment_at(const struct sim_thread *th, uint64_t at)
{
	size_t low = 0, high = th->n_moments;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (th->moments[middle].t <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : th->n_moments;
}

struct window {
	const struct sim_thread *th;
	uint64_t from, to;
	size_t parent; /* piece, index + 1 */
	int convoy;
};

static void explain(struct truth *t, struct window in);

static bool is_explained_above(const struct truth *t, const struct sim_wait *w, size_t parent)
{
	for (; parent; parent = t->pieces[parent - 1].parent)
		if (t->pieces[parent - 1].wait == w)
			return true;
	return false;
}

static void cover_waker(struct truth *t, const struct sim_thread *waiter, const struct sim_thread *waker, uint64_t at,
			uint32_t depth)
{
	const struct sim_instance *label = NULL;

	for (size_t i = 0; i < waker->n_segments; i++)
		if (waker->segments[i]->from <= at && at <= waker->segments[i]->to)
			label = waker->segments[i]->instance;
	if (label == t->instance)
		COVER(t->world, BLAME_SELF);
	else if (label)
		COVER(t->world, BLAME_OTHER);
	else
		COVER(t->world, BLAME_NONE);
	if (waker->process != waiter->process)
		COVER(t->world, BLAME_PROCESS);
	if (depth == 1)
		COVER(t->world, BLAME_2);
	if (depth >= 2)
		COVER(t->world, BLAME_3);
}

static void cover_wait(struct truth *t, const struct sim_wait *w, const struct sim_release *r, const struct window *in,
		       uint64_t from)
{
	static const enum coverage kinds[VP_WAIT_COUNT] = {
		[VP_WAIT_MUTEX] = COVER_WAIT_MUTEX,	   [VP_WAIT_RWLOCK_READ] = COVER_WAIT_READ,
		[VP_WAIT_RWLOCK_WRITE] = COVER_WAIT_WRITE, [VP_WAIT_COND] = COVER_WAIT_COND,
		[VP_WAIT_BARRIER] = COVER_WAIT_BARRIER,	   [VP_WAIT_SEMAPHORE] = COVER_WAIT_SEMAPHORE,
		[VP_WAIT_JOIN] = COVER_WAIT_JOIN,	   [VP_WAIT_CHILD] = COVER_WAIT_CHILD,
		[VP_WAIT_SPIN] = COVER_WAIT_SPIN,	   [VP_WAIT_ANNOTATED] = COVER_WAIT_ANNOTATED,
		[VP_WAIT_FUTEX] = COVER_WAIT_FUTEX,	   [VP_WAIT_ONCE] = COVER_WAIT_ONCE,
		[VP_WAIT_PIPE] = COVER_WAIT_CHANNEL,	   [VP_WAIT_POLL] = COVER_WAIT_CHANNEL,
		[VP_WAIT_SLEEP] = COVER_WAIT_IO,	   [VP_WAIT_DISK] = COVER_WAIT_IO,
	};

	if (!in->parent)
		t->world->coverage[kinds[w->kind]]++;
	if (!in->parent && w->timed_out)
		COVER(t->world, WAIT_TIMEOUT);
	if (r && in->parent && t->pieces[in->parent - 1].kind == TRUTH_QUEUED)
		COVER(t->world, QUEUED_BLAME);
	if (from > w->t0)
		COVER(t->world, WAIT_PARTIAL);
	if (w->is_joined)
		COVER(t->world, WAIT_FALSE);
	if (!r && in->parent)
		COVER(t->world, UNENDED_BLAME);
	if (r && r->stamp > w->t1)
		COVER(t->world, LATE);
}

/* Nothing is known of a thread before it was first seen, not even that it was off-CPU; nor where switches were lost. */
static bool is_known_off(const struct truth *t, const struct sim_thread *th, size_t i)
{
	const struct sim_moment *m = th->moments;
	uint64_t from = m[i].t, until;

	if (!t->world->with_switches || !(m[i].is_preempted || m[i].is_off))
		return false;
	while (++i < th->n_moments && (m[i].is_preempted || m[i].is_off))
		;
	if (i == th->n_moments)
		return false;
	until = m[i].t;
	for (size_t k = 0; k < t->world->n_switch_gaps; k++)
		if (t->world->switch_gaps[k].from <= until && t->world->switch_gaps[k].to >= from)
			return false;
	return until > th->t_first;
}

static bool is_io(const struct sim_wait *w)
{
	return w->kind == VP_WAIT_DISK || w->kind == VP_WAIT_PIPE || w->kind == VP_WAIT_POLL;
}

/* How from..to of a wait was spent; until `awaited` another thread kept it waiting. A preempted thread waits for the
 * scheduler. */
static void spend_wait(struct truth *t, const struct sim_thread *th, const struct sim_wait *w, uint64_t awaited,
		       size_t node, uint32_t level, uint64_t from, uint64_t to)
{
	for (size_t i = moment_at(th, from); from < to; i++) {
		const struct sim_moment *m = &th->moments[i];
		uint64_t until = i + 1 < th->n_moments && m[1].t < to ? m[1].t : to;
		enum truth_state state = TRUTH_KERNEL;

		if (from < awaited && awaited < until) {
			until = awaited;
			i--;
		}
		if (!is_io(w) || m->is_off)
			state = TRUTH_SUSPENDED;
		else if (m->is_preempted)
			state = from < awaited ? TRUTH_SUSPENDED : TRUTH_EITHER;
		if (is_io(w) && !t->world->with_switches)
			state = from < awaited ? TRUTH_SUSPENDED : TRUTH_EITHER;
		if (is_io(w) && m->is_preempted && from >= awaited && is_known_off(t, th, i)) {
			size_t child = child_node(t, node, TRUTH_PREEMPTED, 0, NULL, level);

			COVER(t->world, PREEMPTED_IO);
			t->nodes[child].ticks += (int64_t)(until - from);
		} else {
			t->nodes[node].ticks += (int64_t)(until - from);
			t->nodes[node].state[state] += until - from;
			t->nodes[node].spun += state == TRUTH_KERNEL && from < awaited ? until - from : 0;
		}
		if (is_io(w))
			t->world->coverage[state == TRUTH_KERNEL ? COVER_IO_KERNEL :
					   state == TRUTH_EITHER ? COVER_IO_EITHER :
								   COVER_IO_OFF]++;
		from = until;
	}
}

static void cover_holder(struct truth *t, const struct sim_wait *w, const struct sim_hold *h,
			 const struct sim_thread *next)
{
	size_t i = moment_at(next, h->release->stamp);
	const struct sim_wait *own = i < next->n_moments ? truth_wait_of(next, &next->moments[i]) : NULL;

	COVER(t->world, HOLDERS);
	if (!own || own->object != w->object)
		COVER(t->world, TOOK_LATE);
	if (h->reads)
		COVER(t->world, LAST_READER);
}

/* Consecutive holds by one thread are one part, as far as the records tell. */
static bool is_one_part(const struct sim_hold *h, const struct sim_hold *after)
{
	return !h->reads && !after->reads && h->release->by == after->release->by;
}

/* What those did who had the object from..to, which `last` ended in the end; `in` is the waiter's window, piece what
 * its wait is. */
static void explain_holders(struct truth *t, const struct window *in, const struct sim_wait *w,
			    const struct sim_release *last, uint64_t from, uint64_t to, size_t piece, int convoy)
{
	const struct sim_hold *h = w->holds && last == w->release ? w->holds->newest : NULL;
	const struct sim_thread *by = last->by;
	const struct sim_hold *after;
	bool has_several = false;

	while (h && h->release != last)
		h = h->older;
	after = h && h->counts ? h : NULL;
	for (h = h ? h->older : NULL; h && (!h->counts || h->release->stamp > from); h = h->older) {
		bool goes_on = h->counts && after && is_one_part(h, after);

		after = h->counts ? h : after;
		if (!h->counts || (h->reads && w->kind == VP_WAIT_RWLOCK_READ))
			continue; /* one reader does not keep another one waiting */
		if (h->release->stamp < to && !goes_on) {
			has_several = true;
			cover_holder(t, w, h, by);
			if (by != in->th)
				explain(t, (struct window){ by, h->release->stamp, to, piece, convoy });
			to = h->release->stamp;
		}
		by = h->release->by;
	}
	if (has_several)
		COVER(t->world, SEVERAL_HOLDERS);
	if (by != in->th)
		explain(t, (struct window){ by, from, to, piece, convoy });
}

static void explain_wait(struct truth *t, const struct window *in, const struct sim_wait *w, uint32_t frame,
			 uint64_t from, uint64_t to)
{
	const struct sim_release *r = truth_release_of(in->th, w);
	const struct truth_piece *above = in->parent ? &t->pieces[in->parent - 1] : NULL;
	uint64_t until = r ? truth_clip(r->stamp, w->t0, w->t1) : 0;
	size_t node = above ? above->node : 0, base = node, piece;
	uint32_t level = above ? above->depth + 1 : 0, innermost = 0;

	t->is_unknowable |= truth_wait_unknowable(in->th, w);
	if (above && above->wait && until > w->t0 && above->wait->object == w->object && in->convoy < CONVOY_MAX) {
		COVER(t->world, CONVOY); /* both waited in one queue: whoever they waited for is to blame */
		explain_holders(t, in, w, r, from, until < to ? until : to, in->parent, in->convoy + 1);
		return;
	}
	until = until < to ? until : to;
	cover_wait(t, w, r, in, from);
	node = frame_node(t, in->th, frame, node, level, &innermost, from);
	if (node == base || !site_name(innermost) || strcmp(site_name(innermost), w->name))
		node = child_node(t, node, TRUTH_BLOCKED, 0, w->name, level);
	else
		COVER(t->world, SITE_WAIT);
	if (above)
		t->nodes[above->node].ticks -= (int64_t)(to - from);
	spend_wait(t, in->th, w, r ? until : 0, node, level, from, to);
	if (r && is_explained_above(t, w, in->parent)) {
		COVER(t->world, CIRCLE);
		r = NULL;
	}
	piece = add_piece(t, (struct truth_piece){ in->th, from, to, w, in->parent, node, 0, TRUTH_WAIT });
	if (!r || until <= from || level + 1 >= DEPTH_MAX)
		return;
	cover_waker(t, in->th, r->by, until, level);
	if (until < to)
		COVER(t->world, AFTER_RELEASE);
	explain_holders(t, in, w, r, from, until, piece, 0);
}

/* A stretch of run in which nothing changes. */
struct stretch {
	const struct sim_thread *th;
	uint32_t frame, level;
	size_t base;
	uint64_t from, to;
};

/* A chosen call of a hot function counts for others too: what its node gains beyond the time that passed, the frame
 * around it loses. */
static void spend_frames(struct truth *t, const struct stretch *s, bool is_off)
{
	uint32_t weight, chosen = hot_chosen(s->th, s->frame, s->from, &weight), innermost = 0;
	uint32_t outermost = hot_outermost(s->th, s->frame);
	int64_t ticks = (int64_t)(s->to - s->from);
	size_t node = frame_node(t, s->th, s->frame, s->base, s->level, &innermost, s->from);

	t->nodes[node].ticks += (int64_t)weight * ticks;
	if (is_off) /* in no wait that was recorded */
		t->nodes[node].state[TRUTH_SUSPENDED] += weight * (uint64_t)ticks;
	if (outermost && !s->level) { /* one interval's alone: others may be to blame for several at once */
		bool is_seen = hot_is_seen(&s->th->frames[outermost - 1], s->from);

		t->hot_ticks += ticks;
		t->hot_estimate += chosen == outermost ? (int64_t)weight * ticks : is_seen ? ticks : 0;
	}
	if (!chosen)
		return;
	node = frame_node(t, s->th, s->th->frames[chosen - 1].parent, s->base, s->level, &innermost, s->from);
	t->nodes[node].ticks -= (int64_t)(weight - 1) * ticks;
	for (uint32_t f = s->frame;; f = s->th->frames[f - 1].parent) {
		node = frame_node(t, s->th, f, s->base, s->level, &innermost, s->from);
		t->spent = sim_grow(t->spent, t->n_spent, &t->cap_spent, sizeof *t->spent);
		if (hot_is_seen(&s->th->frames[f - 1], s->from))
			t->spent[t->n_spent++] =
				(struct truth_spent){ s->th, &s->th->frames[chosen - 1], node, (uint64_t)ticks,
						      f == chosen && chosen == outermost && !s->level };
		if (f == chosen)
			break;
	}
	COVER(t->world, HOT_CHOSEN);
}

static void add_run(struct truth *t, const struct window *in, uint64_t from, uint64_t to)
{
	struct stretch s = { .th = in->th, .base = in->parent ? t->pieces[in->parent - 1].node : 0 };
	const struct sim_moment *moments = in->th->moments;
	uint32_t innermost = 0, weight;
	size_t i = moment_at(in->th, from);

	s.level = in->parent ? t->pieces[in->parent - 1].depth + 1 : 0;
	if (in->parent)
		t->nodes[s.base].ticks -= (int64_t)(to - from);
	add_piece(t, (struct truth_piece){ in->th, from, to, NULL, in->parent, 0, 0, TRUTH_RUN });
	for (s.from = from; s.from < to; s.from = s.to) {
		const struct sim_moment *m = i < in->th->n_moments ? &moments[i] : NULL;
		size_t next = m ? i + 1 : 0;
		uint32_t chosen = m ? hot_chosen(in->th, m->frame, s.from, &weight) : 0;
		bool is_off = m && is_known_off(t, in->th, i);

		s.frame = m ? m->frame : 0;
		s.to = next < in->th->n_moments && moments[next].t < to ? moments[next].t : to;
		if (chosen && in->th->frames[chosen - 1].stands_until < s.to)
			s.to = in->th->frames[chosen - 1].stands_until;
		else
			i = next;
		if (is_off && !m->is_off) {
			size_t node = frame_node(t, in->th, s.frame, s.base, s.level, &innermost, s.from);

			node = child_node(t, node, TRUTH_PREEMPTED, 0, NULL, s.level);
			t->nodes[node].ticks += (int64_t)(s.to - s.from);
			if (in->parent)
				COVER(t->world, PREEMPTED_BLAME);
			else
				COVER(t->world, PREEMPTED);
		} else {
			spend_frames(t, &s, is_off);
		}
	}
}

/* What the thread did from..to, as pieces beneath the parent. */
static void explain(struct truth *t, struct window in)
{
	uint64_t at = in.from, run = in.from;
	size_t i = moment_at(in.th, at);

	t->is_unknowable |= in.th->is_broken;

	while (at < in.to) {
		const struct sim_moment *m = i < in.th->n_moments ? &in.th->moments[i] : NULL;
		const struct sim_wait *w = m ? truth_wait_of(in.th, m) : NULL;
		size_t next = m ? i + 1 : 0;

		while (w && next < in.th->n_moments && truth_wait_of(in.th, &in.th->moments[next]) == w)
			next++;
		i = next;
		next = next < in.th->n_moments && in.th->moments[next].t < in.to;
		if (w) {
			uint64_t until = next ? in.th->moments[i].t : in.to;

			if (run < at)
				add_run(t, &in, run, at);
			explain_wait(t, &in, w, m->frame, at, until);
			run = until;
		}
		at = next ? in.th->moments[i].t : in.to;
	}
	if (run < in.to)
		add_run(t, &in, run, in.to);
}

/* A thread that is not seen to leave its interval did so when it was last seen. */
uint64_t truth_segment_end(const struct sim_segment *s)
{
	return s->to == SIM_NEVER ? s->th->t_last : s->to;
}

/* The thread's segment of this interval at t, both ends included. */
static const struct sim_segment *segment_at(const struct sim_thread *th, const struct sim_instance *i, uint64_t at)
{
	for (size_t k = th->n_segments; k-- > 0;) {
		const struct sim_segment *s = th->segments[k];

		if (s->from <= at && at <= truth_segment_end(s) && s->instance == i)
			return s;
	}
	return NULL;
}

/* No queue tells, but the thread had waited since it turned to something else, and was let go by one at work for the
 * interval. */
static bool find_waker(struct truth *t, const struct place *now, struct place *found)
{
	uint64_t floor = 0;
	int n = 0;

	for (size_t k = 0; k < now->th->n_segments; k++) {
		const struct sim_segment *s = now->th->segments[k];

		if (s != now->segment && s->from <= now->t && (!now->segment || s->from < now->segment->from))
			floor = s->from;
	}
	for (size_t k = now->th->n_waits; k-- > 0 && n < LOOK_BACK_MAX;) {
		const struct sim_wait *w = &now->th->waits[k];
		const struct sim_release *r;
		const struct sim_segment *s;
		uint64_t at;

		if (!w->is_recorded || w->t1 > now->t || w->t1 < floor ||
		    (w->outer && now->th->waits[w->outer - 1].is_recorded))
			continue;
		n++;
		t->is_unknowable |= truth_wait_unknowable(now->th, w);
		r = truth_release_of(now->th, w);
		if (!r)
			continue;
		at = truth_clip(r->stamp, w->t0, w->t1);
		s = segment_at(r->by, t->instance, at);
		if (s && at >= t->instance->begin) {
			*found = (struct place){ r->by, at, s, NULL };
			return true;
		}
	}
	return false;
}

/* The thread's own segment that ended last; with `th` NULL any thread's. */
static bool find_ended(const struct truth *t, const struct place *now, const struct sim_thread *th, struct place *found)
{
	const struct sim_segment *best = NULL;

	for (const struct sim_segment *s = t->instance->segments; s; s = s->older) {
		if (s == now->segment || (now->segment && s->from > now->segment->from) || (th && s->th != th) ||
		    s->from > now->t || truth_segment_end(s) > now->t)
			continue;
		if (!best || truth_segment_end(s) > truth_segment_end(best))
			best = s;
	}
	if (best)
		*found = (struct place){ best->th, truth_segment_end(best), best, NULL };
	return best;
}

/* Another thread that still works for it, as far as anybody knows: it handed the interval over before it blocked. */
static bool find_lasting(const struct truth *t, const struct place *now, struct place *found)
{
	const struct sim_segment *best = NULL;
	const struct sim_wait *w = NULL;
	size_t i;

	for (const struct sim_segment *s = t->instance->segments; s; s = s->older)
		if (s != now->segment && (!now->segment || s->from < now->segment->from) && s->from <= now->t &&
		    s->th != now->th && (!best || s->from > best->from))
			best = s;
	if (!best)
		return false;
	i = moment_at(best->th, now->t);
	if (i < best->th->n_moments)
		w = truth_wait_of(best->th, &best->th->moments[i]);
	*found = (struct place){ best->th, w && w->t0 > best->from ? w->t0 : now->t, best, NULL };
	return true;
}

static void cover_cause(struct truth *t, const struct place *now, const struct sim_work *work)
{
	for (size_t k = 0; k < now->th->n_segments; k++)
		if (now->segment && now->th->segments[k]->from > work->t_taken &&
		    now->th->segments[k]->from < now->segment->from) {
			COVER(t->world, BATCH);
			break;
		}
	if (work->is_message)
		COVER(t->world, BY_MESSAGE);
	else if (work->segment)
		COVER(t->world, BY_ITEM);
	else
		COVER(t->world, BY_RELAY);
	if (now->segment && now->segment->is_inside)
		COVER(t->world, DEQUEUE_INSIDE);
}

/* A message counts only from a thread that worked for the interval: threads tell each other many things. */
static struct place step_back(struct truth *t, const struct place *now, const struct sim_work *work)
{
	struct place cause, own, found = { now->th, t->instance->begin, NULL, NULL };
	bool has_cause = work && work->is_recorded && work->t >= t->instance->begin &&
			 (work->segment || !work->is_message),
	     has_own;

	if (has_cause) {
		cause = (struct place){ work->by, work->t, work->segment, work->before };
		cover_cause(t, now, work);
	} else {
		has_cause = find_waker(t, now, &cause);
		if (has_cause)
			COVER(t->world, BY_WAKE);
	}
	if (has_cause) {
		has_own = find_ended(t, now, now->th, &own);
		if (has_own && own.t > cause.t)
			COVER(t->world, OWN_LATER);
		found = has_own && own.t > cause.t ? own : cause;
	} else if (find_ended(t, now, NULL, &found)) {
		if (found.th == now->th)
			COVER(t->world, BY_OWN);
		else
			COVER(t->world, BY_LAST);
	} else if (find_lasting(t, now, &found)) {
		COVER(t->world, BY_LASTING);
	}
	if (found.t < t->instance->begin)
		found = (struct place){ now->th, t->instance->begin, NULL, NULL };
	return found;
}

static void cover_interval(struct truth *t, const struct place *first, uint64_t until, unsigned n_segments,
			   uint64_t threads, unsigned processes)
{
	const struct sim_instance *i = t->instance;
	bool is_concurrent = false;

	for (const struct sim_segment *s = i->segments; s; s = s->older)
		is_concurrent |= s->from < i->end && s->to > i->end && s->th != i->ended_by;
	if (threads & (threads - 1))
		COVER(t->world, SEVERAL_THREADS);
	if (processes & (processes - 1))
		COVER(t->world, PROCESSES);
	if (n_segments >= 3)
		COVER(t->world, SEVERAL_SEGMENTS);
	if (is_concurrent)
		COVER(t->world, CONCURRENT);
	if (!i->end_segment)
		COVER(t->world, END_OTHER);
	if (!first->segment || truth_segment_end(first->segment) > until)
		COVER(t->world, START_OFF);
}

void truth_find(struct truth *t, struct world *w, const struct sim_instance *i)
{
	struct place now = { i->ended_by, i->end, i->end_segment, NULL };
	const struct sim_work *work = i->end_segment ? i->end_segment->cause : i->end_cause;
	uint64_t threads = 0, last = SIM_NEVER, left = 0;
	unsigned n_segments = 0, processes = 0;
	int n_still = 0;

	t->world = w;
	t->instance = i;
	t->n_pieces = t->n_spent = 0;
	t->hot_ticks = t->hot_estimate = 0;
	t->is_unknowable = false;
	t->nodes = sim_grow(t->nodes, 0, &t->cap_nodes, sizeof *t->nodes);
	t->nodes[0] = (struct truth_node){ 0 };
	t->n_nodes = 1;
	for (;;) {
		struct place before;

		if (now.segment) {
			uint64_t from = truth_clip(now.segment->from, i->begin, now.t);

			explain(t, (struct window){ now.th, from, now.t, 0, 0 });
			left = now.t;
			n_segments += from < now.t;
			threads |= UINT64_C(1) << now.th->seq;
			processes |= 1u << now.th->process;
			now.t = from;
		}
		if (now.t <= i->begin)
			break;
		before = step_back(t, &now, work);
		n_still = now.t < last ? 0 : n_still + 1;
		last = now.t;
		if (n_still > STILL_MAX)
			before = (struct place){ now.th, i->begin, NULL, NULL };
		before.t = before.t < now.t ? before.t : now.t;
		if (before.t < now.t) {
			size_t node = child_node(t, 0, TRUTH_DELAY, 0, NULL, 0);
			size_t piece = add_piece(
				t, (struct truth_piece){ now.th, before.t, now.t, NULL, 0, node, 0, TRUTH_QUEUED });

			t->nodes[node].ticks += (int64_t)(now.t - before.t);
			COVER(w, QUEUED);
			explain(t, (struct window){ now.th, before.t, now.t, piece, 0 });
		}
		now = before;
		work = now.segment ? now.segment->cause : now.before;
	}
	cover_interval(t, &now, left, n_segments, threads, processes);
}

void truth_release(struct truth *t)
{
	free(t->pieces);
	free(t->nodes);
	free(t->spent);
	*t = (struct truth){ 0 };
}
