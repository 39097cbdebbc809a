/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See undivided.h. While an interval is added, the gaps that its pieces meet are kept with the time in them; when it is
 * complete they are compared with one another.
 */
#include "analysis/timeline/undivided.h"

#include <math.h>

#include "analysis/timeline/timeline_gaps.h"

#define USUAL_FACTOR 1.5
#define ERRORS 4.0
#define GAPS_MIN 8
#define PLACES 4       /* nodes in which the time of one gap is told apart */
#define LOOK_BACK 64   /* gaps in which one is looked for that an earlier piece met */
#define KEPT_MAX 8192u /* gaps of one interval: beyond, those so far are compared */

/* the part of a gap that lies in this interval */
struct met_gap {
	const struct vprof_gap *gap;
	uint32_t function; /* index into the timeline's hot functions */
	uint32_t thread;
	uint64_t ticks;
	struct {
		uint32_t node;
		uint64_t ticks;
	} places[PLACES];
	uint32_t n_places;
};

/* ... one that is too long */
struct long_gap {
	uint32_t node, thread, function;
	uint64_t t0, t1;
	double ticks; /* beyond the usual */
};

/* time for each call in a gap */
struct pace {
	uint32_t function, n;
	double ticks;
};

struct vprof_undivided {
	const struct vprof_timeline *timeline;
	uint64_t *masks; /* [timeline->hot.n] contexts in which the function is measured */
	VPROF_ARRAY(struct met_gap) met;
	VPROF_ARRAY(uint32_t) active; /* of `met` */
	VPROF_ARRAY(struct long_gap) longer;
	VPROF_ARRAY(struct pace) paces;
	double *usual; /* [timeline->hot.n] of the interval at hand */
	const struct vprof_thread_timeline *thr;
	uint32_t thread;
	size_t next;  /* of the thread's gaps */
	size_t *hint; /* [n_threads] */
};

struct vprof_undivided *vprof_undivided_new(const struct vprof_timeline *timeline, const struct vprof_plan *plan)
{
	struct vprof_undivided *u = calloc(1, sizeof *u);

	if (!u)
		return NULL;
	u->timeline = timeline;
	u->masks = calloc(timeline->hot.n + 1, sizeof *u->masks);
	u->usual = calloc(timeline->hot.n + 1, sizeof *u->usual);
	u->hint = calloc(timeline->n_threads + 1, sizeof *u->hint);
	if (!u->masks || !u->usual || !u->hint) {
		vprof_undivided_free(u);
		return NULL;
	}
	for (size_t i = 0; i < timeline->hot.n; i++) {
		const struct vprof_probe *probe = vprof_plan_probe(plan, timeline->hot.v[i].code);

		u->masks[i] = probe ? probe->mask : 0;
		for (size_t k = 0; probe && !probe->mask && k < plan->n_at_calls; k++)
			if (plan->at_calls[k].code == probe->code)
				u->masks[i] |= plan->at_calls[k].mask;
	}
	return u;
}

void vprof_undivided_free(struct vprof_undivided *u)
{
	if (!u)
		return;
	VPROF_ARRAY_RELEASE(&u->met);
	VPROF_ARRAY_RELEASE(&u->active);
	VPROF_ARRAY_RELEASE(&u->longer);
	VPROF_ARRAY_RELEASE(&u->paces);
	free(u->masks);
	free(u->usual);
	free(u->hint);
	free(u);
}

static uint32_t met_before(const struct vprof_undivided *u, const struct vprof_gap *gap)
{
	size_t i = u->met.n, first = i > LOOK_BACK ? i - LOOK_BACK : 0;

	while (i-- > first)
		if (u->met.v[i].gap == gap)
			return (uint32_t)i;
	return VPROF_NONE;
}

