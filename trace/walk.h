/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the units of a chunk fall into records: the one place that knows, for the reader and the collector alike.
 *
 * Never looks at a unit at or behind `end`; reads a record's w once, so that memory which another process still
 * writes cannot lead it astray.
 */
#ifndef VPROF_TRACE_WALK_H
#define VPROF_TRACE_WALK_H

#include <stddef.h>

#include "trace/format.h"

/* The next whole record at or after *at, which moves behind it; *n_units = its units. Skips units that were never
 * written (w == 0) and records cut by a kill (w != 0, t == 0). NULL at the end, and at the first record that is
 * unknown or would reach beyond `end`: then *at != end. */
static inline const struct vp_unit *vp_walk_next(const struct vp_unit **at, const struct vp_unit *end,
						 uint32_t *n_units)
{
	const struct vp_unit *u = *at;

	while (u < end) {
		uint64_t w = *(const volatile uint64_t *)&u->w;
		uint32_t n;

		if (!w) {
			u++;
			continue;
		}
		n = vp_record_units(w);
		if (n && !u->t) {
			u += n < (size_t)(end - u) ? n : (size_t)(end - u);
			continue;
		}
		if (!n || n > (size_t)(end - u))
			break;
		*at = u + n;
		*n_units = n;
		return u;
	}
	*at = u;
	return NULL;
}

#endif
