/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vApp, after the paper (vPath, section 4.1): servers in tiers that call one another at random, clients that load them,
 * and the path of each request carried back in its reply.
 *
 * A message is its length (4 bytes), then its bytes: of a request its number, of a reply the path below the server that
 * sends it: "front1(middle2(back1)middle1)".
 */
#ifndef VAPP_H
#define VAPP_H

#include <stdint.h>

#define SERVERS_MAX 64
#define NAME_MAX_BYTES 15 /* a thread's name */
#define MESSAGE_MAX 65536

enum vapp_model {
	VAPP_WORKERS,	 /* a thread for each connection */
	VAPP_DISPATCHER, /* one thread receives, workers do the rest */
	VAPP_LOOP,	 /* one thread for all requests, which works on each message as it receives it */
	VAPP_BATCHES,	 /* ... which receives all that is there first */
};

struct vapp_server {
	char name[NAME_MAX_BYTES + 1];
	int calls[SERVERS_MAX], n_calls; /* servers that it may call */
	int is_entry;			 /* clients call it */
	int listener;			 /* descriptor */
	uint32_t address;		 /* in network order */
	uint16_t port;
};

struct vapp {
	struct vapp_server servers[SERVERS_MAX];
	int n_servers, n_workers, n_sessions, n_requests;
	enum vapp_model model;
	uint64_t seed;
	const char *truth; /* file */
	const char *netns; /* prefix of network namespaces; NULL: none */
};

/* Serves until it is killed; the caller is the server's process. */
void vapp_serve(const struct vapp *app, int server);

/* The same as an event loop. */
void vapp_loop(const struct vapp *app, int server);

/* Runs all sessions and writes the truth: "request CLIENT_PORT NTH NS PATH". 0, or -1 when a request failed. */
int vapp_load(const struct vapp *app);

/* A connection to a server. */
int vapp_connect(const struct vapp_server *server);
/* In one send or two. -1: the other end is gone. */
int vapp_send(int fd, const char *bytes, uint32_t n, int parts);
/* How many bytes, at most MESSAGE_MAX; -1: the other end is gone. */
int vapp_receive(int fd, char bytes[MESSAGE_MAX]);

/* The next of a sequence of random numbers. */
uint64_t vapp_draw(uint64_t *state);

#endif
