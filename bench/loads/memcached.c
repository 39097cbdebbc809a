/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_memcached_load PORT REQUESTS: keeps 16 connections to a memcached on this machine busy, one SET to nine GETs of
 * 64 bytes, and ends when that many were answered. Exit status 1: the server refuses or says nothing. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 16
#define SETS_EVERY 10
#define VALUE_BYTES 64
#define PATIENCE_MS 5000

static int connect_to(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) ||
	    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) {
		perror("connect");
		exit(1);
	}
	return s;
}

static void send_request(int s, long number)
{
	char text[256], value[VALUE_BYTES + 1];
	int key = (int)(number % CONNECTIONS), n;

	memset(value, 'x', VALUE_BYTES);
	value[VALUE_BYTES] = 0;
	if (number < CONNECTIONS || number % SETS_EVERY == 0)
		n = snprintf(text, sizeof text, "set key%d 0 0 %d\r\n%s\r\n", key, VALUE_BYTES, value);
	else
		n = snprintf(text, sizeof text, "get key%d\r\n", key);
	if (write(s, text, (size_t)n) != n) {
		perror("write");
		exit(1);
	}
}

/* Answers come whole: they are short, and one at a time. */
static void take_answer(int s)
{
	char answer[512];

	if (read(s, answer, sizeof answer) <= 0) {
		perror("read");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0, sent = 0, answered = 0;
	int events = epoll_create1(0);

	if (n <= 0) {
		fprintf(stderr, "usage: bench_memcached_load PORT REQUESTS\n");
		return 2;
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		int s = connect_to(atoi(argv[1]));
		struct epoll_event e = { EPOLLIN, { .fd = s } };

		epoll_ctl(events, EPOLL_CTL_ADD, s, &e);
		send_request(s, sent++);
	}
	while (answered < sent) {
		struct epoll_event e[CONNECTIONS];
		int k = epoll_wait(events, e, CONNECTIONS, PATIENCE_MS);

		if (k <= 0) {
			fprintf(stderr, "no answer within %d ms\n", PATIENCE_MS);
			return 1;
		}
		for (int i = 0; i < k; i++) {
			take_answer(e[i].data.fd);
			answered++;
			if (sent < n)
				send_request(e[i].data.fd, sent++);
		}
	}
	return 0;
}
