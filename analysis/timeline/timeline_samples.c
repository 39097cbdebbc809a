/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timed calls of hot functions: what each of them stands for, found again by the time of its entry.
 *
 * A call that is interrupted for milliseconds, or that is one in thousands for another reason, would stand for dozens
 * like it when it happens to be timed. What such a call lasts longer than the others of its function therefore counts
 * once (timeline_gaps.h); what the calls like it took that were not timed is found in the gaps.
 */
#include "analysis/timeline/timeline_samples.h"

#define COUNT_LOOK_BACK 4096u

int vprof_samples_add(struct vprof_thread_timeline *thr, uint64_t t0, uint64_t duration, uint32_t code,
		      uint64_t payload)
{
	struct vprof_sampled *s = VPROF_PUSH(&thr->samples);

	if (!s)
		return VPROF_ERR_NOMEM;
	s->t0 = t0;
	s->duration = s->limit = duration;
	s->code = code;
	s->block = VP_SAMPLE_BLOCK(payload);
	s->weight = (uint8_t)VP_SAMPLE_WEIGHT(payload);
	s->represented = s->weight ? VP_SAMPLE_REPRESENTED(payload) : 0;
	s->is_second = (uint8_t)VP_SAMPLE_SECOND(payload);
	return 0;
}

void vprof_samples_count(struct vprof_thread_timeline *thr, uint32_t code, uint32_t n)
{
	size_t i = thr->samples.n, first = i > COUNT_LOOK_BACK ? i - COUNT_LOOK_BACK : 0;

	while (i-- > first) {
		if (thr->samples.v[i].code == code && thr->samples.v[i].weight) {
			thr->samples.v[i].represented += n;
			return;
		}
	}
}

static int sample_order(const void *a, const void *b)
{
	const struct vprof_sampled *x = a, *y = b;

	if (x->t0 != y->t0)
		return x->t0 < y->t0 ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

int vprof_samples_sort(struct vprof_thread_timeline *thr)
{
	return vprof_array_sort(thr->samples.v, thr->samples.n, sizeof *thr->samples.v, sample_order) ?
		       VPROF_ERR_NOMEM :
		       0;
}

const struct vprof_sampled *vprof_thread_timeline_sampled(const struct vprof_thread_timeline *thr,
							  const struct vprof_call *call)
{
	const struct vprof_sampled key = { .t0 = call->t0, .code = call->code };

	if (!thr->samples.n)
		return NULL;
	return bsearch(&key, thr->samples.v, thr->samples.n, sizeof key, sample_order);
}
