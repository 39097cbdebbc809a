/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/string_set.h"

#include <stdlib.h>
#include <string.h>

#include "common/files.h"

#define BLOCK_BYTES 65536

struct vprof_strings_block {
	struct vprof_strings_block *next;
	size_t used, size;
	char bytes[];
};

static size_t slot_of(const struct vprof_strings *set, const char *s, size_t n)
{
	size_t i = (size_t)vprof_hash(VPROF_HASH_SEED, s, n) & (set->n_slots - 1);

	while (set->slots[i] && strcmp(set->slots[i], s))
		i = (i + 1) & (set->n_slots - 1);
	return i;
}

static int widen(struct vprof_strings *set)
{
	struct vprof_strings wider = *set;

	wider.n_slots = set->n_slots ? set->n_slots * 2 : 1024;
	wider.slots = calloc(wider.n_slots, sizeof *wider.slots);
	if (!wider.slots)
		return 0;
	for (size_t i = 0; i < set->n_slots; i++)
		if (set->slots[i])
			wider.slots[slot_of(&wider, set->slots[i], strlen(set->slots[i]))] = set->slots[i];
	free(set->slots);
	*set = wider;
	return 1;
}

static char *room(struct vprof_strings *set, size_t n)
{
	struct vprof_strings_block *block = set->blocks;

	if (!block || block->size - block->used < n) {
		size_t size = n > BLOCK_BYTES ? n : BLOCK_BYTES;

		block = malloc(sizeof *block + size);
		if (!block)
			return NULL;
		*block = (struct vprof_strings_block){ set->blocks, 0, size };
		set->blocks = block;
	}
	block->used += n;
	return block->bytes + block->used - n;
}

const char *vprof_strings_keep(struct vprof_strings *set, const char *s)
{
	size_t n = strlen(s), i;
	char *copy;

	if (set->n * 2 >= set->n_slots && !widen(set))
		return NULL;
	i = slot_of(set, s, n);
	if (set->slots[i])
		return set->slots[i];
	copy = room(set, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, n + 1);
	set->slots[i] = copy;
	set->n++;
	return copy;
}

const char *vprof_strings_look(const struct vprof_strings *set, const char *s)
{
	return set->n_slots ? set->slots[slot_of(set, s, strlen(s))] : NULL;
}

void vprof_strings_release(struct vprof_strings *set)
{
	while (set->blocks) {
		struct vprof_strings_block *next = set->blocks->next;

		free(set->blocks);
		set->blocks = next;
	}
	free(set->slots);
	*set = (struct vprof_strings){ 0 };
}
