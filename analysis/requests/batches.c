/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/batches.h"

#include <math.h>

#include "analysis/requests/message_lengths.h"
#include "analysis/requests/reply_ends.h"
#include "analysis/requests/turns.h"
#include "common/search.h"

#define LENGTHS_LEAST 0.9 /* of tests by known calls that lengths decide right, from here on they are used */
#define RIVALS_MOST 8	  /* known calls that are looked at for one of the same program */
#define PASSES_MOST 100	  /* a chain of conclusions is mostly drawn in a few */
#define JOINS_MOST 3	  /* times; joined turns mostly contradict nothing */
#define FIT_ENOUGH 3.0	  /* logarithm: 20 times as likely as any other */
#define TESTS_RIGHT 0.5	  /* as if one test had been right half of the time */
#define TESTS_SEEN 1.0

struct matching {
	struct vprof_batches *b;
	const struct vprof_socket_history *h;
	const struct vprof_exchanges *x;
	const struct vprof_agreement *a;
	struct vprof_turns turns;
	unsigned char *joins; /* see vprof_turns_find() */
	int has_changed, is_out_of_memory;
};

/* A set of visits, while it is made. */
struct set {
	uint32_t v[VPROF_TURN_MOST];
	uint32_t n; /* VPROF_CANDIDATES_UNKNOWN: any */
};

static void unite(struct set *s, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n && s->n != VPROF_CANDIDATES_UNKNOWN; i++) {
		uint32_t k = 0;

		while (k < s->n && s->v[k] != v[i])
			k++;
		if (k < s->n)
			continue;
		if (s->n == VPROF_TURN_MOST)
			s->n = VPROF_CANDIDATES_UNKNOWN;
		else
			s->v[s->n++] = v[i];
	}
}

static void unite_message(const struct matching *m, struct set *s, const struct vprof_turn_message *message)
{
	const struct vprof_candidates *c = &m->b->of[message->exchange];

	if (!message->is_call)
		unite(s, &message->exchange, 1);
	else if (c->n == VPROF_CANDIDATES_UNKNOWN || !c->n)
		s->n = VPROF_CANDIDATES_UNKNOWN;
	else
		unite(s, m->b->visits.v + c->first, c->n);
}

static struct set unite_all(const struct matching *m, const struct vprof_turn_message *list, uint32_t n)
{
	struct set s = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		unite_message(m, &s, &list[i]);
	return s;
}

/* Of those that came before one that was sent, or of those that were sent after one that came. */
static struct set unite_if(const struct matching *m, const struct vprof_turn_message *list, uint32_t n,
			   const struct vprof_turn_message *other, int is_before)
{
	struct set s = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		if (is_before ? list[i].nth < other->nth : list[i].nth > other->nth)
			unite_message(m, &s, &list[i]);
	return s;
}

static int contains(const struct set *s, uint32_t visit)
{
	for (uint32_t i = 0; i < s->n && s->n != VPROF_CANDIDATES_UNKNOWN; i++)
		if (s->v[i] == visit)
			return 1;
	return s->n == VPROF_CANDIDATES_UNKNOWN;
}

static void note_test(struct matching *m, uint32_t thread, int agrees)
{
	uint32_t program = m->a->threads[thread].program;

	m->b->n_tests[program]++;
	m->b->n_agree[program] += agrees != 0;
}

static int keep_candidates(struct matching *m, struct vprof_candidates *c, const struct set *s)
{
	c->n = (uint8_t)s->n;
	if (s->n == VPROF_CANDIDATES_UNKNOWN)
		return VPROF_OK;
	if (VPROF_ROOM(&m->b->visits, m->b->visits.n + s->n))
		return VPROF_ERR_NOMEM;
	c->first = (uint32_t)m->b->visits.n;
	c->n_first = c->n;
	memcpy(m->b->visits.v + c->first, s->v, s->n * sizeof *s->v);
	m->b->visits.n += s->n;
	return VPROF_OK;
}

