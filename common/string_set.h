/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of strings, each kept once: equal texts have equal pointers. Memory is given back all at once. */
#ifndef VPROF_STRING_SET_H
#define VPROF_STRING_SET_H

#include <stddef.h>

struct vprof_strings {
	const char **slots; /* open addressing, size a power of two */
	size_t n, n_slots;
	struct vprof_strings_block *blocks;
};

/* The kept copy; NULL when out of memory. Zero-initialise the set. */
const char *vprof_strings_keep(struct vprof_strings *set, const char *s);
/* The kept copy, or NULL when the text was never kept. */
const char *vprof_strings_look(const struct vprof_strings *set, const char *s);
void vprof_strings_release(struct vprof_strings *set);

#endif
