/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the items of a caller's array by key: open addressing with linear probing.
 *
 * The index stores a number for each item and 32 bits of its hash, never a key: the caller compares, and may move its
 * items around as long as their numbers stay. Invariant: at most half of the slots are taken, so every search ends at a
 * free slot. Zero-initialise; not safe for several threads while one of them adds.
 *
 *	size_t at;
 *	if (vprof_hash_index_room(&index, 1))
 *		return VPROF_ERR_NOMEM;
 *	VPROF_HASH_EACH(&index, hash, at, item)
 *		if (items[item].key == key)
 *			return item;              // found
 *	vprof_hash_index_put(&index, at, hash, n_items++);      // at: the free slot where the search ended
 */
#ifndef VPROF_HASH_INDEX_H
#define VPROF_HASH_INDEX_H

#include "common/array.h"

struct vprof_hash_slot {
	uint32_t hash; /* its low bits */
	uint32_t item; /* + 1; 0: free */
};

struct vprof_hash_index {
	struct vprof_hash_slot *slots;
	size_t n, n_slots; /* n_slots: a power of two, or 0 */
};

/* Makes room for n more items: 0, or -1 without memory. Moves the slots, so it comes before a search. */
int vprof_hash_index_room(struct vprof_hash_index *index, size_t n);
void vprof_hash_index_release(struct vprof_hash_index *index);

/* From place *at on, the next item with the hash; VPROF_NONE at a free slot, *at, or when there are no slots yet. */
static inline uint32_t vprof_hash_index_look(const struct vprof_hash_index *index, uint32_t hash, size_t *at)
{
	size_t mask = index->n_slots - 1;

	if (!index->n_slots)
		return VPROF_NONE;
	for (*at &= mask; index->slots[*at].item; *at = (*at + 1) & mask)
		if (index->slots[*at].hash == hash)
			return index->slots[*at].item - 1;
	return VPROF_NONE;
}

/* All items with this hash in turn (its low 32 bits count: mix it); `at` is a size_t, after the last item the free slot
 * for vprof_hash_index_put(). */
#define VPROF_HASH_EACH(index, hash, at, item_var)                                                                     \
	for (uint32_t item_var = ((at) = (uint32_t)(hash), vprof_hash_index_look((index), (uint32_t)(hash), &(at)));   \
	     item_var != VPROF_NONE; (at)++, item_var = vprof_hash_index_look((index), (uint32_t)(hash), &(at)))

static inline void vprof_hash_index_put(struct vprof_hash_index *index, size_t at, uint64_t hash, uint32_t item)
{
	index->slots[at] = (struct vprof_hash_slot){ (uint32_t)hash, item + 1 };
	index->n++;
}

/* Takes out the item at place `at`, which a search was at. Places of other items may change. */
void vprof_hash_index_remove(struct vprof_hash_index *index, size_t at);

#endif
