/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least significant digit first. Digits that are the same in all keys cost one look at the keys, all digits together.
 */
#include "common/radix.h"

#include "common/array.h"
#include "common/error.h"

#define DIGIT_BITS 11
#define N_VALUES (1u << DIGIT_BITS)
#define N_DIGITS ((64 + DIGIT_BITS - 1) / DIGIT_BITS)

static unsigned digit(uint64_t key, unsigned d)
{
	return (unsigned)(key >> d * DIGIT_BITS) & (N_VALUES - 1);
}

static void scatter(const struct vprof_keyed *from, struct vprof_keyed *to, size_t n, const size_t *counts, unsigned d)
{
	size_t place[N_VALUES], at = 0;

	for (unsigned k = 0; k < N_VALUES; k++) {
		place[k] = at;
		at += counts[k];
	}
	for (size_t i = 0; i < n; i++)
		to[place[digit(from[i].key, d)]++] = from[i];
}

int vprof_radix_sort(struct vprof_keyed *v, size_t n)
{
	size_t cap = 0, (*counts)[N_VALUES] = calloc(N_DIGITS, sizeof *counts);
	struct vprof_keyed *other = vprof_array_room(NULL, &cap, n + 1, sizeof *other), *from = v, *to = other, *swap;
	int ret = counts && other ? 0 : VPROF_ERR_NOMEM;

	for (size_t i = 0; !ret && i < n; i++)
		for (unsigned d = 0; d < N_DIGITS; d++)
			counts[d][digit(v[i].key, d)]++;
	for (unsigned d = 0; !ret && n && d < N_DIGITS; d++) {
		if (counts[d][digit(v[0].key, d)] == n)
			continue;
		scatter(from, to, n, counts[d], d);
		swap = from;
		from = to;
		to = swap;
	}
	if (!ret && from != v)
		memcpy(v, from, n * sizeof *v);
	free(counts);
	vprof_array_free(other, cap, sizeof *other);
	return ret;
}
