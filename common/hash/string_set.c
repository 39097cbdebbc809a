/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/hash/string_set.h"

#include <stdlib.h>
#include <string.h>

#include "common/files.h"

#define BLOCK_BYTES 65536

struct vprof_strings_block {
	struct vprof_strings_block *next;
	size_t used, size;
	char bytes[];
};

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

static uint32_t find(const struct vprof_strings *set, const char *s, uint64_t hash, size_t *at)
{
	VPROF_HASH_EACH(&set->index, hash, *at, i)
	if (!strcmp(set->kept.v[i], s))
		return i;
	return VPROF_NONE;
}

uint32_t vprof_strings_number(struct vprof_strings *set, const char *s)
{
	size_t n = strlen(s), at;
	uint64_t hash = vprof_hash(VPROF_HASH_SEED, s, n);
	const char **slot;
	uint32_t found;
	char *copy;

	if (vprof_hash_index_room(&set->index, 1))
		return VPROF_NONE;
	found = find(set, s, hash, &at);
	if (found != VPROF_NONE)
		return found;
	copy = room(set, n + 1);
	slot = copy ? VPROF_PUSH(&set->kept) : NULL;
	if (!slot)
		return VPROF_NONE;
	*slot = memcpy(copy, s, n + 1);
	vprof_hash_index_put(&set->index, at, hash, (uint32_t)set->kept.n - 1);
	return (uint32_t)set->kept.n - 1;
}

const char *vprof_strings_keep(struct vprof_strings *set, const char *s)
{
	uint32_t number = vprof_strings_number(set, s);

	return number == VPROF_NONE ? NULL : set->kept.v[number];
}

uint32_t vprof_strings_find(const struct vprof_strings *set, const char *s)
{
	size_t at;

	return find(set, s, vprof_hash(VPROF_HASH_SEED, s, strlen(s)), &at);
}

const char *vprof_strings_look(const struct vprof_strings *set, const char *s)
{
	uint32_t number = vprof_strings_find(set, s);

	return number == VPROF_NONE ? NULL : set->kept.v[number];
}

void vprof_strings_release(struct vprof_strings *set)
{
	while (set->blocks) {
		struct vprof_strings_block *next = set->blocks->next;

		free(set->blocks);
		set->blocks = next;
	}
	vprof_hash_index_release(&set->index);
	VPROF_ARRAY_RELEASE(&set->kept);
}