static int activate(struct vprof_undivided *u, const struct vprof_gap *gap)
{
	const struct vprof_hot_function *hot = vprof_hot_function(u->timeline, gap->code);
	uint32_t at = met_before(u, gap), *slot = VPROF_PUSH(&u->active);
	struct met_gap *met;

	if (!slot)
		return VPROF_ERR_NOMEM;
	if (!hot) { /* damage: calls were counted, none was timed */
		u->active.n--;
		return 0;
	}
	*slot = at;
	if (at != VPROF_NONE)
		return 0;
	met = VPROF_PUSH(&u->met);
	if (!met)
		return VPROF_ERR_NOMEM;
	*met = (struct met_gap){ .gap = gap, .function = (uint32_t)(hot - u->timeline->hot.v), .thread = u->thread };
	*slot = (uint32_t)u->met.n - 1;
	return 0;
}

int vprof_undivided_begin(struct vprof_undivided *u, uint32_t thread, uint64_t from)
{
	const struct vprof_thread_timeline *thr = &u->timeline->threads[thread];

	u->thr = thr;
	u->thread = thread;
	u->active.n = 0;
	u->next = VPROF_TIME_SEARCH(&thr->gaps, from, u->hint[thread]);
	u->hint[thread] = u->next;
	for (size_t i = u->next; i-- > 0 && thr->gaps.v[i].reach > from;)
		if (thr->gaps.v[i].t1 > from && activate(u, &thr->gaps.v[i]))
			return VPROF_ERR_NOMEM;
	return 0;
}

static void add_place(struct met_gap *met, uint32_t node, uint64_t ticks)
{
	uint32_t i = 0;

	met->ticks += ticks;
	while (i < met->n_places && met->places[i].node != node)
		i++;
	if (i == PLACES)
		return;
	met->n_places += i == met->n_places;
	met->places[i].node = node;
	met->places[i].ticks += ticks;
}

int vprof_undivided_spend(struct vprof_undivided *u, uint32_t node, uint64_t context, uint64_t t, uint64_t until)
{
	size_t n = 0;

	for (; u->next < u->thr->gaps.n && u->thr->gaps.v[u->next].t0 <= t; u->next++)
		if (u->thr->gaps.v[u->next].t1 > t && activate(u, &u->thr->gaps.v[u->next]))
			return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < u->active.n; i++) {
		struct met_gap *met = &u->met.v[u->active.v[i]];

		if (met->gap->t1 <= t)
			continue;
		u->active.v[n++] = u->active.v[i];
		if (u->masks[met->function] & context)
			add_place(met, node, until - t);
	}
	u->active.n = n;
	return 0;
}

void vprof_undivided_ended(struct vprof_undivided *u, uint32_t code)
{
	for (size_t i = 0; i < u->active.n; i++) {
		struct met_gap *met = &u->met.v[u->active.v[i]];

		if (met->gap->code != code || !met->gap->is_first)
			continue;
		met->ticks = 0;
		memset(met->places, 0, sizeof met->places);
		met->n_places = 0;
	}
}

