/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/hot.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 8
#define BLOCK_MAX 64
#define BLOCK_SHARE 8 /* a block has at most this part of the number of calls before it */
#define RARE 500      /* one in this many timed calls of a function may be too long to stand for others: ... */
#define RARE_FEW 100  /* ... or in this many, of which at most FEW were timed */
#define FEW 50
#define LIMIT 2 /* longer than so many times what all others stay below, and LIMIT_NS */
#define LIMIT_NS 1000

void hot_settle(struct world *w)
{
	w->with_hot = true;
	w->hot_after = 2 + (uint32_t)world_below_apart(w, 20);
	w->has_many_hot = world_chance_apart(w, 5);
	w->hot_ticks = 3 + world_below_apart(w, 40);
}

static int hot_index(uint32_t code)
{
	for (int i = 0; i < SIM_HOT; i++)
		if (code == SIM_HOT_CODE(i))
			return i;
	return -1;
}

static void decide_all(struct sim_thread *th, struct sim_hot *h)
{
	h->size = 0;
	h->left = th->world->hot_after;
	h->since = th->world->now;
}

static void count_write(struct sim_thread *th, struct sim_hot *h, uint32_t code)
{
	if (h->size && h->n_skipped)
		records_one(th, th->world->now, VP_W(VP_KIND_COUNT, code | (uint64_t)h->n_skipped << 24));
	h->n_skipped = 0;
}

static void block_begin(struct sim_thread *th, struct sim_hot *h)
{
	struct world *w = th->world;
	uint32_t a, b;

	h->size = BLOCK_MIN;
	while (h->size < BLOCK_MAX && 2 * h->size * BLOCK_SHARE <= h->n)
		h->size *= 2;
	a = (uint32_t)world_below_apart(w, h->size);
	b = (uint32_t)world_below_apart(w, h->size - 1);
	b += b >= a;
	h->first = a < b ? a : b;
	h->second = a < b ? b : a;
	h->left = h->size;
	h->since = w->now;
	h->block++;
}

/* A call outside sampled and skipped ones: should it be recorded, sampled or not? */
static bool is_recorded(struct sim_thread *th, struct sim_hot *h, struct sim_frame *f)
{
	struct world *w = th->world;
	uint64_t most = w->hot_ticks * (h->size ? 2 * h->size : w->hot_after);
	uint32_t at;

	if (h->stretch != th->stretch) {
		count_write(th, h, f->code);
		h->stretch = th->stretch;
		h->n = 0;
		decide_all(th, h);
	} else if (!h->left) {
		h->n += h->size ? h->size : w->hot_after;
		if (w->now - h->since < most) {
			block_begin(th, h);
		} else {
			count_write(th, h, f->code);
			decide_all(th, h);
		}
	}
	h->left--;
	if (!h->size)
		return true;
	at = h->size - 1 - h->left;
	if (at != h->first && at != h->second) {
		h->n_skipped++;
		return false;
	}
	f->weight = h->size / 2;
	f->block = h->block;
	f->is_second = at == h->second;
	f->represented = h->n_skipped + 1;
	h->n_skipped = 0;
	return true;
}

bool windows_contain(const struct world *w, uint64_t t)
{
	for (size_t i = 0; i < w->n_windows; i++)
		if (w->windows[i].from <= t && t < w->windows[i].to)
			return true;
	return !w->n_windows;
}

/* Calls are recorded for some time after a window's end: as long as intervals take. */
static bool is_closed(const struct sim_thread *th)
{
	const struct world *w = th->world;

	if (th->records_all || !w->n_windows)
		return false;
	for (size_t i = 0; i < w->n_windows; i++)
		if (w->windows[i].from <= w->now && w->now < w->windows[i].closed_at)
			return false;
	return true;
}

