/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vapp.h"

#define PIPELINED_MOST 4

struct session {
	const struct vapp *app;
	uint64_t state;
	int fds[SERVERS_MAX], n_requests[SERVERS_MAX], ports[SERVERS_MAX]; /* by server; fd -1: not connected */
	int failed;
	FILE *truth;
	char reply[MESSAGE_MAX];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int choose_entry(struct session *s)
{
	int entry;

	do
		entry = (int)(vapp_draw(&s->state) % (uint64_t)s->app->n_servers);
	while (!s->app->servers[entry].is_entry);
	return entry;
}

static int open_connection(struct session *s, int server)
{
	if (s->fds[server] >= 0)
		return 0;
	s->fds[server] = vapp_connect(&s->app->servers[server]);
	s->ports[server] = vapp_port(s->fds[server]);
	return s->fds[server] < 0 ? -1 : 0;
}

/* As many requests as that, all sent before the first reply is received. */
static int request(struct session *s, int n_at_once)
{
	int server = choose_entry(s), n;
	uint64_t began[PIPELINED_MOST];

	if (open_connection(s, server))
		return -1;
	for (int i = 0; i < n_at_once; i++) {
		began[i] = now_ns();
		if (vapp_send(s->fds[server], "12345678", 8,
			      s->app->model != VAPP_PIPELINE && vapp_draw(&s->state) % 3 == 0 ? 2 : 1))
			return -1;
	}
	for (int i = 0; i < n_at_once; i++) {
		n = vapp_receive(s->fds[server], s->reply);
		if (n < 0)
			return -1;
		fprintf(s->truth, "request %d %d %llu %.*s\n", s->ports[server], s->n_requests[server]++,
			(unsigned long long)(now_ns() - began[i]), n, s->reply);
	}
	nanosleep(&(struct timespec){ 0, (long)(vapp_draw(&s->state) % 2000000) }, NULL);
	return 0;
}

static void *run_session(void *session)
{
	struct session *s = session;

	for (int i = 0; i < SERVERS_MAX; i++)
		s->fds[i] = -1;
	for (int i = 0, n; i < s->app->n_requests && !s->failed; i += n) {
		n = s->app->model == VAPP_PIPELINE ? 1 + (int)(vapp_draw(&s->state) % PIPELINED_MOST) : 1;
		n = n < s->app->n_requests - i ? n : s->app->n_requests - i;
		s->failed = request(s, n);
	}
	for (int i = 0; i < SERVERS_MAX; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	return NULL;
}

int vapp_load(const struct vapp *app)
{
	struct session *sessions = calloc((size_t)app->n_sessions, sizeof *sessions);
	pthread_t *threads = calloc((size_t)app->n_sessions, sizeof *threads);
	FILE *truth = fopen(app->truth, "w");
	int failed = 0;

	prctl(PR_SET_NAME, "client");
	if (!sessions || !threads || !truth)
		return -1;
	for (int i = 0; i < app->n_sessions; i++) {
		sessions[i].app = app;
		sessions[i].truth = truth;
		sessions[i].state = app->seed * 1000003 + (uint64_t)i;
		if (pthread_create(&threads[i], NULL, run_session, &sessions[i]))
			return -1;
	}
	for (int i = 0; i < app->n_sessions; i++) {
		pthread_join(threads[i], NULL);
		failed |= sessions[i].failed;
	}
	free(sessions);
	free(threads);
	return fclose(truth) || failed ? -1 : 0;
}
