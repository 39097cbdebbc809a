/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/timeline_gaps.h"

#include <math.h>

#define LOOK_BACK 4096u /* samples and marks */
#define RARE 500	/* one call in so many */
#define RARE_FEW 100	/* ... or in so many, if they are few: */
#define FEW 50
#define LIMIT_FACTOR 2
#define LIMIT_NS 1000.0

static int is_stretch_mark(const struct vprof_mark *m)
{
	return m->kind != VP_KIND_TYPE;
}

/* The last mark at or before t, 0 when there is none: the stretch of work begins there. */
static uint64_t stretch_begin(const struct vprof_thread_timeline *thr, uint64_t t)
{
	for (size_t i = thr->marks.n; i-- > 0;)
		if (is_stretch_mark(&thr->marks.v[i]) && thr->marks.v[i].t <= t)
			return thr->marks.v[i].t;
	return 0;
}

/* The first mark after t; where there is none, the last time that is known so far. */
static uint64_t stretch_end(const struct vprof_thread_timeline *thr, uint64_t t)
{
	uint64_t end = thr->t_last;

	for (size_t i = thr->marks.n; i-- > 0 && thr->marks.v[i].t > t;)
		if (is_stretch_mark(&thr->marks.v[i]))
			end = thr->marks.v[i].t;
	return end;
}

/* The last timed call of the function in the stretch that begins then. */
static const struct vprof_sampled *last_timed(const struct vprof_thread_timeline *thr, uint32_t code, uint64_t begin)
{
	size_t i = thr->samples.n, first = i > LOOK_BACK ? i - LOOK_BACK : 0;

	while (i-- > first && thr->samples.v[i].t0 >= begin)
		if (thr->samples.v[i].code == code && thr->samples.v[i].weight)
			return &thr->samples.v[i];
	return NULL;
}

static int add(struct vprof_thread_timeline *thr, uint32_t code, uint64_t within, uint64_t t1, uint32_t n)
{
	uint64_t begin = stretch_begin(thr, within);
	const struct vprof_sampled *last = last_timed(thr, code, begin);
	uint64_t t0 = last ? last->t0 + last->duration : begin;
	struct vprof_gap *gap;

	if (t0 >= t1)
		return 0;
	gap = VPROF_PUSH(&thr->gaps);
	if (!gap)
		return VPROF_ERR_NOMEM;
	*gap = (struct vprof_gap){ .t0 = t0, .t1 = t1, .code = code, .n = n, .is_first = !last };
	return 0;
}

int vprof_gaps_sampled(struct vprof_thread_timeline *thr, uint64_t t0, uint32_t code, uint64_t payload)
{
	uint32_t represented = VP_SAMPLE_REPRESENTED(payload);

	return VP_SAMPLE_WEIGHT(payload) && represented > 1 ? add(thr, code, t0, t0, represented - 1) : 0;
}

int vprof_gaps_counted(struct vprof_thread_timeline *thr, uint64_t t, uint32_t code, uint32_t n)
{
	return n ? add(thr, code, t, stretch_end(thr, t), n) : 0;
}