void windows_settle(struct world *w, uint64_t until)
{
	uint64_t t = w->now;

	w->n_windows = 1 + world_below_apart(w, SIM_WINDOWS);
	for (size_t i = 0; i < w->n_windows; i++) {
		struct sim_window *v = &w->windows[i];

		v->from = i ? t + world_below_apart(w, (until - w->now) / 3) : 1; /* no record has the time 0 */
		v->to = v->from + 1 + t * !i + world_below_apart(w, (until - w->now) / 3);
		v->closed_at = v->to + world_below_apart(w, (until - w->now) / 10);
		t = v->closed_at + 1;
	}
}

/* Does the runtime check the window for this call? */
static bool looks(struct sim_thread *th, uint32_t code, int hot)
{
	uint64_t *seen =
		&th->seen_in[code < VP_CODE_SITE ? code - VP_CODE_FUNCTION : SIM_CODES / 2 + code - VP_CODE_SITE];
	bool is_first = *seen != th->stretch;

	if (is_first && !is_closed(th))
		*seen = th->stretch;
	return is_first || (hot >= 0 && (th->hot[hot].size || !th->hot[hot].left));
}

void hot_enter(struct sim_thread *th, uint32_t code)
{
	int hot = hot_index(code);
	struct sim_frame *f;

	world_enter(th, code);
	f = &th->frames[th->n_frames - 1];
	if (th->skipped) {
		f->is_unseen = true;
	} else if (looks(th, code, th->chosen ? -1 : hot) && is_closed(th)) {
		COVER(th->world, WINDOW_CLOSED);
		f->is_skipped = f->is_paused = true;
		if (th->is_working)
			th->skipped = th->frame;
	} else if (hot >= 0 && !th->chosen) {
		f->is_skipped = !is_recorded(th, &th->hot[hot], f);
		if (f->is_skipped)
			th->skipped = th->frame;
		else if (f->weight)
			th->chosen = th->frame;
	}
}

/* The innermost call that the runtime knows of, index + 1. */
static uint32_t top(const struct sim_thread *th)
{
	uint32_t frame = th->frame;

	while (frame && th->frames[frame - 1].is_unseen)
		frame = th->frames[frame - 1].parent;
	return frame;
}

/* Did a window open since the call began in a pause? */
static bool is_pause_over(const struct world *w, const struct sim_frame *f)
{
	for (size_t i = 0; f->is_paused && i < w->n_windows; i++)
		if (w->windows[i].from > f->t0 && w->windows[i].from <= w->now)
			return true;
	return false;
}

void hot_unskip(struct sim_thread *th, uint64_t t)
{
	struct sim_frame *f = top(th) ? &th->frames[top(th) - 1] : NULL;

	if (!f || !f->is_skipped || f->is_unskipped)
		return;
	COVER(th->world, HOT_PARTIAL);
	f->is_unskipped = true;
	f->seen_from = f->is_paused ? f->t0 : t;
	th->skipped = 0;
}

void hot_mark(struct sim_thread *th, enum vp_kind kind)
{
	th->records_all = false;
	th->records_all = kind == VP_KIND_BEGIN && !is_closed(th);
	th->is_working = kind == VP_KIND_BEGIN || kind == VP_KIND_RESUME;
	th->stretch++;
	if (!th->is_working)
		return;
	if (is_closed(th))
		th->skipped = 0; /* later calls check the window */
	else
		hot_unskip(th, th->world->now);
	world_moment(th);
}

static bool write_sample(struct sim_thread *th, const struct sim_frame *f)
{
	uint64_t payload = 0, from = f->is_skipped ? f->seen_from : f->t0;

	if (!f->is_skipped)
		payload = f->weight | (uint64_t)f->is_second << 7 | (uint64_t)f->represented << 8 |
			  (uint64_t)f->block << 16;
	return records_two(th, from, VP_W(VP_KIND_SAMPLE, payload), th->world->now - from, f->code);
}

