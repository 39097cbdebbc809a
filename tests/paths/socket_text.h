/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Socket histories as text, one line for each fact:
 *
 * - conn NAME CLIENT SERVER [port PORT] [later] [nat] [pair]: a connection between two processes; "-": not recorded;
 *   port: the client's, to have it used again; later: nobody saw who asked for it; nat: the server's end sees another
 *   client address; pair: two Unix sockets without a path
 * - ask NAME 10: it was asked for at time 10, which is else not known
 * - 10 web.1 > NAME 100: thread 1 of process web sends 100 bytes at time 10
 * - 10-15 web.1 < NAME 100: it receives them from 10 to 15
 * - call 10 web.1 NAME db.1: four transfers of 5 bytes at 10, 11, 12 and 13: web.1 asks, and db.1 replies
 * - 10 web.1 ~ web.2: it wakes thread 2; 10 web.1 + web.2: it makes it
 * - 10 web.1 ~ web.2 7: ... at place 7, which is else not known
 * - 10-20 web.1 ! web.2: thread 1 puts an item into a queue at 10, and thread 2 takes it at 20
 * - 10-20 web.1 * 3: it works for interval 3
 * - skip NAME up 50: bytes that nobody was seen to send or receive, toward the server (or: down)
 * - shift NAME 50: the client's end counts from so much higher numbers on, as where something between the ends changes
 * them
 * - lost 5: so many events are missing
 * - host web h2: the process, which nothing has named before, is on host h2; otherwise on h1
 *
 * Processes and threads exist once they are named. Positions follow from the bytes. Fails the test on anything else.
 */
#ifndef SOCKET_TEXT_H
#define SOCKET_TEXT_H

#include "analysis/requests/requests.h"
#include "common/hash/string_set.h"

struct socket_text_connection {
	const char *name;
	uint32_t client, server; /* processes; VPROF_NONE: not recorded */
	uint32_t ends[2];	 /* sockets, the client's and the server's; VPROF_NONE */
	uint64_t sent[2][2];	 /* bytes transferred, by end (1: server) and direction (1: up) */
};

struct socket_text {
	struct vprof_socket_history history;
	struct vprof_strings names;
	VPROF_ARRAY(struct socket_text_connection) connections;
	uint16_t next_port;
	uint64_t base; /* of all positions */
	struct vprof_requests found;
};

/* Reads a history and finds its requests. Release it. */
void socket_text_find(struct socket_text *s, const char *text);
void socket_text_release(struct socket_text *s);

/* The n-th exchange of a connection, or VPROF_NONE. */
uint32_t socket_text_exchange(const struct socket_text *s, const char *connection, uint32_t n);

/* How the n-th exchange of a connection is linked: "c1.0 thread", "ambiguous" and so on; valid until the next call. */
const char *socket_text_link(const struct socket_text *s, const char *connection, uint32_t n);

/* The tree of a request as exchanges: "c1.0(c2.0 c3.0(c4.0))"; valid until the next call. */
const char *socket_text_tree(const struct socket_text *s, size_t request);

#endif
