/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/clocks/host_clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

#define STRETCHES 64
#define DRIFT_MOST 1e-3 /* clocks are at most 500 ppm off, each */
#define LATEST 1e19	/* ns, that a number holds */
#define STEPS 60	/* of a search by thirds or halves */

struct bound { /* the tightest of a stretch: B's clock ahead of A's, and when, by A's */
	double ns, at;
	uint64_t n;
};

struct pair { /* of hosts, a < b */
	uint32_t a, b;
	uint64_t n_messages;
	double begin, end; /* of its messages, by A's clock */
	struct bound above[STRETCHES], below[STRETCHES];
	double ahead, drift, at, error, drift_error;
};

struct pairs {
	VPROF_ARRAY(struct pair) v;
	uint32_t *number; /* [n_hosts * n_hosts] of hosts a < b, + 1; 0: none */
	size_t n_hosts;
};

/* Takes one bound of how far B's clock is ahead, at a time of A's. */
typedef void take_bound(struct pair *p, double at, double ns, int is_above);

static struct pair *pair_of(struct pairs *all, uint32_t x, uint32_t y)
{
	uint32_t a = x < y ? x : y, b = x < y ? y : x, *number = &all->number[a * all->n_hosts + b];
	struct pair *p;

	if (*number)
		return &all->v.v[*number - 1];
	p = VPROF_PUSH(&all->v);
	if (!p)
		return NULL;
	*p = (struct pair){ .a = a, .b = b, .begin = INFINITY, .end = -INFINITY };
	*number = (uint32_t)all->v.n;
	return p;
}

static int each_message(struct pairs *all, const struct vprof_host_message *messages, size_t n, take_bound *take)
{
	for (size_t i = 0; i < n; i++) {
		const struct vprof_host_message *m = &messages[i];
		struct pair *pair = pair_of(all, m->from, m->to);

		if (!pair)
			return VPROF_ERR_NOMEM;
		if (m->from == pair->a)
			take(pair, (double)m->sent, (double)m->received - (double)m->sent, 1);
		else
			take(pair, (double)m->received, (double)m->sent - (double)m->received, 0);
	}
	return VPROF_OK;
}

static void take_range(struct pair *p, double at, double ns, int is_above)
{
	(void)ns;
	(void)is_above;
	p->n_messages++;
	p->begin = at < p->begin ? at : p->begin;
	p->end = at > p->end ? at : p->end;
}

static void take_stretch(struct pair *p, double at, double ns, int is_above)
{
	double place = p->end > p->begin ? (at - p->begin) / (p->end - p->begin) * STRETCHES : 0;
	size_t stretch = place >= STRETCHES ? STRETCHES - 1 : place > 0 ? (size_t)place : 0;
	struct bound *b = is_above ? &p->above[stretch] : &p->below[stretch];

	if (!b->n || (is_above ? ns < b->ns : ns > b->ns)) {
		b->ns = ns;
		b->at = at;
	}
	b->n++;
}

/* How far a line of this drift can be moved: its highest level at p->at below all bounds from above, and its lowest one
 * above all others. The former is concave in the drift, the latter convex. */
static double highest(const struct pair *p, double drift)
{
	double level = INFINITY;

	for (size_t i = 0; i < STRETCHES; i++)
		if (p->above[i].n)
			level = fmin(level, p->above[i].ns - drift * (p->above[i].at - p->at));
	return level;
}

static double lowest(const struct pair *p, double drift)
{
	double level = -INFINITY;

	for (size_t i = 0; i < STRETCHES; i++)
		if (p->below[i].n)
			level = fmax(level, p->below[i].ns - drift * (p->below[i].at - p->at));
	return level;
}

static double gap(const struct pair *p, double drift)
{
	return highest(p, drift) - lowest(p, drift);
}

static double negative_lowest(const struct pair *p, double drift)
{
	return -lowest(p, drift);
}

/* Where a concave function is largest within [from, to]. */
static double peak(const struct pair *p, double from, double to, double (*f)(const struct pair *, double))
{
	for (int i = 0; i < STEPS; i++) {
		double left = from + (to - from) / 3, right = to - (to - from) / 3;

		if (f(p, left) < f(p, right))
			from = left;
		else
			to = right;
	}
	return (from + to) / 2;
}

