/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shop PORT THREADS: serves as many connections at a time as threads, until it is ended by a signal. */
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shop.h"

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	pthread_t thread;

	if (argc != 3) {
		fputs("usage: shop PORT THREADS\n", stderr);
		return 2;
	}
	at.sin_port = htons((unsigned short)atoi(argv[1]));
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
	    bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 256) ||
	    mysql_library_init(0, NULL, NULL)) {
		perror("shop");
		return 1;
	}
	for (int i = 0; i < atoi(argv[2]); i++)
		if (pthread_create(&thread, NULL, serve_connections, &listener)) {
			fputs("shop: cannot start a thread\n", stderr);
			return 1;
		}
	for (;;)
		pause();
}
