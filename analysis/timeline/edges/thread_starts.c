/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/edges/thread_starts.h"

static int token_order(const void *a, const void *b)
{
	const struct vprof_thread_start *x = a, *y = b;

	return vprof_u64_order(x->token, y->token);
}

uint32_t vprof_thread_starts_of(const struct vprof_thread_starts *starts, uint64_t token)
{
	const struct vprof_thread_start probe = { .token = token };
	const struct vprof_thread_start *found = NULL;

	if (token && starts->by_token.n)
		found = bsearch(&probe, starts->by_token.v, starts->by_token.n, sizeof probe, token_order);
	return found ? found->thread : VPROF_NONE;
}

int vprof_thread_starts_find(struct vprof_thread_starts *starts, const struct vprof_timeline *timeline)
{
	*starts = (struct vprof_thread_starts){ .created = calloc(timeline->n_threads + 1, sizeof *starts->created) };
	if (!starts->created)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < timeline->n_threads; i++) {
		struct vprof_thread_start *start;

		if (!timeline->threads[i].start_token)
			continue;
		start = VPROF_PUSH(&starts->by_token);
		if (!start)
			return VPROF_ERR_NOMEM;
		*start = (struct vprof_thread_start){ timeline->threads[i].start_token, (uint32_t)i };
	}
	if (!starts->by_token.n)
		return 0;
	qsort(starts->by_token.v, starts->by_token.n, sizeof *starts->by_token.v, token_order);
	for (size_t i = 0; i < timeline->n_threads; i++) {
		const struct vprof_thread_timeline *thr = &timeline->threads[i];

		for (size_t k = 0; k < thr->creations.n; k++) {
			uint32_t made = vprof_thread_starts_of(starts, thr->creations.v[k].token);

			if (made != VPROF_NONE)
				starts->created[made] = thr->creations.v[k].t;
		}
	}
	return 0;
}

void vprof_thread_starts_release(struct vprof_thread_starts *starts)
{
	VPROF_ARRAY_RELEASE(&starts->by_token);
	free(starts->created);
	starts->created = NULL;
}
