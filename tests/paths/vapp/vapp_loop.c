/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A server that is an event loop: one thread, many requests under way, connections to other servers kept and shared. It
 * works on each message as it receives it, or receives all that are there first.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vapp.h"
#include "vprof.h"

#define CALLS_MOST 3
#define FDS_MAX 4096
#define EVENTS_MOST 64
#define BUSY_STEPS 4000

struct job { /* a request under way */
	int client;
	uint64_t n_calls, n_made;
	size_t length;
	char path[MESSAGE_MAX];
};

struct connection {
	struct job *job; /* that waits for its reply; NULL: a client's, or idle */
	int server;	 /* that it is to; -1: a client's */
	int next_idle;
	int port; /* its own */
	uint32_t n_calls;
};

static struct connection connections[FDS_MAX]; /* by descriptor */
static int idle[SERVERS_MAX];		       /* the first idle connection to each server; -1 */

struct loop {
	const struct vapp *app;
	const struct vapp_server *server;
	uint64_t state;
	int poll;
};

static void watch(const struct loop *l, int fd, int server)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || fd >= FDS_MAX || epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &event))
		vapp_die("vapp: connection");
	connections[fd] = (struct connection){ NULL, server, -1, vapp_port(fd), 0 };
}

static void call(struct loop *l, struct job *job)
{
	int other = l->server->calls[vapp_draw(&l->state) % (uint64_t)l->server->n_calls], fd = idle[other];

	if (fd >= 0) {
		idle[other] = connections[fd].next_idle;
	} else {
		fd = vapp_connect(&l->app->servers[other]);
		watch(l, fd, other);
	}
	connections[fd].job = job;
	job->path[job->length++] = job->n_made++ ? ' ' : '(';
	if (vapp_send(fd, "12345678", 8, 1))
		vapp_die("vapp: call");
}

/* The next call, or the reply. */
static void go_on(struct loop *l, struct job *job)
{
	uint64_t n = vapp_draw(&l->state) % BUSY_STEPS;

	vprof_resume("request", job);
	for (volatile uint64_t i = 0; i < n; i++)
		;
	if (job->n_made < job->n_calls) {
		call(l, job);
		vprof_suspend("request", job);
		return;
	}
	if (job->n_calls)
		job->path[job->length++] = ')';
	vapp_send(job->client, job->path, (uint32_t)job->length, 1);
	vprof_end("request", job);
	free(job);
}

static struct job *begin(struct loop *l, int fd)
{
	struct job *job = calloc(1, sizeof *job);

	if (!job)
		vapp_die("vapp: memory");
	vprof_begin("request", job);
	job->client = fd;
	job->n_calls = l->server->n_calls ? vapp_draw(&l->state) % (CALLS_MOST + 1) : 0;
	job->length = strlen(l->server->name);
	memcpy(job->path, l->server->name, job->length);
	vprof_suspend("request", job);
	return job;
}

/* A request or a reply: what is to be gone on with; NULL: the connection's end. */
static struct job *receive(struct loop *l, int fd)
{
	static char message[MESSAGE_MAX];
	struct connection *c = &connections[fd];
	struct job *job = c->job;
	int n = vapp_receive(fd, message);

	if (n < 0) {
		if (c->server >= 0)
			vapp_die("vapp: reply");
		close(fd);
		return NULL;
	}
	if (c->server < 0)
		return begin(l, fd);
	if (!job || job->length + (size_t)n + 32 > MESSAGE_MAX)
		vapp_die("vapp: reply");
	job->length += (size_t)sprintf(job->path + job->length, "%d/%u:%.*s", c->port, c->n_calls++, n, message);
	c->job = NULL;
	c->next_idle = idle[c->server];
	idle[c->server] = fd;
	return job;
}

void vapp_loop(const struct vapp *app, int number)
{
	const struct vapp_server *server = &app->servers[number];
	struct loop l = { app, server, app->seed ^ server->port, epoll_create1(EPOLL_CLOEXEC) };
	struct epoll_event events[EVENTS_MOST];

	memset(idle, 0xff, sizeof idle);
	watch(&l, server->listener, -1);
	for (;;) {
		struct job *jobs[EVENTS_MOST];
		int n = epoll_wait(l.poll, events, EVENTS_MOST, -1), n_jobs = 0;

		for (int i = 0; i < n; i++) {
			struct job *job = NULL;

			if (events[i].data.fd == server->listener)
				watch(&l, accept4(server->listener, NULL, NULL, SOCK_CLOEXEC), -1);
			else
				job = receive(&l, events[i].data.fd);
			if (job && app->model == VAPP_LOOP)
				go_on(&l, job);
			else if (job)
				jobs[n_jobs++] = job;
		}
		for (int i = 0; i < n_jobs; i++)
			go_on(&l, jobs[i]);
	}
}
