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

struct worker {
	const struct vapp *app;
	const struct vapp_server *server;
	uint64_t state;
	int downstream[SERVERS_MAX]; /* its connections; -1: none yet */
	int fd;			     /* of VAPP_WORKERS: the connection that it serves */
	char path[MESSAGE_MAX], reply[MESSAGE_MAX];
};

/* Requests that were received and wait for a worker. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	int fds[QUEUE_MAX];
	size_t first, n;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER };

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void compute(struct worker *w)
{
	uint64_t n = vapp_draw(&w->state) % BUSY_STEPS;

	for (volatile uint64_t i = 0; i < n; i++)
		;
	if (vapp_draw(&w->state) % 20 == 0)
		nanosleep(&(struct timespec){ 0, 500000 }, NULL);
}

static int call(struct worker *w, size_t length)
{
	int other = w->server->calls[vapp_draw(&w->state) % (uint64_t)w->server->n_calls], n;

	if (w->downstream[other] < 0)
		w->downstream[other] = vapp_connect(&w->app->servers[other]);
	if (w->downstream[other] < 0 ||
	    vapp_send(w->downstream[other], "12345678", 8, vapp_draw(&w->state) % 3 == 0 ? 2 : 1))
		die("vapp: call");
	n = vapp_receive(w->downstream[other], w->reply);
	if (n < 0 || length + (size_t)n + 4 > MESSAGE_MAX)
		die("vapp: reply");
	memcpy(w->path + length, w->reply, (size_t)n);
	return n;
}

/* What the server does for a request, and its reply. */
static void work(struct worker *w, int fd)
{
	uint64_t n_calls = w->server->n_calls ? vapp_draw(&w->state) % (CALLS_MOST + 1) : 0;
	size_t length = strlen(w->server->name);

	memcpy(w->path, w->server->name, length);
	compute(w);
	if (n_calls)
		w->path[length++] = '(';
	for (uint64_t i = 0; i < n_calls; i++) {
		if (i)
			w->path[length++] = ' ';
		length += (size_t)call(w, length);
		compute(w);
	}
	if (n_calls)
		w->path[length++] = ')';
	vapp_send(fd, w->path, (uint32_t)length, vapp_draw(&w->state) % 3 == 0 ? 2 : 1);
}

static struct worker *make_worker(const struct vapp *app, const struct vapp_server *server, int number)
{
	struct worker *w = calloc(1, sizeof *w);

	if (!w)
		die("vapp: memory");
	w->app = app;
	w->server = server;
	w->state = app->seed ^ (uint64_t)number << 32 ^ server->port;
	for (int i = 0; i < SERVERS_MAX; i++)
		w->downstream[i] = -1;
	return w;
}

static void start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		die("vapp: thread");
	pthread_detach(thread);
}

static void *serve_connection(void *worker)
{
	struct worker *w = worker;
	static __thread char request[MESSAGE_MAX];

	while (vapp_receive(w->fd, request) >= 0)
		work(w, w->fd);
	close(w->fd);
	for (int i = 0; i < SERVERS_MAX; i++)
		if (w->downstream[i] >= 0)
			close(w->downstream[i]);
	free(w);
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
		die("vapp: queue");
	queue.fds[(queue.first + queue.n++) % QUEUE_MAX] = fd;
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

/* The dispatcher: a client sends its next request only after the reply, so a connection is in the queue once at most.
 */
static void dispatch(const struct vapp_server *server)
{
	static char request[MESSAGE_MAX];
	int poll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = server->listener };

	if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, server->listener, &event))
		die("vapp: epoll");
	for (;;) {
		int fd;

		if (epoll_wait(poll, &event, 1, -1) != 1)
			continue;
		fd = event.data.fd;
		if (fd == server->listener) {
			fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
			event = (struct epoll_event){ .events = EPOLLIN, .data.fd = fd };
			if (fd >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event))
				die("vapp: epoll");
		} else if (vapp_receive(fd, request) >= 0) {
			enqueue(fd);
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
	if (app->model == VAPP_DISPATCHER) {
		for (int i = 0; i < app->n_workers; i++)
			start(take_requests, make_worker(app, server, i));
		dispatch(server);
	}
	for (int i = 0;; i++) {
		struct worker *w = make_worker(app, server, i);

		w->fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (w->fd < 0)
			die("vapp: accept");
		start(serve_connection, w);
	}
}