/* Leaves the candidates that the set holds. A call that lost all of them is contradicted. */
static void restrict_to(struct matching *m, uint32_t thread, uint32_t call, const struct set *s)
{
	struct vprof_candidates *c = &m->b->of[call];
	uint32_t *v = m->b->visits.v + c->first;
	uint8_t n = 0;

	if (s->n == VPROF_CANDIDATES_UNKNOWN || !c->n)
		return;
	if (c->n == VPROF_CANDIDATES_UNKNOWN) {
		m->is_out_of_memory |= keep_candidates(m, c, s) != VPROF_OK;
		m->has_changed = 1;
		return;
	} else {
		for (uint8_t i = 0; i < c->n; i++)
			if (contains(s, v[i])) {
				uint32_t struck_out = v[n];

				v[n++] = v[i];
				v[i] = struck_out;
			}
	}
	m->has_changed |= n != c->n;
	c->n = n;
	if (!n)
		note_test(m, thread, 0);
}

static void strike_out(struct matching *m, uint32_t thread, uint32_t call, uint32_t visit)
{
	struct vprof_candidates *c = &m->b->of[call];
	struct set rest = { .n = 0 };

	if (c->n == VPROF_CANDIDATES_UNKNOWN || !c->n)
		return;
	for (uint8_t i = 0; i < c->n; i++)
		if (m->b->visits.v[c->first + i] != visit)
			rest.v[rest.n++] = m->b->visits.v[c->first + i];
	restrict_to(m, thread, call, &rest);
}

/* Where a call of a list may only be for one visit, no other of the list is. Where a visit has one call of the list
 * left, that is its. */
static void tell_apart(struct matching *m, uint32_t thread, const struct vprof_turn_message *list, uint32_t n,
		       const struct set *needed)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct vprof_candidates *c = &m->b->of[list[i].exchange];
		uint32_t visit = list[i].exchange;

		if (list[i].is_call && c->n != 1)
			continue;
		if (list[i].is_call)
			visit = m->b->visits.v[c->first];
		for (uint32_t k = 0; k < n; k++)
			if (k != i && list[k].is_call)
				strike_out(m, thread, list[k].exchange, visit);
	}
	for (uint32_t i = 0; needed->n != VPROF_CANDIDATES_UNKNOWN && i < needed->n; i++) {
		uint32_t n_left = 0, last = 0;

		for (uint32_t k = 0; k < n; k++) {
			struct set one = unite_all(m, &list[k], 1);

			if (contains(&one, needed->v[i])) {
				n_left++;
				last = k;
			}
		}
		if (n_left == 1 && list[last].is_call)
			restrict_to(m, thread, list[last].exchange, &(struct set){ { needed->v[i] }, 1 });
	}
}

/* The visits that the other side has for certain. */
static struct set certain(const struct matching *m, const struct vprof_turn_message *list, uint32_t n)
{
	struct set s = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		if (!list[i].is_call || m->b->of[list[i].exchange].n == 1)
			unite_message(m, &s, &list[i]);
	return s;
}

/* One message that was received is the reason of all that was sent. */
static void conclude_from_one(struct matching *m, const struct vprof_turn *b)
{
	const struct vprof_turn_message *all = m->turns.messages.v + b->first;
	struct set visit = certain(m, all, (uint32_t)b->n_received + b->n_sent);

	for (uint32_t i = 0; i < (uint32_t)b->n_received + b->n_sent && visit.n == 1; i++)
		if (all[i].is_call)
			restrict_to(m, b->thread, all[i].exchange, &visit);
}

static void conclude(struct matching *m, const struct vprof_turn *b)
{
	const struct vprof_turn_message *received = m->turns.messages.v + b->first, *sent = received + b->n_received;
	struct set from = unite_all(m, received, b->n_received), to = unite_all(m, sent, b->n_sent), needed;

	if (b->n_received == 1)
		conclude_from_one(m, b);
	else if (b->n_received != b->n_sent)
		return;
	for (uint8_t i = 0; i < b->n_received; i++) {
		if (b->is_joined)
			to = unite_if(m, sent, b->n_sent, &received[i], 0);
		if (received[i].is_call)
			restrict_to(m, b->thread, received[i].exchange, &to);
	}
	for (uint8_t i = 0; i < b->n_sent; i++) {
		if (b->is_joined)
			from = unite_if(m, received, b->n_received, &sent[i], 1);
		if (sent[i].is_call)
			restrict_to(m, b->thread, sent[i].exchange, &from);
	}
	if (b->n_received == 1)
		return;
	needed = certain(m, sent, b->n_sent);
	tell_apart(m, b->thread, received, b->n_received, &needed);
	needed = certain(m, received, b->n_received);
	tell_apart(m, b->thread, sent, b->n_sent, &needed);
}

