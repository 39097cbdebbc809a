/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed together. Large blocks with a bump pointer; what does not fit gets a block of its own.
 */
#include "common/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

struct vprof_arena_block {
	struct vprof_arena_block *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

void *vprof_arena_alloc(struct vprof_arena *arena, size_t bytes)
{
	struct vprof_arena_block *b = arena->blocks;
	size_t rounded = (bytes + 15) & ~(size_t)15, size;
	char *p;

	if (rounded < bytes || rounded > SIZE_MAX / 2) {
		arena->failed = 1;
		return NULL;
	}
	if (!b || b->size - b->used < rounded) {
		size = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
		b = calloc(1, sizeof *b + size);
		if (!b) {
			arena->failed = 1;
			return NULL;
		}
		b->size = size;
		b->next = arena->blocks;
		arena->blocks = b;
	}
	p = b->bytes + b->used;
	b->used += rounded;
	return p;
}

const char *vprof_arena_copy(struct vprof_arena *arena, const char *s, size_t n)
{
	char *p = vprof_arena_alloc(arena, n + 1);

	if (!p)
		return "";
	memcpy(p, s, n);
	return p;
}

const char *vprof_arena_printf(struct vprof_arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = n < 0 ? NULL : vprof_arena_alloc(arena, (size_t)n + 1);
	if (!p)
		return "";
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void *vprof_arena_push(struct vprof_arena *arena, void *array, size_t *n, size_t element_bytes)
{
	char *items, *grown;

	memcpy(&items, array, sizeof items);
	if (!*n || (*n >= 4 && !(*n & (*n - 1)))) {
		grown = vprof_arena_alloc(arena, (*n ? 2 * *n : 4) * element_bytes);
		if (!grown)
			return NULL;
		if (*n)
			memcpy(grown, items, *n * element_bytes);
		items = grown;
		memcpy(array, &items, sizeof items);
	}
	return items + (*n)++ * element_bytes;
}

void vprof_arena_release(struct vprof_arena *arena)
{
	struct vprof_arena_block *b = arena->blocks, *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	*arena = (struct vprof_arena){ 0 };
}
