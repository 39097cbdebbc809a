/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/agreement.h"

#include <math.h>

#include "common/search.h"

/* What is believed of a rule before anything was seen: as if it had been right this often of that many times. Of the
 * next reply much, since that is how most servers work (section 2.4); of a thread that is made while a request is
 * served some; of the others nothing. */
#define BACKWARD_RIGHT 19.0
#define BACKWARD_SEEN 20.0
#define ONLY_RIGHT 0.5
#define ONLY_SEEN 1.0
#define WEAK_RIGHT 0.5
#define WEAK 1.0	     /* a belief: as little as one try */
#define UNTESTED_FAIL 4.0    /* times as often as what can be tested */
#define TAKEN_ENOUGH 100     /* requests, in order: threads that pass them on would have shown by then */
#define TAKEN_IN_ORDER 0.995 /* the order is no proof: with 2 requests at once hardly any is taken out of it */
#define DEVIATIONS 1.645     /* a rule that was seen to fail is told as good as it is at least, with 95 % */

static const struct before {
	double right, seen;
} forward_before[VPROF_FORWARDS] = {
	[VPROF_FORWARD_RECEIVED] = { 0.5, 1 },
	[VPROF_FORWARD_WOKEN] = { 0.5, 1 },
	[VPROF_FORWARD_CREATED] = { 9, 10 },
	[VPROF_FORWARD_QUEUED] = { 19, 20 },
	[VPROF_FORWARD_KEPT] = { 0.5, 1 },
}, handed_before[2] = { { 0.5, 1 }, { 19, 20 } };

struct named {
	uint32_t host, process;
	const char *name;
};

static int order(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	return names ? names : x->host < y->host ? -1 : x->host > y->host;
}

int vprof_agreement_init(struct vprof_agreement *a, const struct vprof_socket_history *h,
			 const struct vprof_exchanges *x)
{
	struct named *by_name = malloc((h->processes.n + 1) * sizeof *by_name);
	uint32_t *program = malloc((h->processes.n + 1) * sizeof *program), n = 0;

	a->programs = calloc(h->processes.n + 1, sizeof *a->programs);
	a->threads = calloc(h->threads.n + 1, sizeof *a->threads);
	a->serves = calloc(h->processes.n + 1, 1);
	for (uint32_t i = 0; by_name && i < h->processes.n; i++)
		by_name[i] = (struct named){ h->processes.v[i].host, i, h->processes.v[i].name };
	if (!by_name || !program || !a->programs || !a->threads || !a->serves ||
	    vprof_array_sort(by_name, h->processes.n, sizeof *by_name, order)) {
		free(by_name);
		free(program);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < h->processes.n; i++) {
		n += i && order(&by_name[i - 1], &by_name[i]);
		program[by_name[i].process] = n;
	}
	for (size_t i = 0; i < h->threads.n; i++) {
		a->threads[i].process = h->threads.v[i].process;
		a->threads[i].program = program[h->threads.v[i].process];
	}
	for (size_t i = 0; i < x->v.n; i++)
		if (x->v.v[i].server.request_thread != VPROF_NONE)
			a->serves[h->threads.v[x->v.v[i].server.request_thread].process] = 1;
	free(by_name);
	free(program);
	return VPROF_OK;
}

void vprof_agreement_forget(struct vprof_agreement *a, size_t n_processes, size_t n_threads)
{
	memset(a->programs, 0, n_processes * sizeof *a->programs);
	for (size_t i = 0; i < n_threads; i++) {
		struct vprof_agreement_thread *t = &a->threads[i];

		*t = (struct vprof_agreement_thread){ .program = t->program, .process = t->process };
	}
}

void vprof_agreement_release(struct vprof_agreement *a)
{
	free(a->programs);
	free(a->threads);
	free(a->serves);
}

static struct vprof_agreement_program *program_of(const struct vprof_agreement *a, uint32_t thread)
{
	return &a->programs[a->threads[thread].program];
}

void vprof_agreement_call(struct vprof_agreement *a, uint32_t thread, uint32_t n_open, int has_reply)
{
	struct vprof_agreement_thread *t = &a->threads[thread];

	t->n_pending += has_reply != 0;
	t->n_alone += n_open == 1;
	t->n_idle += n_open == 0;
}

