/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timed calls of hot functions: what each of them stands for, found again by the time of its entry.
 *
 * A call that is interrupted for milliseconds, or that is one in thousands for another reason, would stand for dozens
 * like it when it happens to be timed. What one call in a thousand lasts longer than the others of its function
 * therefore counts once.
 */
#include "analysis/timeline/timeline_samples.h"

#define COUNT_LOOK_BACK 4096u
#define RARE 1000 /* one call in so many */

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

struct length {
	uint64_t duration;
	uint32_t code;
};

static int length_order(const void *a, const void *b)
{
	const struct length *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return x->duration < y->duration ? -1 : x->duration > y->duration;
}

/* The function's length that so many of its n calls do not exceed: lengths[from, to). */
static uint64_t limit_of(const struct length *lengths, size_t n, uint32_t code)
{
	size_t from = VPROF_BISECT(n, i, lengths[i].code < code), to = VPROF_BISECT(n, i, lengths[i].code <= code);

	return lengths[to - 1 - (to - from) / RARE].duration;
}

int vprof_samples_limit(struct vprof_thread_timeline *threads, size_t n_threads)
{
	VPROF_ARRAY(struct length) lengths = { NULL, 0, 0 };
	uint32_t code = 0;
	uint64_t limit = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_threads; i++)
		n += threads[i].samples.n;
	if (!n)
		return 0;
	if (VPROF_RESERVE(&lengths, n))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n_threads; i++)
		for (size_t s = 0; s < threads[i].samples.n; s++)
			if (threads[i].samples.v[s].weight)
				lengths.v[lengths.n++] = (struct length){ threads[i].samples.v[s].duration,
									  threads[i].samples.v[s].code };
	if (vprof_array_sort(lengths.v, lengths.n, sizeof *lengths.v, length_order)) {
		VPROF_ARRAY_RELEASE(&lengths);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < n_threads; i++) {
		for (size_t s = 0; s < threads[i].samples.n; s++) {
			struct vprof_sampled *sample = &threads[i].samples.v[s];

			if (!sample->weight)
				continue;
			if (sample->code != code)
				limit = limit_of(lengths.v, lengths.n, sample->code);
			code = sample->code;
			sample->limit = limit;
		}
	}
	VPROF_ARRAY_RELEASE(&lengths);
	return 0;
}
