/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vApp, after the paper (vPath, section 4.1): servers in tiers that call one another at random, clients that load them,
 * and the path of each request carried back in its reply.
 *
 * A message is its length (4 bytes), then its bytes: of a request its number, of a reply the path below the server that
 * sends it: "front1(4711/0:middle2(4712/3:back1) 4713/1:middle1)". Before each call stands how it came: the port from
 * which it was made, and how many were made on that connection before.
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
	VAPP_HANDOFF, /* as dispatcher, but a worker hands each request on to another pool in the middle of its calls */
	VAPP_STAGES,  /* threads that receive, parse, call and reply, with queues between them */
	VAPP_PIPELINE, /* as workers, with clients that send several requests before they wait for replies */
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

struct vapp_worker { /* a thread, and its connections to other servers */
	const struct vapp *app;
	const struct vapp_server *server;
	uint64_t state;
	int downstream[SERVERS_MAX]; /* -1: none yet */
	int ports[SERVERS_MAX];	     /* their own, and how many calls were made on them */
	uint32_t n_calls[SERVERS_MAX];
	char reply[MESSAGE_MAX];
};

struct vapp_worker *vapp_worker_make(const struct vapp *app, const struct vapp_server *server, int number);
/* Works for a while. */
void vapp_compute(struct vapp_worker *w);
/* How many calls a request needs. */
uint64_t vapp_calls(struct vapp_worker *w);
/* Calls a server that it may call, and waits for the reply; appends what that says to the path, of which `length` bytes
 * are there. Returns how many there are then. */
size_t vapp_call(struct vapp_worker *w, char path[MESSAGE_MAX], size_t length);
/* In parts now and then. */
void vapp_reply(struct vapp_worker *w, int fd, const char *path, size_t length);
void vapp_start(void *(*run)(void *), void *arg);
/* Receives requests on all connections, one after the other, and tells `take` of each. */
void vapp_dispatch(const struct vapp_server *server, void (*take)(int fd));
__attribute__((noreturn)) void vapp_die(const char *what);

/* Serves until it is killed; the caller is the server's process. */
void vapp_serve(const struct vapp *app, int server);

/* The same as an event loop. */
void vapp_loop(const struct vapp *app, int server);
/* The same with pools of threads that hand requests on to one another. */
void vapp_stages(const struct vapp *app, int server);

/* Runs all sessions and writes the truth: "request CLIENT_PORT NTH NS PATH". 0, or -1 when a request failed. */
int vapp_load(const struct vapp *app);

/* A connection to a server. */
int vapp_connect(const struct vapp_server *server);
/* Its own port. */
int vapp_port(int fd);
/* In one send or two. -1: the other end is gone. */
int vapp_send(int fd, const char *bytes, uint32_t n, int parts);
/* How many bytes, at most MESSAGE_MAX; -1: the other end is gone. */
int vapp_receive(int fd, char bytes[MESSAGE_MAX]);

/* The next of a sequence of random numbers. */
uint64_t vapp_draw(uint64_t *state);

#endif