static int gap_order(const void *a, const void *b)
{
	const struct vprof_gap *x = a, *y = b;

	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

int vprof_gaps_sort(struct vprof_thread_timeline *thr)
{
	uint64_t reach = 0;

	if (vprof_array_sort(thr->gaps.v, thr->gaps.n, sizeof *thr->gaps.v, gap_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < thr->gaps.n; i++)
		thr->gaps.v[i].reach = reach = thr->gaps.v[i].t1 > reach ? thr->gaps.v[i].t1 : reach;
	return 0;
}

struct length {
	uint32_t code;
	uint32_t n;   /* calls of a gap; 1 of a timed call */
	double ticks; /* of one call */
};

static int length_order(const void *a, const void *b)
{
	const struct length *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

/* by code, then length */
struct lengths {
	VPROF_ARRAY(struct length) timed;
	VPROF_ARRAY(struct length) gaps;
};

static int gather(struct lengths *l, const struct vprof_timeline *timeline)
{
	size_t n_samples = 0, n_gaps = 0;

	for (size_t i = 0; i < timeline->n_threads; i++) {
		n_samples += timeline->threads[i].samples.n;
		n_gaps += timeline->threads[i].gaps.n;
	}
	if (VPROF_RESERVE(&l->timed, n_samples + 1) || VPROF_RESERVE(&l->gaps, n_gaps + 1))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[i];

		for (size_t k = 0; k < thr->samples.n; k++)
			if (thr->samples.v[k].weight)
				l->timed.v[l->timed.n++] = (struct length){ thr->samples.v[k].code, 1,
									    (double)thr->samples.v[k].duration };
		for (size_t k = 0; k < thr->gaps.n; k++)
			l->gaps.v[l->gaps.n++] =
				(struct length){ thr->gaps.v[k].code, thr->gaps.v[k].n,
						 (double)(thr->gaps.v[k].t1 - thr->gaps.v[k].t0) / thr->gaps.v[k].n };
	}
	return vprof_array_sort(l->timed.v, l->timed.n, sizeof *l->timed.v, length_order) ||
			       vprof_array_sort(l->gaps.v, l->gaps.n, sizeof *l->gaps.v, length_order) ?
		       VPROF_ERR_NOMEM :
		       0;
}

static double sd_below(const struct length *timed, size_t n, double most)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += fmin(timed[i].ticks, most) / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (fmin(timed[i].ticks, most) - mean) * (fmin(timed[i].ticks, most) - mean);
	return sqrt(squares / (double)n);
}

/* Half of the calls lie in gaps with less time for each. */
static double weighted_median(const struct length *gaps, size_t n)
{
	uint64_t all = 0, below = 0;

	for (size_t i = 0; i < n; i++)
		all += gaps[i].n;
	for (size_t i = 0; i < n; i++) {
		below += gaps[i].n;
		if (2 * below >= all)
			return gaps[i].ticks;
	}
	return 0;
}

/* What its calls but the rare ones stay below. */
struct quantile {
	uint32_t code;
	double ticks;
};

/* How many of n timed calls may be too rare to stand for others. */
static size_t n_rare(size_t n)
{
	size_t few = n / RARE_FEW < FEW ? n / RARE_FEW : FEW;

	return n / RARE > few ? n / RARE : few;
}

static int fill_function(struct vprof_timeline *timeline, const struct lengths *l, size_t from, size_t to,
			 struct quantile *usual)
{
	const struct length *timed = l->timed.v + from;
	uint32_t code = timed->code;
	size_t first = VPROF_BISECT(l->gaps.n, i, l->gaps.v[i].code < code),
	       end = VPROF_BISECT(l->gaps.n, i, l->gaps.v[i].code <= code), n = to - from;
	struct vprof_hot_function *hot = VPROF_PUSH(&timeline->hot);

	if (!hot)
		return VPROF_ERR_NOMEM;
	*usual = (struct quantile){ code, timed[n - 1 - n_rare(n)].ticks };
	*hot = (struct vprof_hot_function){ .code = code,
					    .limit_ticks =
						    LIMIT_FACTOR * usual->ticks + LIMIT_NS / timeline->ns_per_tick,
					    .usual_ticks = weighted_median(l->gaps.v + first, end - first),
					    .sd_ticks = sd_below(timed, n, usual->ticks) };
	return 0;
}

const struct vprof_hot_function *vprof_hot_function(const struct vprof_timeline *timeline, uint32_t code)
{
	size_t i = VPROF_BISECT(timeline->hot.n, k, timeline->hot.v[k].code < code);

	return i < timeline->hot.n && timeline->hot.v[i].code == code ? &timeline->hot.v[i] : NULL;
}

/* A timed call that is rare counts for others no longer than theirs last. */
static void limit_samples(struct vprof_timeline *timeline, const struct quantile *usual)
{
	for (size_t i = 0; i < timeline->n_threads; i++) {
		struct vprof_thread_timeline *thr = &timeline->threads[i];

		for (size_t k = 0; k < thr->samples.n; k++) {
			struct vprof_sampled *s = &thr->samples.v[k];
			const struct vprof_hot_function *hot = s->weight ? vprof_hot_function(timeline, s->code) : NULL;

			if (hot)
				s->limit = (uint64_t)((double)s->duration > hot->limit_ticks ?
							      usual[hot - timeline->hot.v].ticks :
							      hot->limit_ticks);
		}
	}
}

int vprof_hot_functions_fill(struct vprof_timeline *timeline)
{
	struct lengths l = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	VPROF_ARRAY(struct quantile) usual = { NULL, 0, 0 };
	int ret = gather(&l, timeline);
	size_t to;

	for (size_t from = 0; from < l.timed.n && !ret; from = to) {
		struct quantile *q = VPROF_PUSH(&usual);

		for (to = from; to < l.timed.n && l.timed.v[to].code == l.timed.v[from].code; to++)
			;
		ret = q ? fill_function(timeline, &l, from, to, q) : VPROF_ERR_NOMEM;
	}
	if (!ret)
		limit_samples(timeline, usual.v);
	VPROF_ARRAY_RELEASE(&l.timed);
	VPROF_ARRAY_RELEASE(&l.gaps);
	VPROF_ARRAY_RELEASE(&usual);
	return ret;
}