void vprof_agreement_returned(struct vprof_agreement *a, uint32_t thread, int is_first)
{
	if (is_first && a->threads[thread].n_pending)
		a->threads[thread].n_pending--;
}

void vprof_agreement_busy(struct vprof_agreement *a, uint32_t thread, int is_reply)
{
	a->threads[thread].n_replies += is_reply != 0;
	a->threads[thread].n_busy++;
	a->threads[thread].n_interleaved += a->threads[thread].n_pending > 0;
}

void vprof_agreement_reply(struct vprof_agreement *a, uint32_t thread, enum vprof_forward how, int agrees)
{
	program_of(a, thread)->n_replies[how]++;
	program_of(a, thread)->n_agree[how] += agrees != 0;
}

void vprof_agreement_both(struct vprof_agreement *a, uint32_t thread, enum vprof_forward how, int agrees)
{
	program_of(a, thread)->n_both[how]++;
	program_of(a, thread)->n_both_agree[how] += agrees != 0;
}

int vprof_agreement_is_synchronous(const struct vprof_agreement *a, uint32_t thread)
{
	return a->threads[thread].n_interleaved == 0;
}

int vprof_agreement_replies(const struct vprof_agreement *a, uint32_t thread)
{
	return a->threads[thread].n_replies > 0;
}

int vprof_agreement_serves(const struct vprof_agreement *a, uint32_t thread)
{
	return a->serves[a->threads[thread].process];
}

double vprof_agreement_forward(const struct vprof_agreement *a, uint32_t thread, enum vprof_forward how)
{
	const struct vprof_agreement_program *p = program_of(a, thread);

	return vprof_rate_told(p->n_agree[how], p->n_replies[how], forward_before[how].right, forward_before[how].seen);
}

void vprof_agreement_next(struct vprof_agreement *a, uint32_t thread, uint32_t n_open, int fits)
{
	if (n_open != 1 && fits)
		return;
	program_of(a, thread)->n_next++;
	program_of(a, thread)->n_next_fits += fits != 0;
}

void vprof_agreement_passed(struct vprof_agreement *a, uint32_t thread)
{
	program_of(a, thread)->n_passed++;
}

int vprof_agreement_keeps(const struct vprof_agreement *a, uint32_t thread)
{
	return !program_of(a, thread)->n_passed;
}

void vprof_agreement_handed(struct vprof_agreement *a, uint32_t thread, int by_item, int agrees)
{
	program_of(a, thread)->n_handed[by_item]++;
	program_of(a, thread)->n_handed_agree[by_item] += agrees != 0;
}

double vprof_agreement_handed_rate(const struct vprof_agreement *a, uint32_t thread, int by_item)
{
	const struct vprof_agreement_program *p = program_of(a, thread);

	return vprof_rate_told(p->n_handed_agree[by_item], p->n_handed[by_item], handed_before[by_item].right,
			       handed_before[by_item].seen);
}

struct taken { /* a request, by the thread that replies to it */
	uint32_t visit, thread, receiver;
	uint64_t received, replied;
	uint64_t after, until; /* it was taken after this thread replied to another, until it worked for it */
};

static int by_reply(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return x->thread != y->thread ? (x->thread < y->thread ? -1 : 1) : vprof_u64_order(x->replied, y->replied);
}

static int by_receipt(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return x->receiver != y->receiver ? (x->receiver < y->receiver ? -1 : 1) :
					    vprof_u64_order(x->received, y->received);
}

static size_t list_taken(const struct vprof_exchanges *x, const uint64_t *first_call, struct taken *list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < x->v.n; i++) {
		const struct vprof_exchange_end *e = &x->v.v[i].server;

		if (vprof_exchange_is_visit(&x->v.v[i]) && e->reply_thread != e->request_thread)
			list[n++] = (struct taken){ i,
						    e->reply_thread,
						    e->request_thread,
						    e->request_from,
						    e->reply_from,
						    0,
						    first_call[i] < e->reply_from ? first_call[i] : e->reply_from };
	}
	return n;
}

static void note_takers_wakes(struct vprof_agreement *a, const struct vprof_socket_history *h, const struct taken *list,
			      size_t n)
{
	for (size_t i = 0; i < n; i++)
		a->threads[list[i].thread].is_taker = 1;
	for (size_t i = 0; i < n; i++)
		a->threads[list[i].receiver].is_taker = 0;
	for (size_t i = 0; i < h->wakes.n; i++) {
		const struct vprof_thread_wake *w = &h->wakes.v[i];

		if (!w->is_creation && a->threads[w->waker].is_taker && a->threads[w->wakee].is_taker &&
		    a->threads[w->waker].process == a->threads[w->wakee].process)
			program_of(a, w->waker)->has_takers_wakes = 1;
	}
}