/* A call's first candidates: what its thread received. Replies test them. */
static int begin(struct matching *m, const struct vprof_turn *b)
{
	const struct vprof_turn_message *received = m->turns.messages.v + b->first, *sent = received + b->n_received;
	struct set from = unite_all(m, received, b->n_received);

	for (uint8_t i = 0; i < b->n_sent; i++) {
		struct vprof_candidates *c = &m->b->of[sent[i].exchange];

		if (b->is_joined)
			from = unite_if(m, received, b->n_received, &sent[i], 1);
		if (!sent[i].is_call) {
			if (from.n != VPROF_CANDIDATES_UNKNOWN)
				note_test(m, b->thread, contains(&from, sent[i].exchange));
			continue;
		}
		if (keep_candidates(m, c, &from))
			return VPROF_ERR_NOMEM;
	}
	return VPROF_OK;
}

/* The visits of a turn in their order, and its calls in theirs: the requests that the thread received and the calls
 * that it sent, or the replies that it sent and those to calls that it received. */
struct queue {
	uint32_t visits[VPROF_TURN_MOST], calls[VPROF_TURN_MOST];
	uint32_t n_visits, n_calls;
};

/* With is_known those that are known to belong together, each with its place in the order of the calls; else the
 * others. */
static struct queue queue_of(const struct matching *m, const struct vprof_turn *b, enum vprof_order order, int is_known)
{
	const struct vprof_turn_message *received = m->turns.messages.v + b->first, *sent = received + b->n_received;
	const struct vprof_turn_message *visits = order == VPROF_ORDER_CALLS ? received : sent;
	const struct vprof_turn_message *calls = order == VPROF_ORDER_CALLS ? sent : received;
	struct queue q = { .n_calls = 0 };

	if (b->n_received != b->n_sent)
		return q;
	for (uint8_t i = 0; i < b->n_received; i++) {
		int is_taken = visits[i].is_call;

		for (uint8_t k = 0; k < b->n_sent && !is_taken; k++) {
			const struct vprof_candidates *c = &m->b->of[calls[k].exchange];

			is_taken = calls[k].is_call && c->n == 1 && m->b->visits.v[c->first] == visits[i].exchange;
			if (is_taken && is_known) {
				q.visits[q.n_visits++] = visits[i].exchange;
				q.calls[q.n_calls++] = k;
			}
		}
		if (!is_taken && !is_known)
			q.visits[q.n_visits++] = visits[i].exchange;
	}
	for (uint8_t k = 0; k < b->n_sent && !is_known; k++)
		if (calls[k].is_call && m->b->of[calls[k].exchange].n != 1)
			q.calls[q.n_calls++] = calls[k].exchange;
	return q;
}

/* Of known calls that are together in a turn: how many have the place that the order of their visits gives them? */
static void count_order(struct matching *m, const struct vprof_turn *b, enum vprof_order order)
{
	struct queue q = queue_of(m, b, order, 1);
	uint32_t program = m->a->threads[b->thread].program;

	for (uint32_t i = 0; i < q.n_calls && q.n_calls > 1; i++) {
		uint32_t n_before = 0;

		for (uint32_t k = 0; k < q.n_calls; k++)
			n_before += q.calls[k] < q.calls[i];
		m->b->n_ordered[order][program]++;
		m->b->n_in_order[order][program] += n_before == i;
	}
}

static void keep_order(struct matching *m, const struct vprof_turn *b, enum vprof_order order)
{
	struct queue q = queue_of(m, b, order, 0);

	if (q.n_calls != q.n_visits)
		return;
	for (uint32_t i = 0; i < q.n_calls; i++) {
		const struct vprof_candidates *c = &m->b->of[q.calls[i]];
		struct set left = { .n = 0 };

		if (!c->n || c->n == VPROF_CANDIDATES_UNKNOWN)
			return;
		unite(&left, m->b->visits.v + c->first, c->n);
		if (!contains(&left, q.visits[i]))
			return;
	}
	for (uint32_t i = 0; i < q.n_calls; i++)
		m->b->by_order[order][q.calls[i]] = q.visits[i];
}

