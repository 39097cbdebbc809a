/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of a program or library by their names: which of them have code of their own, which were inlined, and
 * whether several share a name. */
#ifndef VPROF_FUNCTION_SEARCH_H
#define VPROF_FUNCTION_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "common/elf/elf_symbols.h"

#define VPROF_SEARCH_INTO 4

struct vprof_function_search {
	int is_linked;			     /* the linker knows a function of this name */
	uint64_t n_inlined;		     /* places at which one of this name was inlined, as far as is known */
	size_t n_into;			     /* of the functions that it was inlined into: */
	const char *into[VPROF_SEARCH_INTO]; /* names, which belong to `elf` */
};

/* name: as vprof_elf_function() tells it. Of a qualified name the last part counts for what was inlined. Without debug
 * information nothing is known of that. O(symbols + debug information). */
void vprof_function_search(struct vprof_elf *elf, const char *name, struct vprof_function_search *found);

/* lows: where functions of one name begin. Keeps the first of each that is one function in the sources, of which the
 * compiler may have made several ("f", "f.constprop.0"); returns how many are left. O(n * symbols). */
size_t vprof_function_tell_apart(struct vprof_elf *elf, uint64_t *lows, size_t n);

/* Functions of one name in several source files, as static ones are. */
struct vprof_namesakes;

/* NULL: there are none, or no memory. O(symbols * log symbols). */
struct vprof_namesakes *vprof_namesakes_new(struct vprof_elf *elf);
void vprof_namesakes_free(struct vprof_namesakes *namesakes); /* NULL is fine */

/* The base name of the source file of the function that begins at an address, if it is one of several of its name and
 * the debug information tells them all apart by that; else NULL. The text belongs to the file's symbols. NULL is fine.
 */
const char *vprof_namesakes_source(struct vprof_namesakes *namesakes, uint64_t address);

#endif
