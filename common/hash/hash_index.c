/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/hash/hash_index.h"

#define SLOTS_MIN 64

static void put(struct vprof_hash_slot *slots, size_t n_slots, struct vprof_hash_slot slot)
{
	size_t at = slot.hash & (n_slots - 1);

	while (slots[at].item)
		at = (at + 1) & (n_slots - 1);
	slots[at] = slot;
}

int vprof_hash_index_room(struct vprof_hash_index *index, size_t n)
{
	size_t n_slots = index->n_slots ? index->n_slots : SLOTS_MIN;
	struct vprof_hash_slot *slots;

	if (n > UINT32_MAX / 4 || index->n > UINT32_MAX / 4)
		return -1;
	while (n_slots < 2 * (index->n + n))
		n_slots *= 2;
	if (n_slots == index->n_slots)
		return 0;
	slots = calloc(n_slots, sizeof *slots);
	if (!slots)
		return -1;
	for (size_t i = 0; i < index->n_slots; i++)
		if (index->slots[i].item)
			put(slots, n_slots, index->slots[i]);
	free(index->slots);
	index->slots = slots;
	index->n_slots = n_slots;
	return 0;
}

void vprof_hash_index_release(struct vprof_hash_index *index)
{
	free(index->slots);
	*index = (struct vprof_hash_index){ 0 };
}

/* Those behind it that were pushed off their own slot move up, so that no search ends too early. */
void vprof_hash_index_remove(struct vprof_hash_index *index, size_t at)
{
	size_t mask = index->n_slots - 1;

	for (size_t i = (at + 1) & mask; index->slots[i].item; i = (i + 1) & mask) {
		size_t home = index->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - at) & mask))
			continue;
		index->slots[at] = index->slots[i];
		at = i;
	}
	index->slots[at] = (struct vprof_hash_slot){ 0, 0 };
	index->n--;
}
