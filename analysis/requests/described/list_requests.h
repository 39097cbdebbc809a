/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each request by itself, as results: its visits with their times, and how each was linked to its caller. */
#ifndef VPROF_REQUESTS_LIST_H
#define VPROF_REQUESTS_LIST_H

#include "analysis/requests/requests.h"
#include "analysis/requests/tiers.h"
#include "analysis/results/requests_results.h"

/* How a call was linked, in words; NULL: it is none. */
const char *vprof_link_tell(enum vprof_link_how how);

/* Fills requests and visits of `to`. OK or NOMEM. O(visits). */
int vprof_requests_list(struct vprof_requests_results *to, const struct vprof_requests *found,
			const struct vprof_tiers *tiers);

#endif
