/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binary search in sorted arrays, and comparisons for sorting them. */
#ifndef VPROF_SEARCH_H
#define VPROF_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Number of the items [0, count) at the front for which is_before holds: an expression of i, true up to some item and
 * false from there on. It is the index of the first item for which it does not hold, or count. O(log count). */
#define VPROF_BISECT(count, i, is_before)                                                                              \
	__extension__({                                                                                                \
		size_t low_ = 0, high_ = (count);                                                                      \
		while (low_ < high_) {                                                                                 \
			size_t i = low_ + (high_ - low_) / 2;                                                          \
			if (is_before)                                                                                 \
				low_ = i + 1;                                                                          \
			else                                                                                           \
				high_ = i;                                                                             \
		}                                                                                                      \
		low_;                                                                                                  \
	})

/* Number of items whose time is at most `t`: `times` points to the time of the first item (uint64_t), the others follow
 * at distances of `size` bytes, sorted. `hint` is a position near the answer: the search gallops from there, so that
 * neighbouring questions cost a few steps. */
static inline size_t vprof_time_search(const void *times, size_t size, size_t n, uint64_t t, size_t hint)
{
	const char *base = times;
	size_t low = 0, high = n, step = 1;
	uint64_t x;

#define VPROF_TIME_AT(i) (memcpy(&x, base + (i) * size, sizeof x), x)
	if (hint > n)
		hint = n;
	if (hint < n && VPROF_TIME_AT(hint) <= t) {
		low = hint + 1;
		while (low + step < n && VPROF_TIME_AT(low + step) <= t) {
			low += step + 1;
			step *= 2;
		}
		if (low + step < n)
			high = low + step;
	} else {
		high = hint;
		while (high > step && VPROF_TIME_AT(high - step) > t) {
			high -= step;
			step *= 2;
		}
		if (high > step)
			low = high - step;
	}
	low += VPROF_BISECT(high - low, i, VPROF_TIME_AT(low + i) <= t);
#undef VPROF_TIME_AT
	return low;
}

/* The same for a VPROF_ARRAY of structs whose first member is their time. */
#define VPROF_TIME_SEARCH(a, t, hint) vprof_time_search((a)->v, sizeof *(a)->v, (a)->n, (t), (hint))

/* -1, 0 or 1: for functions that compare two items by several members. */
static inline int vprof_u64_order(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* For qsort and the like: arrays of uint32_t, ascending. */
static inline int vprof_compare_u32(const void *a, const void *b)
{
	return vprof_u64_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* The same of uint64_t, or of structs whose first member is one: their time, say. */
static inline int vprof_compare_u64(const void *a, const void *b)
{
	return vprof_u64_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

#endif
