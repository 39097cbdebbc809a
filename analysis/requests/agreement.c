/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/agreement.h"

/* What is believed of a rule before anything was seen: as if it had been right this often of that many times. Of the
 * next reply much, since that is how most servers work (section 2.4); of a thread that is made while a request is
 * served some; of the others nothing. */
#define BACKWARD_RIGHT 19.0
#define BACKWARD_SEEN 20.0
#define ONLY_RIGHT 0.5
#define ONLY_SEEN 1.0

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

void vprof_agreement_busy(struct vprof_agreement *a, uint32_t thread)
{
	a->threads[thread].n_busy++;
	a->threads[thread].n_interleaved += a->threads[thread].n_pending > 0;
}

void vprof_agreement_reply(struct vprof_agreement *a, uint32_t thread, enum vprof_forward how, int agrees)
{
	program_of(a, thread)->n_replies[how]++;
	program_of(a, thread)->n_agree[how] += agrees != 0;
}

void vprof_agreement_both(struct vprof_agreement *a, uint32_t thread, int agrees)
{
	program_of(a, thread)->n_both++;
	program_of(a, thread)->n_both_agree += agrees != 0;
}

int vprof_agreement_is_synchronous(const struct vprof_agreement *a, uint32_t thread)
{
	return a->threads[thread].n_interleaved == 0;
}

int vprof_agreement_serves(const struct vprof_agreement *a, uint32_t thread)
{
	return a->serves[a->threads[thread].process];
}

double vprof_agreement_forward(const struct vprof_agreement *a, uint32_t thread, enum vprof_forward how)
{
	const struct vprof_agreement_program *p = program_of(a, thread);

	return ((double)p->n_agree[how] + forward_before[how].right) /
	       ((double)p->n_replies[how] + forward_before[how].seen);
}

void vprof_agreement_next(struct vprof_agreement *a, uint32_t thread, uint32_t n_open, int fits)
{
	if (n_open != 1 && fits)
		return;
	program_of(a, thread)->n_next++;
	program_of(a, thread)->n_next_fits += fits != 0;
}

void vprof_agreement_handed(struct vprof_agreement *a, uint32_t thread, int by_item, int agrees)
{
	program_of(a, thread)->n_handed[by_item]++;
	program_of(a, thread)->n_handed_agree[by_item] += agrees != 0;
}

double vprof_agreement_handed_rate(const struct vprof_agreement *a, uint32_t thread, int by_item)
{
	const struct vprof_agreement_program *p = program_of(a, thread);

	return ((double)p->n_handed_agree[by_item] + handed_before[by_item].right) /
	       ((double)p->n_handed[by_item] + handed_before[by_item].seen);
}

static double backward_rate(uint64_t n_right, uint64_t n)
{
	return ((double)n_right + BACKWARD_RIGHT) / ((double)n + BACKWARD_SEEN);
}

/* What a thread received is the observation to be compared with. Who woke it is not: that may be right less often than
 * the next reply, since whoever takes a request out of a queue need not be the one who was woken for it. */
double vprof_agreement_backward(const struct vprof_agreement *a, uint32_t thread)
{
	const struct vprof_agreement_program *p = program_of(a, thread);
	double next = backward_rate(p->n_next_fits, p->n_next), both = backward_rate(p->n_both_agree, p->n_both);

	if (!p->n_both)
		return next;
	return p->n_next && next < both ? next : both;
}

/* A thread that also calls while nothing is served has work of its own. */
double vprof_agreement_only(const struct vprof_agreement *a, uint32_t thread)
{
	const struct vprof_agreement_thread *t = &a->threads[thread];

	return ((double)t->n_alone + ONLY_RIGHT) / ((double)t->n_alone + (double)t->n_idle + ONLY_SEEN);
}
