/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/source/draw.h"

#include "common/array.h"

/* The drawn one of stratum k; both numbers are below 2^32 (analyze.c). */
static size_t drawn_of(size_t k, size_t n_all, size_t wanted)
{
	size_t from = (size_t)((uint64_t)k * n_all / wanted), to = (size_t)((uint64_t)(k + 1) * n_all / wanted);

	return from + (size_t)(vprof_mix(k) % (to - from));
}

size_t vprof_sources_draw(struct vprof_source *sources, size_t n_sources, size_t n_all, size_t wanted)
{
	size_t k = 0, at = 0, first = 0;

	if (n_all <= wanted)
		return 0;
	for (struct vprof_source *s = sources; s < sources + n_sources; s++) {
		size_t n = 0, end = at + s->chosen.n, drawn;

		for (; k < wanted && (drawn = drawn_of(k, n_all, wanted)) < end; k++)
			s->chosen.v[n++] = s->chosen.v[drawn - at];
		s->chosen.n = n;
		s->first = first;
		first += n;
		at = end;
	}
	return n_all - wanted;
}
