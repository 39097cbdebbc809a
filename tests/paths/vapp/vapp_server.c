/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vapp.h"

#define CALLS_MOST 3
#define BUSY_STEPS 4000
#define QUEUE_MAX 4096

struct served { /* a connection, and the thread that serves it */
	struct vapp_worker *w;
	int fd;
	uint32_t n; /* bytes of requests that were received and not taken yet */
	char bytes[MESSAGE_MAX];
};

/* Requests that were received and wait for a worker. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	int fds[QUEUE_MAX];
	size_t first, n;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER };

void vapp_die(const char *what)
{
	perror(what);
	_exit(1);
}

void vapp_compute(struct vapp_worker *w)
{
	uint64_t n = vapp_draw(&w->state) % BUSY_STEPS;

	for (volatile uint64_t i = 0; i < n; i++)
		;
	if (vapp_draw(&w->state) % 20 == 0)
		nanosleep(&(struct timespec){ 0, 500000 }, NULL);
}

uint64_t vapp_calls(struct vapp_worker *w)
{
	return w->server->n_calls ? vapp_draw(&w->state) % (CALLS_MOST + 1) : 0;
}

size_t vapp_call(struct vapp_worker *w, char path[MESSAGE_MAX], size_t length)
{
	int other = w->server->calls[vapp_draw(&w->state) % (uint64_t)w->server->n_calls], n;

	if (w->downstream[other] < 0) {
		w->downstream[other] = vapp_connect(&w->app->servers[other]);
		w->ports[other] = vapp_port(w->downstream[other]);
	}
	if (w->downstream[other] < 0 ||
	    vapp_send(w->downstream[other], "12345678", 8, vapp_draw(&w->state) % 3 == 0 ? 2 : 1))
		vapp_die("vapp: call");
	n = vapp_receive(w->downstream[other], w->reply);
	if (n < 0 || length + (size_t)n + 32 > MESSAGE_MAX)
		vapp_die("vapp: reply");
	return length + (size_t)sprintf(path + length, "%d/%u:%.*s", w->ports[other], w->n_calls[other]++, n, w->reply);
}

void vapp_reply(struct vapp_worker *w, int fd, const char *path, size_t length)
{
	vapp_send(fd, path, (uint32_t)length, vapp_draw(&w->state) % 3 == 0 ? 2 : 1);
}

/* What the server does for a request, and its reply. */
static void work(struct vapp_worker *w, int fd)
{
	static __thread char path[MESSAGE_MAX];
	uint64_t n_calls = vapp_calls(w);
	size_t length = strlen(w->server->name);

	memcpy(path, w->server->name, length);
	vapp_compute(w);
	for (uint64_t i = 0; i < n_calls; i++) {
		path[length++] = i ? ' ' : '(';
		length = vapp_call(w, path, length);
		vapp_compute(w);
	}
	if (n_calls)
		path[length++] = ')';
	if (w->app->model == VAPP_PIPELINE)
		vapp_send(fd, path, (uint32_t)length, 1);
	else
		vapp_reply(w, fd, path, length);
}

struct vapp_worker *vapp_worker_make(const struct vapp *app, const struct vapp_server *server, int number)
{
	struct vapp_worker *w = calloc(1, sizeof *w);

	if (!w)
		vapp_die("vapp: memory");
	w->app = app;
	w->server = server;
	w->state = app->seed ^ (uint64_t)number << 32 ^ server->port;
	for (int i = 0; i < SERVERS_MAX; i++)
		w->downstream[i] = -1;
	return w;
}

void vapp_start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		vapp_die("vapp: thread");
	pthread_detach(thread);
}

/* Receives what is there, which may be several requests, until the next one is whole. */
static int receive_next(struct served *s)
{
	uint32_t length;
	ssize_t n;

	for (;;) {
		memcpy(&length, s->bytes, sizeof length);
		if (s->n >= sizeof length && s->n >= sizeof length + length) {
			s->n -= (uint32_t)sizeof length + length;
			memmove(s->bytes, s->bytes + sizeof length + length, s->n);
			return 0;
		}
		n = recv(s->fd, s->bytes + s->n, sizeof s->bytes - s->n, 0);
		if (n <= 0)
			return -1;
		s->n += (uint32_t)n;
	}
}

static void *serve_connection(void *served)
{
	struct served *s = served;
	static __thread char request[MESSAGE_MAX];
	int is_pipelined = s->w->app->model == VAPP_PIPELINE;

	while (is_pipelined ? !receive_next(s) : vapp_receive(s->fd, request) >= 0)
		work(s->w, s->fd);
	close(s->fd);
	for (int i = 0; i < SERVERS_MAX; i++)
		if (s->w->downstream[i] >= 0)
			close(s->w->downstream[i]);
	free(s->w);
	free(s);
	return NULL;
}

static void *take_requests(void *worker)
{
	for (;;) {
		int fd;

		pthread_mutex_lock(&queue.lock);
		while (!queue.n)
			pthread_cond_wait(&queue.not_empty, &queue.lock);
		fd = queue.fds[queue.first];
		queue.first = (queue.first + 1) % QUEUE_MAX;
		queue.n--;
		pthread_mutex_unlock(&queue.lock);
		work(worker, fd);
	}
	return NULL;
}

static void enqueue(int fd)
{
	pthread_mutex_lock(&queue.lock);
	if (queue.n == QUEUE_MAX)
		vapp_die("vapp: queue");
	queue.fds[(queue.first + queue.n++) % QUEUE_MAX] = fd;
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

/* A client sends its next request only after the reply, so a connection is in the queue once at most. */
void vapp_dispatch(const struct vapp_server *server, void (*take)(int fd))
{
	static char request[MESSAGE_MAX];
	int poll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = server->listener };

	if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, server->listener, &event))
		vapp_die("vapp: epoll");
	for (;;) {
		int fd;

		if (epoll_wait(poll, &event, 1, -1) != 1)
			continue;
		fd = event.data.fd;
		if (fd == server->listener) {
			fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
			event = (struct epoll_event){ .events = EPOLLIN, .data.fd = fd };
			if (fd >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event))
				vapp_die("vapp: epoll");
		} else if (vapp_receive(fd, request) >= 0) {
			take(fd);
		} else {
			close(fd);
		}
	}
}

void vapp_serve(const struct vapp *app, int number)
{
	const struct vapp_server *server = &app->servers[number];

	prctl(PR_SET_NAME, server->name);
	if (app->model == VAPP_LOOP || app->model == VAPP_BATCHES)
		vapp_loop(app, number);
	if (app->model == VAPP_HANDOFF || app->model == VAPP_STAGES)
		vapp_stages(app, number);
	if (app->model == VAPP_DISPATCHER) {
		for (int i = 0; i < app->n_workers; i++)
			vapp_start(take_requests, vapp_worker_make(app, server, i));
		vapp_dispatch(server, enqueue);
	}
	for (int i = 0;; i++) {
		struct served *s = calloc(1, sizeof *s);

		if (!s)
			vapp_die("vapp: memory");
		s->w = vapp_worker_make(app, server, i);
		s->fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (s->fd < 0)
			vapp_die("vapp: accept");
		vapp_start(serve_connection, s);
	}
}
