/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See channels.h. Messages of all threads are sorted by (channel, direction, time); amounts are summed within each
 * group. */
#include "analysis/timeline/edges/channels.h"

#include "analysis/timeline/losses.h"
#include "common/search.h"
#include "trace/format.h"

#define SENDS_MAX 16		      /* of one RECEIVE that become queue events: the last ones */
#define ITEM_MARK (UINT64_C(1) << 63) /* never set in an address of a program */

struct message {
	/* a SEND ends no later than a RECEIVE that needed its units */
	uint64_t channel, t, took;
	uint64_t until;		/* units of the channel up to this one, itself included */
	uint32_t thread, place; /* in the thread's messages */
	uint8_t is_receive;
	uint8_t is_begin; /* SEND of nothing: a new connection of the same key, which takes nothing sent before it */
	uint8_t is_known; /* RECEIVE: first and last are the sends that it took from */
	uint32_t first, last;
	uint32_t connection; /* SEND: the latest begin of a connection up to it; VPROF_NONE: none */
	/* Of a SEND: the latest end of an earlier one by another thread; of a RECEIVE: the earliest begin of a later
	 * one, however many calls are in between, since a thread may be preempted within its own. */
	uint64_t others;
};

/* of one channel */
struct group {
	uint64_t channel;
	uint32_t sends, receives, end; /* places in `all` */
};

struct vprof_channels {
	const struct vprof_timeline *timeline;
	VPROF_ARRAY(struct message) all;
	VPROF_ARRAY(struct group) groups;
	uint32_t **place; /* [n_threads][n messages] of each thread's messages in `all` */
};

