/* Sockets and threads: an accept loop, and a thread for each connection that hands on its lines. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

int net_listen(uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(*port)};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&a, &n))
		return -1;
	*port = ntohs(a.sin_port);
	return fd;
}

int net_send(struct connection *conn, const char *text, size_t n)
{
	while (n) {
		ssize_t sent = send(conn->fd, text, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return -1;
		text += sent;
		n -= (size_t)sent;
	}
	return 0;
}

/* Handles the whole lines in conn->in, keeps the rest. */
static int handle_lines(struct connection *conn)
{
	char *line = conn->in, *end = conn->in + conn->n_in, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		*newline = 0;
		if (handle_request(conn, line))
			return -1;
		line = newline + 1;
	}
	conn->n_in = (size_t)(end - line);
	memmove(conn->in, line, conn->n_in);
	return conn->n_in == sizeof conn->in; /* a line that never ends */
}

static void *connection_main(void *arg)
{
	struct connection *conn = arg;
	ssize_t n;

	while ((n = recv(conn->fd, conn->in + conn->n_in, sizeof conn->in - conn->n_in, 0)) > 0) {
		conn->n_in += (size_t)n;
		if (handle_lines(conn))
			break;
	}
	shutdown(conn->fd, SHUT_RDWR);
	return NULL;
}

static struct connection *start_connection(int fd)
{
	struct connection *conn = calloc(1, sizeof *conn);
	int one = 1;

	if (!conn)
		return NULL;
	conn->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (pthread_create(&conn->thread, NULL, connection_main, conn)) {
		free(conn);
		return NULL;
	}
	return conn;
}

void net_accept_loop(int listen_fd, const int *stop)
{
	struct connection *all = NULL, *conn;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			continue; /* also when a signal shut the socket down */
		conn = start_connection(fd);
		if (!conn) {
			close(fd);
			continue;
		}
		conn->next = all;
		all = conn;
	}
	while ((conn = all)) {
		all = conn->next;
		shutdown(conn->fd, SHUT_RDWR);
		pthread_join(conn->thread, NULL);
		close(conn->fd);
		free(conn);
	}
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
