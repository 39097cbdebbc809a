/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was unusual about connections, and did not keep requests from being found: it is told. */
#ifndef VPROF_UNUSUAL_CONNECTIONS_H
#define VPROF_UNUSUAL_CONNECTIONS_H

#include "analysis/requests/requests.h"

struct vprof_unusual_connections {
	uint64_t n_half_closed; /* one end had closed its direction, and was sent something all the same */
	/* An end receives as libraries for TLS do: of each record first the 5 bytes that tell its length, then the
	 * rest.
	 */
	uint64_t n_encrypted;
	uint64_t n_resent, n_resent_connections; /* packets that TCP sent again, and of how many connections */
};

/* 0, or -1 without memory. O(transfers). */
int vprof_unusual_connections_count(struct vprof_unusual_connections *odd, const struct vprof_requests *r);

#endif
