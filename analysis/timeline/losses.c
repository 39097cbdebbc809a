/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/losses.h"

static int loss_order(const void *a, const void *b)
{
	const struct vprof_loss *x = a, *y = b;

	return x->t0 < y->t0 ? -1 : x->t0 > y->t0;
}

int vprof_losses_gather(struct vprof_timeline *timeline)
{
	size_t n = 0;

	for (size_t i = 0; i < timeline->n_threads; i++) {
		for (size_t k = 0; k < timeline->threads[i].losses.n; k++) {
			struct vprof_loss *loss = VPROF_PUSH(&timeline->losses);

			if (!loss)
				return VPROF_ERR_NOMEM;
			*loss = timeline->threads[i].losses.v[k];
		}
	}
	if (!timeline->losses.n)
		return 0;
	if (vprof_array_sort(timeline->losses.v, timeline->losses.n, sizeof *timeline->losses.v, loss_order))
		return VPROF_ERR_NOMEM;
	for (size_t i = 1; i < timeline->losses.n; i++) {
		struct vprof_loss *last = &timeline->losses.v[n], *loss = &timeline->losses.v[i];

		if (loss->t0 > last->t1)
			timeline->losses.v[++n] = *loss;
		else if (loss->t1 > last->t1)
			last->t1 = loss->t1;
	}
	timeline->losses.n = n + 1;
	return 0;
}

int vprof_losses_touch(const struct vprof_timeline *timeline, uint64_t t0, uint64_t t1)
{
	size_t i = VPROF_TIME_SEARCH(&timeline->losses, t1, 0);

	return i && timeline->losses.v[i - 1].t1 >= t0;
}

uint64_t vprof_losses_first(const struct vprof_timeline *timeline)
{
	return timeline->losses.n ? timeline->losses.v[0].t0 : UINT64_MAX;
}