static int message_order(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	if (x->channel != y->channel)
		return x->channel < y->channel ? -1 : 1;
	if (x->is_receive != y->is_receive)
		return x->is_receive ? 1 : -1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int gather(struct vprof_channels *c)
{
	for (size_t i = 0; i < c->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &c->timeline->threads[i];

		if (thr->messages.n >= VPROF_NONE)
			return VPROF_ERR_NOMEM;
		c->place[i] = malloc((thr->messages.n ? thr->messages.n : 1) * sizeof **c->place);
		if (!c->place[i])
			return VPROF_ERR_NOMEM;
		for (size_t k = 0; k < thr->messages.n; k++) {
			const struct vprof_message *m = &thr->messages.v[k];
			struct message *to = VPROF_PUSH(&c->all);

			if (!to || c->all.n >= VPROF_NONE)
				return VPROF_ERR_NOMEM;
			*to = (struct message){ .channel = m->channel,
						.t = m->t,
						.took = m->took,
						.until = m->amount,
						.thread = (uint32_t)i,
						.place = (uint32_t)k,
						.is_receive = m->is_receive };
		}
	}
	if (vprof_array_sort(c->all.v, c->all.n, sizeof *c->all.v, message_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < c->all.n; i++)
		c->place[c->all.v[i].thread][c->all.v[i].place] = (uint32_t)i;
	return 0;
}

static int find_groups(struct vprof_channels *c)
{
	const struct message *all = c->all.v;
	uint32_t n = (uint32_t)c->all.n, to;

	for (uint32_t from = 0; from < n; from = to) {
		struct group *g = VPROF_PUSH(&c->groups);

		if (!g)
			return VPROF_ERR_NOMEM;
		g->channel = all[from].channel;
		g->sends = from;
		for (to = from; to < n && all[to].channel == g->channel && !all[to].is_receive; to++)
			;
		g->receives = to;
		for (; to < n && all[to].channel == g->channel; to++)
			;
		g->end = to;
	}
	return 0;
}

/* Do two calls by different threads overlap, so that their times do not tell which came first? */
static int overlap(const struct message *a, const struct message *b)
{
	uint64_t a0 = a->is_receive ? a->t - a->took : a->t, b0 = b->is_receive ? b->t - b->took : b->t;

	return a->thread != b->thread && a0 <= b0 + b->took && b0 <= a0 + a->took;
}

/* First send of the group that contains a unit beyond `units`; g->receives when there is none. */
static uint32_t send_after(const struct vprof_channels *c, const struct group *g, uint64_t units)
{
	uint32_t low = g->sends, high = g->receives;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->all.v[middle].until <= units)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The largest of the values put in by any thread other than `thread`. */
struct record {
	uint64_t first, second; /* the largest, and the largest of another thread */
	uint32_t thread;	/* of the first */
};

static uint64_t record_of_others(const struct record *r, uint32_t thread)
{
	return r->thread == thread ? r->second : r->first;
}

static void record_put(struct record *r, uint64_t value, uint32_t thread)
{
	if (thread == r->thread) {
		r->first = value > r->first ? value : r->first;
	} else if (value > r->first) {
		r->second = r->first;
		r->first = value;
		r->thread = thread;
	} else if (value > r->second) {
		r->second = value;
	}
}

static void find_others(struct vprof_channels *c, const struct group *g)
{
	struct record ends = { .thread = VPROF_NONE }, begins = { .thread = VPROF_NONE };
	struct message *all = c->all.v;

	for (uint32_t i = g->sends; i < g->receives; i++) {
		all[i].others = record_of_others(&ends, all[i].thread);
		record_put(&ends, all[i].t + all[i].took, all[i].thread);
	}
	for (uint32_t i = g->end; i-- > g->receives;) { /* the smallest is the largest complement */
		all[i].others = ~record_of_others(&begins, all[i].thread);
		record_put(&begins, ~(all[i].t - all[i].took), all[i].thread);
	}
}

/* Is it certain that its units belong to this send and to no other? */
static int is_sure(const struct vprof_channels *c, const struct group *g, uint32_t send)
{
	const struct message *s = &c->all.v[send];

	if (s->others >= s->t)
		return 0;
	for (uint32_t i = send + 1; i < g->receives && c->all.v[i].t <= s->t + s->took; i++)
		if (i - send > SENDS_MAX || overlap(&c->all.v[i], s))
			return 0;
	return 1;
}

/* Receives that overlapped took the available units in an unknown order. */
static int is_rival(const struct vprof_channels *c, const struct group *g, uint32_t receive)
{
	const struct message *r = &c->all.v[receive];
	uint32_t next = r->last + 1;

	for (uint32_t i = receive; i-- > g->receives && c->all.v[i].t >= r->t - r->took;) {
		if (receive - i > SENDS_MAX)
			return 1;
		if (!c->all.v[i].is_known || c->all.v[i].thread == r->thread)
			continue;
		if (c->all.v[r->first].t <= c->all.v[i].t)
			return 1;
		break; /* those that ended before it even less so */
	}
	return r->others <= r->t && next < g->receives && c->all.v[next].t <= r->t;
}

/* The place behind the last message of [from, end) with a time up to t. */
static uint32_t behind(const struct vprof_channels *c, uint32_t from, uint32_t end, uint64_t t)
{
	uint32_t low = from, high = end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->all.v[middle].t <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Units of the messages of [from, end) with times up to t: begun by then, of sends; received by then, of receives. */
static uint64_t units_by(const struct vprof_channels *c, uint32_t from, uint32_t end, uint64_t t)
{
	uint32_t next = behind(c, from, end, t);

	return next > from ? c->all.v[next - 1].until : 0;
}

/* Units that whoever receives at t has behind it: received, or sent on a connection that has ended. */
static uint64_t units_past(const struct vprof_channels *c, const struct group *g, uint64_t t)
{
	uint32_t next = behind(c, g->sends, g->receives, t);
	uint32_t connection = next > g->sends ? c->all.v[next - 1].connection : VPROF_NONE;
	uint64_t received = units_by(c, g->receives, g->end, t);

	return connection != VPROF_NONE && c->all.v[connection].until > received ? c->all.v[connection].until :
										   received;
}

/* By the end of a receive, more units had been taken than all others had begun to send. */
static void cut_send(struct vprof_channels *c, const struct group *g, uint32_t send, const struct message *receive)
{
	struct message *s = &c->all.v[send];
	uint64_t own = s->until - (send > g->sends ? s[-1].until : 0);

	if (s->t + s->took > receive->t && units_by(c, g->sends, g->receives, receive->t) - own < receive->until)
		s->took = receive->t > s->t ? receive->t - s->t : 0;
}

static void match_group(struct vprof_channels *c, const struct group *g)
{
	struct message *all = c->all.v;
	uint64_t units = 0, lost = vprof_losses_first(c->timeline);
	uint32_t begun = g->sends, connection = VPROF_NONE;

	for (uint32_t i = g->sends; i < g->receives; i++) {
		all[i].is_begin = !all[i].until;
		connection = all[i].is_begin ? i : connection;
		all[i].connection = connection;
		if (__builtin_add_overflow(units, all[i].until, &units))
			units = UINT64_MAX;
		all[i].until = units;
	}
	units = 0;
	for (uint32_t i = g->receives; i < g->end; i++) {
		uint64_t amount = all[i].until;
		uint32_t first, last;

		for (; begun < g->receives && all[begun].t < all[i].t; begun++)
			if (all[begun].is_begin && units < all[begun].until)
				units = all[begun].until;
		first = send_after(c, g, units);
		last = send_after(c, g, units + (amount ? amount - 1 : 0));

		all[i].until = units;
		if (!amount || amount > UINT64_MAX - units || last >= g->receives || all[i].t >= lost)
			continue; /* a writer was not recorded, or may not have been */
		if (all[last].t > all[i].t) {
			/* ... or, between two hosts, their clocks are not known so well */
			if (VP_CHANNEL_IS_BETWEEN_HOSTS(g->channel) && all[last].connection != VPROF_NONE)
				all[i].until = units += amount;
			continue;
		}
		units += amount;
		all[i].until = units;
		all[i].first = first;
		all[i].last = last;
		all[i].is_known = 1;
		for (uint32_t k = first; k <= last; k++)
			cut_send(c, g, k, &all[i]);
	}
}

static int add_event(struct vprof_timeline *timeline, uint32_t thread, uint64_t t, uint64_t item, int is_dequeue)
{
	struct vprof_queue_event *q = VPROF_PUSH(&timeline->threads[thread].queue_events);

	if (!q)
		return VPROF_ERR_NOMEM;
	*q = (struct vprof_queue_event){ .t = t, .item = item, .is_dequeue = (uint8_t)is_dequeue, .is_message = 1 };
	return 0;
}

static int add_events(struct vprof_channels *c, struct vprof_timeline *timeline, const struct group *g,
		      uint8_t *is_sent)
{
	const struct message *all = c->all.v;

	for (uint32_t i = g->receives; i < g->end; i++) {
		uint32_t first = all[i].first;

		if (!all[i].is_known || is_rival(c, g, i))
			continue;
		if (all[i].last - first >= SENDS_MAX)
			first = all[i].last - SENDS_MAX + 1;
		for (uint32_t k = first; k <= all[i].last; k++) {
			uint64_t item = vprof_mix(vprof_mix(g->channel) ^ k) | ITEM_MARK;

			if (!is_sure(c, g, k))
				continue;
			if (!is_sent[k] && add_event(timeline, all[k].thread, all[k].t, item, 0))
				return VPROF_ERR_NOMEM;
			is_sent[k] = 1;
			if (add_event(timeline, all[i].thread, all[i].t, item, 1))
				return VPROF_ERR_NOMEM;
		}
	}
	return 0;
}

struct vprof_channels *vprof_channels_new(struct vprof_timeline *timeline)
{
	struct vprof_channels *c = calloc(1, sizeof *c);
	uint8_t *is_sent = NULL;
	int ret = VPROF_ERR_NOMEM;

	if (!c)
		return NULL;
	c->timeline = timeline;
	c->place = calloc(timeline->n_threads + 1, sizeof *c->place);
	if (!c->place || gather(c) || find_groups(c))
		goto out;
	is_sent = calloc(c->all.n + 1, 1);
	if (!is_sent)
		goto out;
	for (size_t i = 0; i < c->groups.n; i++) {
		match_group(c, &c->groups.v[i]);
		find_others(c, &c->groups.v[i]);
		if (add_events(c, timeline, &c->groups.v[i], is_sent))
			goto out;
	}
	for (size_t i = 0; i < timeline->n_threads && c->all.n; i++)
		if (vprof_array_sort(timeline->threads[i].queue_events.v, timeline->threads[i].queue_events.n,
				     sizeof *timeline->threads[i].queue_events.v, vprof_compare_u64))
			goto out;
	ret = 0;
out:
	free(is_sent);
	if (!ret)
		return c;
	vprof_channels_free(c);
	return NULL;
}

void vprof_channels_free(struct vprof_channels *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->place && i < c->timeline->n_threads; i++)
		free(c->place[i]);
	free(c->place);
	VPROF_ARRAY_RELEASE(&c->all);
	VPROF_ARRAY_RELEASE(&c->groups);
	free(c);
}

static const struct group *group_of(const struct vprof_channels *c, uint64_t channel)
{
	size_t low = VPROF_BISECT(c->groups.n, i, c->groups.v[i].channel < channel);

	return low < c->groups.n && c->groups.v[low].channel == channel ? &c->groups.v[low] : NULL;
}

static enum vprof_channel_answer judge(const struct vprof_channels *c, const struct group *g,
				       const struct vprof_wait *w, uint32_t send, uint32_t thread, uint32_t *waker,
				       uint64_t *wake_t)
{
	const struct message *s = &c->all.v[send];

	if (send >= g->receives || s->t > w->t1)
		return VPROF_CHANNEL_UNDECIDED;
	if (s->t + s->took < w->t0) /* whoever wrote what: all up to this one was enough */
		return s->others < w->t0 ? VPROF_CHANNEL_NO_WAIT : VPROF_CHANNEL_UNDECIDED;
	if (!is_sure(c, g, send) || s->thread == thread)
		return VPROF_CHANNEL_UNDECIDED;
	*waker = s->thread;
	*wake_t = s->t < w->t0 ? w->t0 : s->t;
	return VPROF_CHANNEL_WOKEN;
}

/* NULL: nothing was moved through the channel. */
static int is_outside(const struct group *g, uint64_t channel)
{
	return VP_CHANNEL_IS_BETWEEN_HOSTS(channel) && (!g || g->sends == g->receives);
}

/* The receive that the same call recorded: it ends with the wait. */
static const struct message *receive_of(const struct vprof_channels *c, uint32_t thread, const struct vprof_wait *w)
{
	const struct vprof_thread_timeline *thr = &c->timeline->threads[thread];
	size_t i = VPROF_TIME_SEARCH(&thr->messages, w->t1, 0);

	for (int n = 0; i-- > 0 && n < 4 && thr->messages.v[i].t == w->t1; n++)
		if (thr->messages.v[i].is_receive && thr->messages.v[i].channel == w->object)
			return &c->all.v[c->place[thread][i]];
	return NULL;
}

static enum vprof_channel_answer of_poll(const struct vprof_channels *c, uint64_t channel, uint32_t thread,
					 const struct vprof_wait *w, uint32_t *waker, uint64_t *wake_t)
{
	const struct group *g = group_of(c, channel);

	if (is_outside(g, channel))
		return VPROF_CHANNEL_OUTSIDE;
	if (!g || w->t1 >= vprof_losses_first(c->timeline))
		return VPROF_CHANNEL_UNDECIDED;
	return judge(c, g, w, send_after(c, g, units_past(c, g, w->t0)), thread, waker, wake_t);
}

enum vprof_channel_answer vprof_channels_waker(const struct vprof_channels *c, uint32_t thread, size_t wait,
					       uint32_t *waker, uint64_t *wake_t)
{
	const struct vprof_thread_timeline *thr = &c->timeline->threads[thread];
	const struct vprof_wait *w = &thr->waits.v[wait];
	enum vprof_channel_answer answer;

	if (w->kind != VP_WAIT_POLL) {
		const struct message *r = receive_of(c, thread, w);
		const struct group *g = r ? group_of(c, r->channel) : NULL;

		if (is_outside(g, w->object))
			return VPROF_CHANNEL_OUTSIDE;
		if (!g || !r->is_known || is_rival(c, g, (uint32_t)(r - c->all.v)))
			return VPROF_CHANNEL_UNDECIDED;
		return judge(c, g, w, r->first, thread, waker, wake_t);
	}
	answer = of_poll(c, w->object, thread, w, waker, wake_t);
	for (size_t i = 0; i < thr->ready.n && answer == VPROF_CHANNEL_WOKEN; i++) {
		enum vprof_channel_answer other;
		uint32_t other_waker;
		uint64_t other_t;

		if (thr->ready.v[i].wait != wait)
			continue;
		other = of_poll(c, thr->ready.v[i].channel, thread, w, &other_waker, &other_t);
		if (other != VPROF_CHANNEL_WOKEN)
			return other;
		if (other_t < *wake_t) {
			*wake_t = other_t;
			*waker = other_waker;
		}
	}
	return answer;
}
