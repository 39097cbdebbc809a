/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least significant digit first. Digits that are the same in all keys cost one look at the keys, all digits together.
 * A few items are sorted by insertion: clearing the counts of digits would take longer.
 */
#include "common/radix.h"

#include "common/array.h"
#include "common/error.h"

#define DIGIT_BITS 11
#define N_VALUES (1u << DIGIT_BITS)
#define N_DIGITS ((64 + DIGIT_BITS - 1) / DIGIT_BITS)
#define FEW 32

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

static void insert(struct vprof_keyed *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct vprof_keyed x = v[i];
		size_t k = i;

		for (; k && v[k - 1].key > x.key; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

int vprof_radix_sort(struct vprof_keyed *v, size_t n)
{
	struct vprof_keyed *from = v, *to, *other, *swap;
	size_t cap = 0, (*counts)[N_VALUES];
	unsigned digits[N_DIGITS], n_digits = 0;
	uint64_t differ = 0;

	if (n <= FEW) {
		insert(v, n);
		return 0;
	}
	for (size_t i = 1; i < n; i++)
		differ |= v[i].key ^ v[0].key;
	for (unsigned d = 0; d < N_DIGITS; d++)
		if (digit(differ, d))
			digits[n_digits++] = d;
	counts = calloc(N_DIGITS, sizeof *counts);
	other = to = vprof_array_room(NULL, &cap, n, sizeof *other);
	if (!counts || !other) {
		free(counts);
		vprof_array_free(other, cap, sizeof *other);
		return VPROF_ERR_NOMEM;
	}
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < n_digits; d++)
			counts[d][digit(v[i].key, digits[d])]++;
	for (unsigned d = 0; d < n_digits; d++) {
		scatter(from, to, n, counts[d], digits[d]);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	free(counts);
	vprof_array_free(other, cap, sizeof *other);
	return 0;
}

uint64_t vprof_radix_nth(uint64_t *v, size_t n, size_t k)
{
	size_t counts[N_VALUES];

	for (unsigned d = N_DIGITS; d-- > 0 && n > 1;) {
		size_t n_kept = 0;
		unsigned value = 0;

		memset(counts, 0, sizeof counts);
		for (size_t i = 0; i < n; i++)
			counts[digit(v[i], d)]++;
		for (; k >= counts[value]; value++)
			k -= counts[value];
		for (size_t i = 0; i < n && counts[value] < n; i++)
			if (digit(v[i], d) == value)
				v[n_kept++] = v[i];
		n = counts[value];
	}
	return v[0];
}