int vprof_agreement_taken(struct vprof_agreement *a, const struct vprof_socket_history *h,
			  const struct vprof_exchanges *x, const uint64_t *first_call)
{
	struct taken *list = malloc((x->v.n + 1) * sizeof *list);
	size_t n = list ? list_taken(x, first_call, list) : 0;
	int ret = list && !vprof_array_sort(list, n, sizeof *list, by_reply) ? VPROF_OK : VPROF_ERR_NOMEM;

	for (size_t i = 1; i < n && !ret; i++)
		if (list[i].thread == list[i - 1].thread)
			list[i].after = list[i - 1].replied;
	if (!ret && vprof_array_sort(list, n, sizeof *list, by_receipt))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 1; i < n && !ret; i++) {
		struct vprof_agreement_program *p = program_of(a, list[i].thread);

		if (list[i].receiver != list[i - 1].receiver || list[i].thread == list[i - 1].thread)
			continue;
		p->n_taken++;
		p->n_taken_in_order += list[i - 1].after <= list[i].until;
	}
	if (!ret)
		note_takers_wakes(a, h, list, n);
	free(list);
	return ret;
}

double vprof_rate_told(uint64_t n_right, uint64_t n, double prior_right, double prior_seen)
{
	double seen = (double)n, rate = (double)n_right / seen, spread = DEVIATIONS * DEVIATIONS / seen;

	if (!n || (n_right == n && prior_seen > WEAK))
		return (seen + prior_right) / (seen + prior_seen);
	return (rate + spread / 2 - DEVIATIONS * sqrt(rate * (1 - rate) / seen + spread / (4 * seen))) / (1 + spread);
}

double vprof_rate_untested(double rate)
{
	double left = 1 - UNTESTED_FAIL * (1 - rate);

	return left > 0 ? left : 0;
}

double vprof_agreement_taking(const struct vprof_agreement *a, uint32_t thread, uint32_t receiver)
{
	const struct vprof_agreement_program *p = program_of(a, thread);

	if (thread == receiver || !p->has_takers_wakes)
		return 1;
	if (p->n_taken_in_order == p->n_taken)
		return TAKEN_IN_ORDER;
	return vprof_rate_untested(vprof_rate_told(p->n_taken_in_order, p->n_taken, BACKWARD_RIGHT, BACKWARD_SEEN));
}

/* Compared are what fits by itself, and what a thread received. Who woke it is a test, too; it fails where another
 * thread takes what one was woken for, which says nothing of replies, unless threads pass requests on. Then what fails
 * where it can be tested is taken to fail more often where it cannot. */
double vprof_agreement_backward(const struct vprof_agreement *a, uint32_t thread)
{
	const struct vprof_agreement_program *p = program_of(a, thread);
	uint64_t n_woken = p->n_both_agree[VPROF_FORWARD_WOKEN],
		 n_right = p->n_next_fits + p->n_both_agree[VPROF_FORWARD_RECEIVED] + n_woken,
		 n = p->n_next + p->n_both[VPROF_FORWARD_RECEIVED] + n_woken;
	double rate;

	if (!p->n_passed && p->has_takers_wakes && p->n_taken < TAKEN_ENOUGH)
		return vprof_rate_told(n_right, n, WEAK_RIGHT, WEAK);
	if (!p->n_passed)
		return vprof_rate_told(n_right, n, BACKWARD_RIGHT, BACKWARD_SEEN);
	rate = vprof_rate_told(n_right, n + p->n_both[VPROF_FORWARD_WOKEN] - n_woken + p->n_passed, BACKWARD_RIGHT,
			       BACKWARD_SEEN);
	return vprof_rate_untested(rate);
}

/* A thread that also calls while nothing is served has work of its own. */
double vprof_agreement_only(const struct vprof_agreement *a, uint32_t thread)
{
	const struct vprof_agreement_thread *t = &a->threads[thread];

	return ((double)t->n_alone + ONLY_RIGHT) / ((double)t->n_alone + (double)t->n_idle + ONLY_SEEN);
}
