/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An event loop with a blocking call. One thread serves 32 clients (threads, each with a pair of sockets); a request in
 * four needs an answer of a name server, for which the loop waits. (That is a process of its own, data_node 3, which is
 * not recorded.)
 *
 * The knot: the loop and the network. The longest waits are the clients' for the loop. Remedy: async=1, the answer is
 * an event like others.
 *
 * With sleep=1 the call sleeps instead, which no recording can tell from having nothing to do. The loop and its clients
 * look like a background knot; the report has to name the sleep. Remedy: async=1, no sleep.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "planted.h"

#define N 32
#define ASK_EVERY 4
#define ANSWER_NS (3 * MS) /* data_node 3 */
#define REQUEST_NS (300 * US)

static int clients[N][2]; /* client's end, loop's end */
static uint64_t sent_ns[N];
static int names = -1;
static long is_async, sleeps;

static void *be_client(void *arg)
{
	int s = clients[(intptr_t)arg][0];
	int request = (int)(intptr_t)arg, reply;

	for (; planted_goes_on(); request++) {
		if (write(s, &request, sizeof request) != sizeof request ||
		    read(s, &reply, sizeof reply) != sizeof reply)
			planted_fail("client");
	}
	shutdown(s, SHUT_WR);
	return NULL;
}

static void reply(int client)
{
	if (write(clients[client][1], &client, sizeof client) != sizeof client)
		planted_fail("reply");
	planted_done(1);
}

static void take_answer(void)
{
	int client;

	if (recv(names, &client, sizeof client, 0) != sizeof client || client < 0 || client >= N)
		planted_fail("recv");
	planted_took(ANSWER_NS, sent_ns[client]);
	reply(client);
}

/* 0 when the client has ended. */
static int serve(int client)
{
	int request;

	if (read(clients[client][1], &request, sizeof request) != sizeof request)
		return 0;
	planted_work(REQUEST_NS);
	if (request % ASK_EVERY || sleeps) {
		if (request % ASK_EVERY == 0 && !is_async)
			planted_sleep(ANSWER_NS);
		reply(client);
	} else {
		sent_ns[client] = planted_now();
		if (send(names, &client, sizeof client, 0) != sizeof client)
			planted_fail("send");
		if (!is_async)
			take_answer();
	}
	return 1;
}

static void *loop(void *arg)
{
	int events = epoll_create1(EPOLL_CLOEXEC), n_open = N;
	struct epoll_event e = { .events = EPOLLIN };

	for (e.data.u32 = 0; e.data.u32 < N; e.data.u32++)
		epoll_ctl(events, EPOLL_CTL_ADD, clients[e.data.u32][1], &e);
	if (is_async)
		epoll_ctl(events, EPOLL_CTL_ADD, names, &e);
	while (n_open) {
		struct epoll_event ready[N + 1];
		int n = epoll_wait(events, ready, N + 1, -1);

		for (int i = 0; i < n; i++) {
			if (ready[i].data.u32 == N) {
				take_answer();
			} else if (!serve((int)ready[i].data.u32)) {
				epoll_ctl(events, EPOLL_CTL_DEL, clients[ready[i].data.u32][1], NULL);
				n_open--;
			}
		}
	}
	close(events);
	return arg;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7777) };
	pthread_t threads[N], server;

	planted_start(argc, argv);
	is_async = planted_option("async", 0);
	sleeps = planted_option("sleep", 0);
	names = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (argc < 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
		return 2;
	if (connect(names, (struct sockaddr *)&address, sizeof address))
		planted_fail(argv[1]);
	for (long i = 0; i < N; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, clients[i]))
			planted_fail("socketpair");
	server = planted_thread("server", loop, NULL);
	for (long i = 0; i < N; i++) {
		char name[16];

		snprintf(name, sizeof name, "client-%ld", i);
		threads[i] = planted_thread(name, be_client, (void *)(intptr_t)i);
	}
	for (int i = 0; i < N; i++)
		planted_join(threads[i]);
	planted_join(server);
	return planted_finish();
}