void hot_leave(struct sim_thread *th)
{
	uint32_t frame = th->frame;
	struct sim_frame *f = world_leave(th);
	uint64_t now = th->world->now;

	f->t1 = now;
	if (th->chosen == frame)
		th->chosen = 0;
	if (th->skipped == frame)
		th->skipped = 0;
	if (f->is_skipped && !f->is_unskipped && is_pause_over(th->world, f)) {
		COVER(th->world, UNDER_WAY);
		f->is_unskipped = true;
		f->seen_from = f->t0;
	}
	if (f->is_unseen || (f->is_skipped && !f->is_unskipped)) {
		COVER(th->world, HOT_SKIPPED);
	} else if (f->is_skipped || f->weight) {
		f->is_recorded = write_sample(th, f);
		COVER(th->world, HOT_TIMED);
	} else if (records_one(th, f->t0, VP_W(f->code, now - f->t0))) {
		f->is_recorded = true;
	} else if (f->is_recorded && th->n_lost) {
		th->is_broken = true;
	}
}

static int length_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The length that all of the function's timed calls but one in RARE do not exceed, and the limit of rare ones. */
static uint64_t usual_length(const struct world *w, uint32_t code, double *limit, bool *is_all)
{
	uint64_t *lengths = NULL, found;
	size_t n = 0, cap = 0, few;

	for (size_t i = 0; i < w->n_threads; i++)
		for (size_t k = 0; k < w->threads[i]->n_frames; k++) {
			const struct sim_frame *f = &w->threads[i]->frames[k];

			if (f->code != code || !f->weight || !f->is_recorded)
				continue;
			lengths = sim_grow(lengths, n, &cap, sizeof *lengths);
			lengths[n++] = f->t1 - f->t0;
		}
	*limit = 0;
	if (!n)
		return 0;
	qsort(lengths, n, sizeof *lengths, length_order);
	few = n / RARE_FEW < FEW ? n / RARE_FEW : FEW;
	found = lengths[n - 1 - (n / RARE > few ? n / RARE : few)];
	*limit = LIMIT * (double)found + LIMIT_NS / w->ns_per_tick;
	*is_all &= (double)lengths[n - 1] <= *limit;
	free(lengths);
	return found;
}

/* Its first recorded wait, or the end of the usual length. */
static uint64_t stands_until(const struct sim_thread *th, const struct sim_frame *f, uint64_t length)
{
	uint64_t until = f->t0 + length;

	for (size_t i = 0; i < th->n_waits; i++) {
		const struct sim_wait *w = &th->waits[i];

		if (w->is_recorded && w->t0 >= f->t0 && w->t0 < until)
			until = w->t0;
	}
	return until;
}

void hot_prepare(struct world *w)
{
	w->stands_for_all = !w->n_windows;
	for (int h = 0; h < SIM_HOT; h++) {
		double limit;
		uint64_t usual = usual_length(w, SIM_HOT_CODE(h), &limit, &w->stands_for_all);

		for (size_t i = 0; i < w->n_threads; i++)
			for (size_t k = 0; k < w->threads[i]->n_frames; k++) {
				struct sim_frame *f = &w->threads[i]->frames[k];
				uint64_t length = f->t1 - f->t0 > limit ? usual : (uint64_t)limit;

				if (f->code != SIM_HOT_CODE(h) || !f->weight || !f->is_recorded)
					continue;
				f->stands_until = stands_until(w->threads[i], f, length);
				if (f->stands_until == f->t0 + length && f->stands_until < f->t1)
					COVER(w, HOT_RARE);
			}
	}
}

bool hot_is_seen(const struct sim_frame *f, uint64_t at)
{
	return f->is_recorded && at >= f->seen_from;
}

uint32_t hot_chosen(const struct sim_thread *th, uint32_t frame, uint64_t at, uint32_t *weight)
{
	uint32_t found = 0;

	*weight = 1;
	for (; frame; frame = th->frames[frame - 1].parent) {
		const struct sim_frame *f = &th->frames[frame - 1];

		if (f->weight >= 2 && f->is_recorded && at < f->stands_until) {
			found = frame;
			*weight = f->weight;
		}
	}
	return found;
}

uint32_t hot_outermost(const struct sim_thread *th, uint32_t frame)
{
	uint32_t found = 0;

	for (; frame; frame = th->frames[frame - 1].parent)
		if (hot_index(th->frames[frame - 1].code) >= 0)
			found = frame;
	return found;
}
