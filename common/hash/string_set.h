/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of strings, each kept once: equal texts have equal pointers. Memory is given back all at once. */
#ifndef VPROF_STRING_SET_H
#define VPROF_STRING_SET_H

#include "common/hash/hash_index.h"

struct vprof_strings {
	struct vprof_hash_index index;
	VPROF_ARRAY(const char *) kept; /* in the order in which they came */
	struct vprof_strings_block *blocks;
};

/* The kept copy; NULL when out of memory. Zero-initialise the set. */
const char *vprof_strings_keep(struct vprof_strings *set, const char *s);
/* The same by number: an index into `kept`; VPROF_NONE when out of memory. */
uint32_t vprof_strings_number(struct vprof_strings *set, const char *s);
/* The number of the kept copy, VPROF_NONE when the text was never kept. */
uint32_t vprof_strings_find(const struct vprof_strings *set, const char *s);
/* The kept copy, or NULL when the text was never kept. */
const char *vprof_strings_look(const struct vprof_strings *set, const char *s);
void vprof_strings_release(struct vprof_strings *set);

#endif
