/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/seen_threads.h"

#include "common/search.h"

static int by_tid(const void *a, const void *b)
{
	const struct vprof_seen_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) :
				      (x->thread > y->thread) - (x->thread < y->thread);
}

int vprof_seen_threads_find(struct vprof_seen_threads *s, const struct vprof_latency_history *h)
{
	if (VPROF_RESERVE(&s->v, h->threads.n + 1))
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < h->threads.n; i++)
		s->v.v[s->v.n++] = (struct vprof_seen_thread){ h->threads.v[i].tid, i, h->threads.v[i].begin,
							       h->threads.v[i].end };
	return vprof_array_sort(s->v.v, s->v.n, sizeof *s->v.v, by_tid) ? VPROF_ERR_NOMEM : VPROF_OK;
}

void vprof_seen_threads_release(struct vprof_seen_threads *s)
{
	VPROF_ARRAY_RELEASE(&s->v);
}

size_t vprof_seen_threads_from(const struct vprof_seen_threads *s, uint32_t tid, uint64_t from)
{
	const struct vprof_seen_thread *v = s->v.v;

	return VPROF_BISECT(s->v.n, i, v[i].tid < tid || (v[i].tid == tid && v[i].end <= from));
}
