/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replies decide, since an interval may begin before its request is received, after it, or between its parts. Where no
 * request is replied to within an interval, because the reply is sent by code that is not annotated, what was received
 * in it decides.
 */
#include "analysis/requests/marked_work.h"

#include "common/search.h"

#define SEVERAL (VPROF_NONE - 1)

static int sort_by_thread(struct vprof_marked_work *m)
{
	const struct vprof_socket_history *h = m->h;

	m->visits = malloc((h->n_intervals + 1) * sizeof *m->visits);
	m->by_thread = malloc((h->spans.n + 1) * sizeof *m->by_thread);
	m->thread_first = calloc(h->threads.n + 2, sizeof *m->thread_first);
	if (!m->visits || !m->by_thread || !m->thread_first)
		return VPROF_ERR_NOMEM;
	memset(m->visits, 0xff, h->n_intervals * sizeof *m->visits);
	for (size_t i = 0; i < h->spans.n; i++)
		m->thread_first[h->spans.v[i].thread + 2]++;
	for (size_t i = 2; i < h->threads.n + 2; i++)
		m->thread_first[i] += m->thread_first[i - 1];
	for (uint32_t i = 0; i < h->spans.n; i++)
		m->by_thread[m->thread_first[h->spans.v[i].thread + 1]++] = i;
	return VPROF_OK;
}

static uint32_t interval_at(const struct vprof_marked_work *m, uint32_t thread, uint64_t t)
{
	const uint32_t *own = m->by_thread + m->thread_first[thread];
	size_t n = m->thread_first[thread + 1] - m->thread_first[thread];
	size_t at = VPROF_BISECT(n, i, m->h->spans.v[own[i]].from <= t);
	const struct vprof_work_span *span = at ? &m->h->spans.v[own[at - 1]] : NULL;

	return span && t <= span->to ? span->interval : VPROF_NONE;
}

/* Each interval in which something was sent, or received, as a server: of which exchange. */
static void name_visits(const struct vprof_marked_work *m, uint32_t *visits, const struct vprof_connections *c,
			const struct vprof_exchanges *x, int is_send)
{
	for (size_t i = 0; i < m->h->transfers.n; i++) {
		const struct vprof_transfer *t = &m->h->transfers.v[i];
		struct vprof_exchange_span span = x->of_transfer.v[i];
		uint32_t interval;

		if (t->is_send != is_send || span.first > span.last)
			continue;
		interval = interval_at(m, t->thread, vprof_transfer_time(t));
		for (uint32_t k = span.first; k <= span.last && interval != VPROF_NONE; k++)
			if (c->v.v[x->v.v[k].connection].server == t->socket &&
			    !(x->v.v[k].flags & VPROF_EXCHANGE_NO_REQUEST))
				visits[interval] = visits[interval] == VPROF_NONE || visits[interval] == k ? k :
													     SEVERAL;
	}
}

int vprof_marked_work_find(struct vprof_marked_work *m, const struct vprof_socket_history *h,
			   const struct vprof_connections *c, const struct vprof_exchanges *x)
{
	uint32_t *received = malloc((h->n_intervals + 1) * sizeof *received);
	int ret;

	memset(m, 0, sizeof *m);
	m->h = h;
	ret = received ? sort_by_thread(m) : VPROF_ERR_NOMEM;
	if (!ret && h->spans.n) {
		memset(received, 0xff, h->n_intervals * sizeof *received);
		name_visits(m, m->visits, c, x, 1);
		name_visits(m, received, c, x, 0);
		for (uint32_t i = 0; i < h->n_intervals; i++)
			m->visits[i] = m->visits[i] == VPROF_NONE ? received[i] : m->visits[i];
	}
	free(received);
	return ret;
}

void vprof_marked_work_release(struct vprof_marked_work *m)
{
	free(m->visits);
	free(m->by_thread);
	free(m->thread_first);
}

uint32_t vprof_marked_work_at(const struct vprof_marked_work *m, uint32_t thread, uint64_t t)
{
	uint32_t interval = m->h->spans.n ? interval_at(m, thread, t) : VPROF_NONE;

	return interval == VPROF_NONE || m->visits[interval] == SEVERAL ? VPROF_NONE : m->visits[interval];
}
