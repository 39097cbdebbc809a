/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing flat arrays, their sorting, and mixing of hash keys: what the analysis stores millions of records with
 * (search.h finds them).
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

/* Sorts as qsort does, but stably: equal items keep their order. Needs room for half of the items. O(n log n), n for
 * what is sorted already. 0, or -1 without memory: the items are in some order. */
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
