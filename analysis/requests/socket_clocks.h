/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hosts' clocks (common/clocks/host_clocks.h), by what their sockets sent and received. What one call has sent had
 * not been received whole when its last packet left. */
#ifndef VPROF_REQUESTS_SOCKET_CLOCKS_H
#define VPROF_REQUESTS_SOCKET_CLOCKS_H

#include "analysis/requests/exchanges/connections.h"
#include "common/clocks/host_clocks.h"

/* Leaves out connections that moved 2 GiB and more one way, unless all of each is recorded: their ends may count
 * differently. OK or NOMEM; to be released in any case. O(transfers log transfers + pairs of hosts squared). */
int vprof_socket_clocks_find(struct vprof_host_clocks *clocks, const struct vprof_socket_history *h,
			     const struct vprof_connections *c);

#endif
