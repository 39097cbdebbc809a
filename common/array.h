/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing flat arrays, search by time and mixing of hash keys: what the modules of the analysis store millions of
 * records with.
 *
 * Invariant: v[0..n) are initialised by whoever pushed them; cap is never below n. A failed push leaves the array as
 * it was.
 */
#ifndef VPROF_ARRAY_H
#define VPROF_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VPROF_NONE UINT32_MAX

#define VPROF_ARRAY(type)                                                                                              \
	struct {                                                                                                       \
		type *v;                                                                                               \
		size_t n, cap;                                                                                         \
	}

/* The storage with room for n items (or grown by half), or NULL when there is no memory: the old storage stays valid
 * then. Never to be given to free or realloc: large arrays are mapped, and lie in unlinked files of TMPDIR (or
 * /var/tmp) when many are large, so that they need no memory beside the page cache. */
void *vprof_array_room(void *v, size_t *cap, size_t n, size_t size);
void *vprof_array_grow(void *v, size_t *cap, size_t size);
void vprof_array_free(void *v, size_t cap, size_t size);

/* Zeroed memory that shares no cache line with any other: for sums that threads take side by side. For free(). */
void *vprof_calloc_aligned(size_t n, size_t size);

/* Sorts as qsort does, stably, needing no more than an array of its own for half of the items. 0, or -1 without memory.
 */
int vprof_array_sort(void *v, size_t n, size_t size, int (*order)(const void *, const void *));

/* Room for n items in all; 0, or -1 when there is no memory. */
#define VPROF_RESERVE(a, n_wanted)                                                                                     \
	__extension__({                                                                                                \
		void *room_ = vprof_array_room((a)->v, &(a)->cap, (n_wanted), sizeof *(a)->v);                         \
		if (room_)                                                                                             \
			(a)->v = room_;                                                                                \
		room_ ? 0 : -1;                                                                                        \
	})

/* The same, and more than that when it has to grow: for arrays that are filled bit by bit. */
#define VPROF_ROOM(a, n_wanted)                                                                                        \
	__extension__({                                                                                                \
		size_t wanted_ = (n_wanted), half_ = (a)->cap + (a)->cap / 2;                                          \
		wanted_ <= (a)->cap && (a)->v ? 0 : VPROF_RESERVE(a, wanted_ > half_ ? wanted_ : half_);               \
	})

/* Pointer to one more, zeroed item, or NULL when there is no memory. */
#define VPROF_PUSH(a)                                                                                                  \
	__extension__({                                                                                                \
		void *grown_ = (a)->n < (a)->cap ? (void *)(a)->v :                                                    \
						   vprof_array_grow((a)->v, &(a)->cap, sizeof *(a)->v);                \
		if (grown_) {                                                                                          \
			(a)->v = grown_;                                                                               \
			memset(&(a)->v[(a)->n], 0, sizeof *(a)->v);                                                    \
		}                                                                                                      \
		grown_ ? &(a)->v[(a)->n++] : NULL;                                                                     \
	})

#define VPROF_ARRAY_RELEASE(a)                                                                                         \
	do {                                                                                                           \
		vprof_array_free((a)->v, (a)->cap, sizeof *(a)->v);                                                    \
		(a)->v = NULL;                                                                                         \
		(a)->n = (a)->cap = 0;                                                                                 \
	} while (0)

/* Number of items whose first member, a time, is at most `t`. The items are sorted by it. `hint` is a position near
 * the answer: the search gallops from there, so that neighbouring questions cost a few steps. */
static inline size_t vprof_time_search(const void *items, size_t size, size_t n, uint64_t t, size_t hint)
{
	const char *base = items;
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
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (VPROF_TIME_AT(middle) <= t)
			low = middle + 1;
		else
			high = middle;
	}
#undef VPROF_TIME_AT
	return low;
}

/* The same for an array of VPROF_ARRAY. */
#define VPROF_TIME_SEARCH(a, t, hint) vprof_time_search((a)->v, sizeof *(a)->v, (a)->n, (t), (hint))

/* -1, 0 or 1: for functions that compare two items by several members. */
static inline int vprof_u64_order(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* Spreads the bits of a hash key. */
static inline uint64_t vprof_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

#endif