/* The last drift from `inside` toward `outside` with which a line still has so much room between all bounds. */
static double last_fitting(const struct pair *p, double inside, double outside, double room)
{
	if (gap(p, outside) >= room)
		return outside;
	for (int i = 0; i < STEPS; i++) {
		double middle = (inside + outside) / 2;

		if (gap(p, middle) >= room)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static double least_drift(const struct pair *p, double roomiest)
{
	double half = gap(p, roomiest) / 2, from = last_fitting(p, roomiest, -DRIFT_MOST, half),
	       to = last_fitting(p, roomiest, DRIFT_MOST, half);

	return from > 0 ? from : to < 0 ? to : 0;
}

/* The line with most room to all bounds, or a steadier one; and how far others that fit are from it. */
static void settle(struct pair *p)
{
	double slowest, fastest, up, down;

	p->at = p->begin + (p->end - p->begin) / 2;
	p->error = INFINITY;
	if (!isfinite(highest(p, 0)) || !isfinite(lowest(p, 0)))
		return; /* messages in one direction only */
	p->drift = peak(p, -DRIFT_MOST, DRIFT_MOST, gap);
	if (gap(p, p->drift) > 0)
		p->drift = least_drift(p, p->drift);
	p->ahead = (highest(p, p->drift) + lowest(p, p->drift)) / 2;
	if (gap(p, p->drift) < 0) {
		p->error = gap(p, p->drift) / 2;
		return;
	}
	slowest = last_fitting(p, p->drift, -DRIFT_MOST, 0);
	fastest = last_fitting(p, p->drift, DRIFT_MOST, 0);
	up = highest(p, peak(p, slowest, fastest, highest)) - p->ahead;
	down = p->ahead - lowest(p, peak(p, slowest, fastest, negative_lowest));
	p->error = fmax(up, down);
	p->drift_error = fmax(fastest - p->drift, p->drift - slowest);
}

/* Brings host `to` to the common clock by way of `from`, whose own is known. */
static void chain(struct vprof_host_clocks *clocks, const struct pair *p, uint32_t from, uint32_t to)
{
	const struct vprof_host_clock *known = &clocks->v.v[from];
	double own = from == p->a ? p->at : p->at + p->ahead; /* `from`'s time in the pair's middle */
	double ahead = from == p->a ? p->ahead : -p->ahead, drift = from == p->a ? p->drift : -p->drift;

	clocks->v.v[to] = (struct vprof_host_clock){
		.ahead_ns = known->ahead_ns + known->drift / (1 + known->drift) * (own - (double)known->at) + ahead,
		.drift = (1 + known->drift) * (1 + drift) - 1,
		.error_ns = known->error_ns < 0 || p->error < 0 ?
				    fmin(known->error_ns, p->error) :
				    known->error_ns + p->error + known->drift_error * fabs(own - (double)known->at),
		.at = own + ahead > 0 ? (uint64_t)fmin(own + ahead, LATEST) : 0,
		.drift_error = known->drift_error + p->drift_error,
		.n_messages = p->n_messages,
		.via = from,
		.is_known = 1,
	};
}

/* Is what the one pair says more certain? */
static int is_better(const struct pair *p, const struct pair *than)
{
	return (p->error < 0) != (than->error < 0) ? than->error < 0 : p->error < than->error;
}

/* Always by the most certain pair of those that lead from a known host to another. */
static void chain_all(struct vprof_host_clocks *clocks, const struct pairs *all)
{
	for (;;) {
		const struct pair *best = NULL;

		for (size_t i = 0; i < all->v.n; i++) {
			const struct pair *p = &all->v.v[i];

			if (clocks->v.v[p->a].is_known != clocks->v.v[p->b].is_known && isfinite(p->error) &&
			    (!best || is_better(p, best)))
				best = p;
		}
		if (!best)
			return;
		if (clocks->v.v[best->a].is_known)
			chain(clocks, best, best->a, best->b);
		else
			chain(clocks, best, best->b, best->a);
	}
}

int vprof_host_clocks_settle(struct vprof_host_clocks *clocks, size_t n_hosts,
			     const struct vprof_host_message *messages, size_t n)
{
	struct pairs all = { .number = calloc(n_hosts * n_hosts + 1, sizeof *all.number), .n_hosts = n_hosts };
	int ret = all.number ? VPROF_OK : VPROF_ERR_NOMEM;
	uint32_t first = VPROF_NONE;

	memset(clocks, 0, sizeof *clocks);
	for (size_t i = 0; i < n_hosts && !ret; i++) {
		struct vprof_host_clock *clock = VPROF_PUSH(&clocks->v);

		if (!clock)
			ret = VPROF_ERR_NOMEM;
		else
			clock->via = VPROF_NONE;
	}
	if (!ret)
		ret = each_message(&all, messages, n, take_range);
	if (!ret)
		ret = each_message(&all, messages, n, take_stretch);
	for (size_t i = 0; i < all.v.n && !ret; i++)
		settle(&all.v.v[i]);
	if (!ret && clocks->v.n) {
		for (size_t i = 0; i < all.v.n; i++)
			if (isfinite(all.v.v[i].error) && all.v.v[i].a < first)
				first = all.v.v[i].a;
		clocks->v.v[first != VPROF_NONE ? first : 0].is_known = 1;
		chain_all(clocks, &all);
	}
	VPROF_ARRAY_RELEASE(&all.v);
	free(all.number);
	return ret;
}

double vprof_host_clock_error(const struct vprof_host_clock *clock, uint64_t from, uint64_t to)
{
	double before = fabs((double)clock->at - (double)from), after = fabs((double)to - (double)clock->at);

	return clock->error_ns + (clock->via == VPROF_NONE ? 0 : clock->drift_error * fmax(before, after));
}

void vprof_host_clocks_release(struct vprof_host_clocks *clocks)
{
	VPROF_ARRAY_RELEASE(&clocks->v);
}

double vprof_host_clock_common(const struct vprof_host_clocks *clocks, uint32_t host, uint64_t t)
{
	const struct vprof_host_clock *clock = &clocks->v.v[host];

	return (double)t - clock->ahead_ns - clock->drift / (1 + clock->drift) * ((double)t - (double)clock->at);
}
