/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Did you mean ...?": of the names that there are, the one nearest to what was written. */
#ifndef VPROF_NEAREST_H
#define VPROF_NEAREST_H

#include <stddef.h>

#define VPROF_NEAREST_BYTES 255 /* longer names are neither looked for nor offered */

struct vprof_nearest {
	const char *wanted;
	size_t n, limit;  /* more edits than limit are too many */
	const char *best; /* of the names offered, the first of the nearest; NULL: none is near */
};

/* limit 0: a third of the letters, and one. */
void vprof_nearest_begin(struct vprof_nearest *nearest, const char *wanted, size_t limit);
void vprof_nearest_offer(struct vprof_nearest *nearest, const char *known);

#endif
