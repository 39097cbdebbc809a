/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections: which two sockets are the ends of one, and which of them is the server's.
 *
 * TCP sockets are ends of one connection when their address pairs mirror each other (the paper's four-element tuple).
 * Addresses and ports are used again: of several candidates the one is taken whose sequence numbers agree, then the one
 * whose lifetime is closest. Where addresses are translated between the ends (NAT), the sequence numbers with which
 * both directions begin tell, if the recording has the beginning. Loopback addresses must be of the same network
 * namespace, Unix sockets name each other.
 */
#ifndef VPROF_REQUESTS_CONNECTIONS_H
#define VPROF_REQUESTS_CONNECTIONS_H

#include "analysis/requests/history/socket_history.h"

struct vprof_connection {
	uint32_t client, server; /* sockets; VPROF_NONE: that end was not recorded */
	/* what is added to positions of the client's end to have those of the server's, by direction */
	uint64_t up_shift, down_shift;
	uint8_t is_role_guessed; /* nobody saw who asked for the connection */
	uint8_t is_inside;	 /* both ends are one process's, and nothing of it is among the transfers any more */
};

struct vprof_connections {
	VPROF_ARRAY(struct vprof_connection) v; /* by the time of their first transfer */
	VPROF_ARRAY(uint32_t) of_socket;	/* of each socket; VPROF_NONE: it transferred nothing */
	uint64_t n_guessed;
	uint64_t n_inside;
	uint64_t n_translated; /* whose addresses do not mirror each other, but whose sequence numbers are the same */
};

/* The history must be checked and sorted. OK or NOMEM; to be released in any case. O(sockets + transfers).
 */
int vprof_connections_find(struct vprof_connections *c, const struct vprof_socket_history *h);

/* Leaves out what never leaves a process: pairs of Unix sockets that one process uses at both ends, by which event
 * loops are woken and threads call one another. Taken for exchanges, they would make a client that has one a server of
 * itself. Their transfers go, so this comes before all that looks at these. OK or NOMEM. O(connections + transfers). */
int vprof_connections_leave_out_inside(struct vprof_connections *c, struct vprof_socket_history *h);

/* Puts right when sends began. Where the recorder does not know it, it tells when a send ended or its last packet left;
 * others on the same host may have received some of it before, which no message is: it began before the first of them
 * had. The history stays sorted. OK or NOMEM. O(transfers log transfers). */
int vprof_connections_settle_sends(const struct vprof_connections *c, struct vprof_socket_history *h);

/* Both ends were recorded, on two hosts. */
int vprof_connection_is_between_hosts(const struct vprof_connection *connection, const struct vprof_socket_history *h);

/* Where a transfer's bytes begin: the way of its connection that they take, and their place in it as the server's end
 * counts. 0: it has none, or only one end of the connection was recorded. */
int vprof_connections_place(const struct vprof_connections *c, const struct vprof_transfer *t, uint64_t *stream,
			    uint64_t *position);

void vprof_connections_release(struct vprof_connections *c);

#endif
