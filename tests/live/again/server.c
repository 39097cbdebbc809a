/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that wait for another thread over two connections of TCP. With each SIGUSR1 both are made anew: the same
 * descriptors, other ports. Prints a line whenever they stand. Ends with SIGTERM. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N_CONNECTIONS 2

struct connection {
	int asking, answering;
};

static atomic_int is_over, n_changes;
static struct connection connections[N_CONNECTIONS];

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static struct connection connect_ends(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0), to;

	if (listener < 0 || from < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &bytes) || connect(from, (struct sockaddr *)&at, sizeof at) ||
	    (to = accept(listener, NULL, NULL)) < 0 || close(listener))
		fail("connection");
	return (struct connection){ from, to };
}

static void connect_all(void)
{
	for (int i = 0; i < N_CONNECTIONS; i++)
		connections[i] = connect_ends();
	printf("%d %d\n", connections[0].answering, connections[1].answering);
	fflush(stdout);
}

static void ask(int fd, uint64_t id)
{
	uint64_t answer;

	if (write(fd, &id, sizeof id) != sizeof id || read(fd, &answer, sizeof answer) != sizeof answer || answer != id)
		fail("answer");
}

__attribute__((noinline)) void handle_request(uint64_t id)
{
	for (int i = 0; i < N_CONNECTIONS; i++)
		ask(connections[i].asking, id);
}

__attribute__((noinline)) static void prepare_answer(void)
{
	const struct timespec t = { 0, 2000000 };

	nanosleep(&t, NULL);
}

static void *answer_all(void *arg)
{
	uint64_t id;

	for (;;)
		for (int i = 0; i < N_CONNECTIONS; i++) {
			if (read(connections[i].answering, &id, sizeof id) != sizeof id)
				return arg;
			prepare_answer();
			if (write(connections[i].answering, &id, sizeof id) != sizeof id)
				fail("write");
		}
}

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		n_changes++;
	else
		is_over = 1;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	uint64_t id = 0;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!is_over) {
		int changes = n_changes;
		pthread_t answering;

		connect_all();
		if (pthread_create(&answering, NULL, answer_all, NULL))
			fail("pthread_create");
		while (!is_over && n_changes == changes)
			handle_request(++id);
		for (int i = 0; i < N_CONNECTIONS; i++)
			shutdown(connections[i].asking, SHUT_RDWR);
		pthread_join(answering, NULL);
		for (int i = 0; i < N_CONNECTIONS; i++) {
			close(connections[i].asking);
			close(connections[i].answering);
		}
	}
	return 0;
}
