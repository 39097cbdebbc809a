/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits and losses: who really ended each wait, and what the records can and cannot tell of it. */
#include "tests/simulate/truth_waits.h"

#include "tests/simulate/schedule/hot.h"

static enum truth_loss loss_between(const struct world *w, uint64_t from, uint64_t to)
{
	enum truth_loss found = TRUTH_NO_LOSS;

	for (size_t i = 0; i < w->n_gaps; i++)
		if (w->gaps[i].from <= to && w->gaps[i].to >= from) {
			if (w->gaps[i].is_told)
				return TRUTH_LOSSY;
			found = TRUTH_LOSS_UNTOLD;
		}
	return found;
}

static uint64_t first_loss(const struct world *w)
{
	uint64_t first = SIM_NEVER;

	for (size_t i = 0; i < w->n_gaps; i++)
		if (w->gaps[i].is_told && w->gaps[i].from < first)
			first = w->gaps[i].from;
	return first;
}

/* The wait that counts at this moment: the outermost one that was recorded. */
const struct sim_wait *truth_wait_of(const struct sim_thread *th, const struct sim_moment *m)
{
	const struct sim_wait *found = NULL;

	for (uint32_t w = m->wait; w; w = th->waits[w - 1].outer)
		if (th->waits[w - 1].is_recorded)
			found = &th->waits[w - 1];
	return found;
}

/* Who ended it: a wait around others that nobody is known to have ended was ended by whoever ended the last of these.
 */
const struct sim_release *truth_release_of(const struct sim_thread *th, const struct sim_wait *w)
{
	size_t self = (size_t)(w - th->waits);

	if ((w->kind == VP_WAIT_PIPE || w->kind == VP_WAIT_POLL) && w->t1 >= first_loss(th->world))
		return NULL;
	if (w->release && w->release->is_recorded)
		return w->release;
	for (size_t i = th->n_waits; i-- > self + 1;) {
		const struct sim_wait *inner = &th->waits[i];

		if (inner->outer == self + 1 && inner->is_recorded && inner->release && inner->release->is_recorded)
			return inner->release;
	}
	return NULL;
}

uint64_t truth_clip(uint64_t x, uint64_t low, uint64_t high)
{
	return x < low ? low : x > high ? high : x;
}

bool truth_wait_counts(const struct sim_thread *th, const struct sim_wait *w)
{
	for (uint32_t o = w->outer; o; o = th->waits[o - 1].outer)
		if (th->waits[o - 1].is_recorded)
			return false;
	return w->is_recorded;
}

bool truth_wait_lossy(const struct sim_thread *th, const struct sim_wait *w)
{
	return w->is_shifted && loss_between(th->world, w->t0, w->t1) != TRUTH_LOSS_UNTOLD;
}

/* Channels are not to be trusted after the first loss, nor what came through them. */
static bool came_through_channel(const struct world *w, const struct sim_thread *th, uint64_t from, uint64_t to)
{
	uint64_t first = first_loss(w);

	for (size_t i = 0; i < th->n_received; i++)
		if (th->received[i] >= first && th->received[i] >= from && th->received[i] <= to)
			return true;
	return false;
}

static bool has_enqueued(const struct sim_thread *th, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < th->n_enqueued; i++)
		if (th->enqueued[i] >= from && th->enqueued[i] <= to)
			return true;
	return false;
}

enum truth_loss truth_loss(const struct world *w, const struct sim_instance *i)
{
	enum truth_loss found = loss_between(w, i->begin, i->is_complete ? i->end : SIM_NEVER);

	if (found == TRUTH_LOSSY || !i->is_complete)
		return found;
	if (came_through_channel(w, i->ended_by, i->begin, i->end))
		return TRUTH_LOSSY;
	for (size_t k = 0; k < w->n_threads; k++)
		if (came_through_channel(w, w->threads[k], i->begin, i->end) &&
		    has_enqueued(w->threads[k], i->begin, i->end))
			return TRUTH_LOSSY;
	for (const struct sim_segment *s = i->segments; s; s = s->older)
		if (came_through_channel(w, s->th, i->begin,
					 truth_segment_end(s) < i->end ? truth_segment_end(s) : i->end))
			return TRUTH_LOSSY;
	return found;
}

static bool shifts(const struct world *w, struct sim_wait *is)
{
	for (size_t i = 0; i < w->n_threads; i++) {
		const struct sim_thread *th = w->threads[i];

		for (size_t k = 0; k < th->n_waits; k++)
			if (th->waits[k].object == is->object && th->waits[k].is_shifted && th->waits[k].t1 >= is->t0 &&
			    th->waits[k].t0 <= is->t1)
				return true;
	}
	return false;
}

/* Which turns at an object the records tell of: those whose release was recorded, unless its time was taken so late
 * that the next ones had passed by then; of readers in a row, the last. */
static void choose_holds(struct sim_holds *holds)
{
	const struct sim_hold *after = NULL; /* the next one that counts */
	uint64_t until = SIM_NEVER;

	for (struct sim_hold *h = holds->newest; h; h = h->older) {
		if (!h->release->is_recorded || h->release->stamp > until)
			continue;
		until = h->release->stamp;
		h->counts = !(h->reads && after && after->reads);
		if (h->counts)
			after = h;
	}
}

void truth_prepare(struct world *w)
{
	bool has_changed = w->n_gaps > 0;

	for (struct sim_holds *h = w->holds; h; h = h->next)
		choose_holds(h);
	hot_prepare(w);

	for (size_t i = 0; i < w->n_threads && w->n_gaps; i++)
		for (size_t k = 0; k < w->threads[i]->n_waits; k++) {
			struct sim_wait *is = &w->threads[i]->waits[k];

			is->is_shifted = loss_between(w, is->t0, is->t1) != TRUTH_NO_LOSS;
		}
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < w->n_threads; i++)
			for (size_t k = 0; k < w->threads[i]->n_waits; k++) {
				struct sim_wait *is = &w->threads[i]->waits[k];

				if (!is->is_shifted && is->object && shifts(w, is))
					is->is_shifted = has_changed = true;
			}
	}
}

static bool is_cut_off(const struct sim_thread *th, const struct sim_wait *w)
{
	return w->is_shifted || w->t0 < th->world->record_from || (w->release && !w->release->is_recorded) ||
	       (w->is_unmapped && !w->is_recorded);
}

/* Was the other one under way while this one was? It may not be back yet. */
static bool is_around(const struct sim_wait *other, const struct sim_wait *w)
{
	return other->t0 < w->t1 && (other->t1 > w->t0 || (!other->t1 && other->is_unmapped));
}

bool truth_wait_unknowable(const struct sim_thread *th, const struct sim_wait *w)
{
	if (is_cut_off(th, w))
		return true;
	for (size_t i = 0; i < th->world->n_threads && w->release; i++) {
		const struct sim_thread *other = th->world->threads[i];

		for (size_t k = 0; k < other->n_waits; k++)
			if (other->waits[k].object == w->object && is_around(&other->waits[k], w) &&
			    is_cut_off(other, &other->waits[k]))
				return true;
	}
	return false;
}

const struct sim_thread *truth_waker(const struct sim_thread *th, const struct sim_wait *w, uint64_t *t)
{
	const struct sim_release *r = truth_release_of(th, w);

	*t = r ? truth_clip(r->stamp, w->t0, w->t1) : 0;
	return r ? r->by : NULL;
}
