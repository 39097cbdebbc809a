/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which release ended a wait (docs/design/wake-edges.md).
 *
 * A wait looks only at the releases of its object around its own time. There is a rule for each class:
 *  - last: a lock. The waiter found the number of the release before it, so that one it was; without a number (or when
 *    objects share a slot) the candidate with the largest (arrivals before, time), since earlier ones let others go
 *    first.
 *  - first: a condition, a futex. The first release that counted the waiter and has not been used up by another wait: a
 *    signal wakes one, a broadcast all.
 *  - round: a barrier. The first round that counted the waiter.
 * A release is a candidate when it happened within the wait and counted arrivals up to the wait's ticket or beyond, or
 * when the ticket was drawn while it ran. Arrivals wrap at 32 bits, so they are compared by difference.
 */
#ifndef VPROF_RELEASE_RULES_H
#define VPROF_RELEASE_RULES_H

#include "analysis/timeline/edges/release_index.h"

/* The release that ended wait `w` of a thread, NULL: none is known. Looks at a bounded number of releases. */
struct vprof_release_entry *vprof_release_find(const struct vprof_release_index *index, uint32_t thread,
					       const struct vprof_wait *w);

/* Is it the release whose number the waiter found? */
int vprof_release_is_exact(const struct vprof_release_entry *r, const struct vprof_wait *w);

/* Can no other release have ended the wait, recorded or not? */
int vprof_release_is_sure(const struct vprof_release_entry *r, const struct vprof_wait *w);

#endif