/* Calls of which one candidate is left, whose lengths show what goes together. */
static int learn_lengths(const struct matching *m, struct vprof_message_lengths *l)
{
	int ret = VPROF_OK;

	for (uint32_t i = 0; i < m->x->v.n && !ret; i++)
		if (m->b->of[i].n == 1 && m->x->v.v[i].client.request_thread != VPROF_NONE)
			ret = vprof_message_lengths_add(l, m->a->threads[m->x->v.v[i].client.request_thread].program,
							m->b->visits.v[m->b->of[i].first], i);
	return ret;
}

/* Would lengths have told the request of this known call from that of another? */
static void test_lengths(struct matching *m, const struct vprof_message_lengths *l, uint32_t call, uint32_t other)
{
	uint32_t program = m->a->threads[m->x->v.v[call].client.request_thread].program;
	uint32_t visit = m->b->visits.v[m->b->of[call].first], rival = m->b->visits.v[m->b->of[other].first];
	double fit = vprof_message_lengths_fit(l, program, visit, call, 1) -
		     vprof_message_lengths_fit(l, program, rival, call, 0);

	if (visit == rival || (fit < FIT_ENOUGH && fit > -FIT_ENOUGH))
		return;
	m->b->n_fits[program]++;
	m->b->n_fits_right[program] += fit > 0;
}

/* Each known call with one that is far from it among the known ones, since neighbours are of one connection. */
static int test_all_lengths(struct matching *m, const struct vprof_message_lengths *l)
{
	VPROF_ARRAY(uint32_t) known = { 0 };
	int ret = VPROF_RESERVE(&known, m->x->v.n + 1) ? VPROF_ERR_NOMEM : VPROF_OK;

	for (uint32_t i = 0; i < m->x->v.n && !ret; i++)
		if (m->b->of[i].n == 1 && m->x->v.v[i].client.request_thread != VPROF_NONE)
			known.v[known.n++] = i;
	for (size_t i = 0; i < known.n; i++)
		for (size_t k = 0; k < RIVALS_MOST; k++) {
			uint32_t rival = known.v[(i + known.n / 2 + k) % known.n];

			if (m->a->threads[m->x->v.v[known.v[i]].client.request_thread].program !=
			    m->a->threads[m->x->v.v[rival].client.request_thread].program)
				continue;
			test_lengths(m, l, known.v[i], rival);
			break;
		}
	VPROF_ARRAY_RELEASE(&known);
	return ret;
}

/* The candidate of a call that its lengths name; VPROF_NONE: none. */
static uint32_t fitting(const struct matching *m, const struct vprof_message_lengths *l, uint32_t call,
			uint32_t program)
{
	const struct vprof_candidates *c = &m->b->of[call];
	double best = -INFINITY, next = -INFINITY;
	uint32_t at = VPROF_NONE;

	for (uint8_t i = 0; i < c->n; i++) {
		double fit = vprof_message_lengths_fit(l, program, m->b->visits.v[c->first + i], call, 0);

		next = fit > best ? best : fit > next ? fit : next;
		at = fit > best ? m->b->visits.v[c->first + i] : at;
		best = fit > best ? fit : best;
	}
	return best - next >= FIT_ENOUGH ? at : VPROF_NONE;
}

/* Returns how many calls were decided by the lengths of their messages. */
static uint32_t decide_by_lengths(struct matching *m, const struct vprof_message_lengths *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->x->v.n; i++) {
		uint32_t thread = m->x->v.v[i].client.request_thread, visit;

		if (thread == VPROF_NONE || m->b->of[i].n < 2 || m->b->of[i].n == VPROF_CANDIDATES_UNKNOWN ||
		    vprof_batches_length_confidence(m->b, m->a, thread) < LENGTHS_LEAST)
			continue;
		visit = fitting(m, l, i, m->a->threads[thread].program);
		if (visit == VPROF_NONE)
			continue;
		restrict_to(m, thread, i, &(struct set){ { visit }, 1 });
		n++;
	}
	return n;
}