static int pace_order(const void *a, const void *b)
{
	const struct pace *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

/* Half of the calls lie in gaps with a lower pace. */
static double median_pace(const struct pace *v, size_t n)
{
	uint64_t all = 0, below = 0;
	size_t i;

	for (i = 0; i < n; i++)
		all += v[i].n;
	for (i = 0; i + 1 < n && 2 * (below += v[i].n) < all; i++)
		;
	return v[i].ticks;
}

static int take_usual(struct vprof_undivided *u)
{
	size_t to;

	u->paces.n = 0;
	for (size_t i = 0; i < u->timeline->hot.n; i++)
		u->usual[i] = u->timeline->hot.v[i].usual_ticks;
	for (size_t i = 0; i < u->met.n; i++) {
		const struct met_gap *met = &u->met.v[i];
		struct pace *pace = met->ticks ? VPROF_PUSH(&u->paces) : NULL;

		if (!pace && met->ticks)
			return VPROF_ERR_NOMEM;
		if (pace)
			*pace = (struct pace){ met->function, met->gap->n, (double)met->ticks / met->gap->n };
	}
	if (u->paces.n)
		qsort(u->paces.v, u->paces.n, sizeof *u->paces.v, pace_order);
	for (size_t from = 0; from < u->paces.n; from = to) {
		for (to = from; to < u->paces.n && u->paces.v[to].function == u->paces.v[from].function; to++)
			;
		if (to - from >= GAPS_MIN)
			u->usual[u->paces.v[from].function] = median_pace(u->paces.v + from, to - from);
	}
	return 0;
}

/* What calls of other functions that were not timed usually take in the node while the gap lasts: a function's last gap
 * reaches over whatever its caller does afterwards, loops of other calls among it. */
static double others_ticks(const struct vprof_undivided *u, const struct met_gap *met, uint32_t node)
{
	double sum = 0;

	for (size_t i = 0; i < u->met.n; i++) {
		const struct met_gap *other = &u->met.v[i];
		uint64_t from = other->gap->t0 > met->gap->t0 ? other->gap->t0 : met->gap->t0,
			 to = other->gap->t1 < met->gap->t1 ? other->gap->t1 : met->gap->t1;

		if (other->function == met->function || other->thread != met->thread || from >= to ||
		    !other->n_places || other->places[0].node != node)
			continue;
		sum += fmin(other->gap->n * u->usual[other->function], (double)other->ticks) * (double)(to - from) /
		       (double)(other->gap->t1 - other->gap->t0);
	}
	return sum;
}

/* The gap's time beyond the usual, if it is long, in the node where most of it was spent. */
static int add_if_long(struct vprof_undivided *u, const struct met_gap *met)
{
	const struct vprof_hot_function *hot = &u->timeline->hot.v[met->function];
	double n = met->gap->n, usual = n * u->usual[met->function], ticks = (double)met->ticks,
	       limit = USUAL_FACTOR * usual + ERRORS * hot->sd_ticks * sqrt(n) + hot->limit_ticks;
	uint32_t most = 0;
	struct long_gap *slot;

	if (ticks <= limit)
		return 0;
	for (uint32_t i = 1; i < met->n_places; i++)
		if (met->places[i].ticks > met->places[most].ticks)
			most = i;
	/* those that take turns with it are in u already, give or take one of their gaps at either end */
	ticks -= fmax(0, others_ticks(u, met, met->places[most].node) - 2 * usual);
	if (ticks <= limit)
		return 0;
	slot = VPROF_PUSH(&u->longer);
	if (!slot)
		return VPROF_ERR_NOMEM;
	*slot = (struct long_gap){ .node = met->places[most].node,
				   .thread = met->thread,
				   .function = met->function,
				   .t0 = met->gap->t0,
				   .t1 = met->gap->t1,
				   .ticks = fmin(ticks - usual, (double)met->places[most].ticks) };
	return 0;
}

static int long_order(const void *a, const void *b)
{
	const struct long_gap *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Gaps that overlap are of different functions, and hold the same long times: the one of most. */
static double most_of_one(const struct long_gap *v, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t k = 0; k < n; k++)
			sum += v[k].function == v[i].function ? v[k].ticks : 0;
		most = fmax(most, sum);
	}
	return most;
}

int vprof_undivided_is_full(const struct vprof_undivided *u)
{
	return u->met.n > KEPT_MAX;
}

int vprof_undivided_settle(struct vprof_undivided *u, int (*move)(void *arg, uint32_t node, int64_t ticks), void *arg)
{
	size_t to;
	int ret = 0;

	if (!u->met.n)
		return 0;
	u->longer.n = 0;
	ret = take_usual(u);
	for (size_t i = 0; i < u->met.n && !ret; i++)
		ret = add_if_long(u, &u->met.v[i]);
	if (u->longer.n)
		qsort(u->longer.v, u->longer.n, sizeof *u->longer.v, long_order);
	for (size_t from = 0; from < u->longer.n && !ret; from = to) {
		uint64_t reach = u->longer.v[from].t1;

		for (to = from + 1; to < u->longer.n && u->longer.v[to].node == u->longer.v[from].node &&
				    u->longer.v[to].thread == u->longer.v[from].thread && u->longer.v[to].t0 < reach;
		     to++)
			reach = u->longer.v[to].t1 > reach ? u->longer.v[to].t1 : reach;
		ret = move(arg, u->longer.v[from].node, (int64_t)most_of_one(u->longer.v + from, to - from));
	}
	u->met.n = u->active.n = 0;
	return ret;
}
