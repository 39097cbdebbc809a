/* Timed calls of hot functions: what each of them stands for, found again by the time of its entry. */
#include "analysis/timeline.h"

#define COUNT_LOOK_BACK 4096u

int vprof_samples_add(struct vprof_line *line, uint64_t t0, uint32_t code, uint64_t payload)
{
	struct vprof_sampled *s = VPROF_PUSH(&line->samples);

	if (!s)
		return VPROF_ERR_NOMEM;
	s->t0 = t0;
	s->code = code;
	s->block = VP_SAMPLE_BLOCK(payload);
	s->weight = (uint8_t)VP_SAMPLE_WEIGHT(payload);
	s->represented = s->weight ? VP_SAMPLE_REPRESENTED(payload) : 0;
	s->is_second = (uint8_t)VP_SAMPLE_SECOND(payload);
	return 0;
}

void vprof_samples_count(struct vprof_line *line, uint32_t code, uint32_t n)
{
	size_t look = line->samples.n < COUNT_LOOK_BACK ? line->samples.n : COUNT_LOOK_BACK;

	for (struct vprof_sampled *s = line->samples.v + line->samples.n; look-- > 0;) {
		if ((--s)->code == code && s->weight) {
			s->represented += n;
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

void vprof_samples_sort(struct vprof_line *line)
{
	if (line->samples.n)
		qsort(line->samples.v, line->samples.n, sizeof *line->samples.v, sample_order);
}

const struct vprof_sampled *vprof_line_sampled(const struct vprof_line *line, const struct vprof_call *call)
{
	const struct vprof_sampled key = { .t0 = call->t0, .code = call->code };

	if (!line->samples.n)
		return NULL;
	return bsearch(&key, line->samples.v, line->samples.n, sizeof key, sample_order);
}