static void conclude_all(struct matching *m)
{
	m->has_changed = 1;
	for (int pass = 0; pass < PASSES_MOST && m->has_changed; pass++) {
		m->has_changed = 0;
		for (size_t i = 0; i < m->turns.v.n; i++)
			conclude(m, &m->turns.v.v[i]);
	}
}

/* What follows from a call that lengths decided stands on them, too. */
static int use_lengths(struct matching *m)
{
	struct vprof_message_lengths l = { .x = m->x };
	int ret = learn_lengths(m, &l);

	if (!ret)
		ret = test_all_lengths(m, &l);
	if (!ret) {
		for (uint32_t i = 0; i < m->x->v.n; i++)
			m->b->by_length[i] = m->b->of[i].n != 1;
		if (decide_by_lengths(m, &l))
			conclude_all(m);
	}
	vprof_message_lengths_release(&l);
	return ret;
}

/* A call that lost all its candidates: what was concluded of the others of its turns may be wrong. */
static void find_doubtful(struct matching *m)
{
	for (size_t i = 0; i < m->turns.v.n; i++) {
		const struct vprof_turn *b = &m->turns.v.v[i];
		const struct vprof_turn_message *all = m->turns.messages.v + b->first;
		uint32_t n = (uint32_t)b->n_received + b->n_sent;
		int is_doubtful = 0;

		for (uint32_t k = 0; k < n; k++)
			is_doubtful |= all[k].is_call && !m->b->of[all[k].exchange].n &&
				       m->b->of[all[k].exchange].n_first;
		for (uint32_t k = 0; k < n && is_doubtful; k++)
			m->b->is_doubtful[all[k].exchange] |= all[k].is_call;
	}
}

/* What was received and was thought to have led to nothing yet was the reason of something, after all: is there such a
 * turn that can be joined with those after it, instead? */
static int find_joins(struct matching *m)
{
	int is_new = 0;

	for (size_t i = 0; i < m->turns.v.n; i++) {
		const struct vprof_turn *b = &m->turns.v.v[i];
		const struct vprof_turn_message *all = m->turns.messages.v + b->first;
		int is_doubtful = 0;

		for (uint32_t k = 0; k < (uint32_t)b->n_received + b->n_sent; k++)
			is_doubtful |= all[k].is_call && m->b->is_doubtful[all[k].exchange];
		if (!is_doubtful || !b->is_part || m->joins[b->ended_by])
			continue;
		m->joins[b->ended_by] = 1;
		is_new = 1;
	}
	return is_new;
}

static int solve(struct matching *m)
{
	int ret = VPROF_OK;

	for (size_t i = 0; i < m->turns.v.n && !ret; i++)
		ret = begin(m, &m->turns.v.v[i]);
	if (!ret)
		conclude_all(m);
	if (!ret)
		ret = use_lengths(m);
	find_doubtful(m);
	for (int order = 0; order < VPROF_ORDERS; order++) {
		for (size_t i = 0; i < m->turns.v.n; i++)
			count_order(m, &m->turns.v.v[i], (enum vprof_order)order);
		for (size_t i = 0; i < m->turns.v.n; i++)
			keep_order(m, &m->turns.v.v[i], (enum vprof_order)order);
	}
	return m->is_out_of_memory ? VPROF_ERR_NOMEM : ret;
}

static int allocate(struct matching *m)
{
	struct vprof_batches *b = m->b;
	size_t n = m->x->v.n, n_programs = m->h->processes.n + 1;
	int is_short;

	b->of = calloc(n + 1, sizeof *b->of);
	b->n_tests = calloc(n_programs, sizeof *b->n_tests);
	b->n_agree = calloc(n_programs, sizeof *b->n_agree);
	b->by_length = calloc(n + 1, 1);
	b->is_doubtful = calloc(n + 1, 1);
	b->n_fits = calloc(n_programs, sizeof *b->n_fits);
	b->n_fits_right = calloc(n_programs, sizeof *b->n_fits_right);
	is_short = !b->of || !b->n_tests || !b->n_agree || !b->by_length || !b->is_doubtful || !b->n_fits ||
		   !b->n_fits_right;
	for (int order = 0; order < VPROF_ORDERS; order++) {
		b->n_ordered[order] = calloc(n_programs, sizeof **b->n_ordered);
		b->n_in_order[order] = calloc(n_programs, sizeof **b->n_in_order);
		b->by_order[order] = malloc((n + 1) * sizeof **b->by_order);
		is_short |= !b->n_ordered[order] || !b->n_in_order[order] || !b->by_order[order];
		if (b->by_order[order])
			memset(b->by_order[order], 0xff, n * sizeof **b->by_order); /* VPROF_NONE */
	}
	return is_short ? VPROF_ERR_NOMEM : VPROF_OK;
}

