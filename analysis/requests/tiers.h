/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiers: which program, at which address, an exchange is a visit to. Processes that serve at one address are one tier,
 * so that servers which fork a process for each connection are.
 */
#ifndef VPROF_REQUESTS_TIERS_H
#define VPROF_REQUESTS_TIERS_H

#include "analysis/requests/exchanges/exchanges.h"
#include "common/hash/string_set.h"

struct vprof_tiers {
	VPROF_ARRAY(uint32_t) of_connection; /* numbers of their names; VPROF_NONE: it has no exchange */
	struct vprof_strings names; /* "mariadbd:3306", "php-fpm:/run/php.sock", "10.0.0.7:53" if not recorded */
	VPROF_ARRAY(unsigned char) is_recorded; /* by tier */
};

/* OK or NOMEM; to be released in any case. */
int vprof_tiers_find(struct vprof_tiers *t, const struct vprof_socket_history *h, const struct vprof_connections *c,
		     const struct vprof_exchanges *x);
/* "10.0.0.7:53", "[::1]:53" */
void vprof_tiers_tell_address(const struct vprof_socket_address *a, char *to, size_t size);

void vprof_tiers_release(struct vprof_tiers *t);

#endif
