/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed together: everything that a document, a draft or a list of findings owns.
 *
 * Invariants: blocks are zeroed; a string function never returns NULL (on lack of memory it returns "" and
 * sets `failed`), so a builder of many strings checks `failed` once, at the end. Zero-initialise; release is
 * safe twice.
 */
#ifndef VPROF_ARENA_H
#define VPROF_ARENA_H

#include <stddef.h>

struct vprof_arena_block;

struct vprof_arena {
	struct vprof_arena_block *blocks;
	int failed;
};

void *vprof_arena_alloc(struct vprof_arena *arena, size_t bytes); /* NULL when out of memory */
const char *vprof_arena_copy(struct vprof_arena *arena, const char *s, size_t n);
const char *vprof_arena_printf(struct vprof_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vprof_arena_release(struct vprof_arena *arena);

/* Grows an array that the arena owns: returns where element `*n` goes and increments *n; NULL when out of
 * memory. `array` is the address of the pointer to the elements. Capacity doubles at powers of two, so
 * nothing but that pointer and `*n` needs keeping. */
void *vprof_arena_push(struct vprof_arena *arena, void *array, size_t *n, size_t element_bytes);

#endif
