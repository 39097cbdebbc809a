/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose names are opposites: lock and unlock, push and pop, begin and end. */
#ifndef VPROF_OPPOSITES_H
#define VPROF_OPPOSITES_H

#include "annotate/code/discovery.h"

struct vprof_opposite {
	const char *word, *other;
};

/* The function whose name is that of `f` with one of the words replaced, best in the same file; NULL: none. The words
 * are tried in order. same_first: it must work on the same object. */
const struct vprof_facts_function *vprof_opposite_find(struct vprof_discovery *d, const struct vprof_facts_function *f,
						       const struct vprof_opposite *words, size_t n_words,
						       int same_first);
/* Do two functions work on the same thing: methods of one class, or the same type of first parameter? */
int vprof_same_object(struct vprof_discovery *d, const struct vprof_facts_function *a,
		      const struct vprof_facts_function *b);

#endif