int vprof_batches_match(struct vprof_batches *b, const struct vprof_socket_history *h,
			const struct vprof_connections *connections, const struct vprof_exchanges *x,
			const struct vprof_agreement *a)
{
	struct matching m = { .b = b, .h = h, .x = x, .a = a, .joins = calloc(h->transfers.n + 1, 1) };
	unsigned char *at_end = malloc(x->v.n + 1);
	int ret = m.joins && at_end ? vprof_reply_ends_find(at_end, h, connections, x, a) : VPROF_ERR_NOMEM;

	memset(b, 0, sizeof *b);
	for (int attempt = 0; !ret; attempt++) {
		ret = allocate(&m);
		if (!ret)
			ret = vprof_turns_find(&m.turns, h, connections, x, a, m.joins, at_end);
		if (!ret)
			ret = solve(&m);
		if (ret || attempt == JOINS_MOST || !find_joins(&m))
			break;
		vprof_turns_release(&m.turns);
		vprof_batches_release(b);
		memset(b, 0, sizeof *b);
	}
	vprof_turns_release(&m.turns);
	free(m.joins);
	free(at_end);
	return ret;
}

void vprof_batches_release(struct vprof_batches *b)
{
	free(b->of);
	free(b->n_tests);
	free(b->n_agree);
	free(b->by_length);
	free(b->is_doubtful);
	free(b->n_fits);
	free(b->n_fits_right);
	for (int order = 0; order < VPROF_ORDERS; order++) {
		free(b->n_ordered[order]);
		free(b->n_in_order[order]);
		free(b->by_order[order]);
	}
	VPROF_ARRAY_RELEASE(&b->visits);
}

static double rate(uint64_t n_right, uint64_t n)
{
	return ((double)n_right + TESTS_RIGHT) / ((double)n + TESTS_SEEN);
}

double vprof_batches_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread)
{
	uint32_t program = a->threads[thread].program;

	return b->n_tests[program] ? rate(b->n_agree[program], b->n_tests[program]) : 0;
}

double vprof_batches_length_confidence(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread)
{
	uint32_t program = a->threads[thread].program;

	return rate(b->n_fits_right[program], b->n_fits[program]) * vprof_batches_confidence(b, a, thread);
}

/* The order of calls, and that of replies, are right as often as tests say, independently of each other. Where they
 * name different visits, one of them is wrong: that it is the other one is the more likely, the more often the other
 * is. */
uint32_t vprof_batches_by_order(const struct vprof_batches *b, const struct vprof_agreement *a, uint32_t thread,
				uint32_t call, double *confidence)
{
	uint32_t program = a->threads[thread].program, best = VPROF_ORDER_CALLS, other;
	double right[VPROF_ORDERS];

	for (int order = 0; order < VPROF_ORDERS; order++)
		right[order] = b->by_order[order][call] == VPROF_NONE ?
				       0 :
				       vprof_rate_told(b->n_in_order[order][program], b->n_ordered[order][program],
						       TESTS_RIGHT, TESTS_SEEN);
	if (right[VPROF_ORDER_REPLIES] > right[VPROF_ORDER_CALLS])
		best = VPROF_ORDER_REPLIES;
	other = best == VPROF_ORDER_CALLS ? VPROF_ORDER_REPLIES : VPROF_ORDER_CALLS;
	*confidence = right[best];
	if (b->by_order[other][call] == b->by_order[best][call])
		*confidence = 1 - (1 - right[best]) * (1 - right[other]);
	else if (b->by_order[other][call] != VPROF_NONE && right[best] > 0)
		*confidence = right[best] * (1 - right[other]) /
			      (right[best] * (1 - right[other]) + right[other] * (1 - right[best]));
	*confidence *= vprof_batches_confidence(b, a, thread);
	return b->by_order[best][call];
}
