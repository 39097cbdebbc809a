#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

#define ORDERS_AT_START 4000

static int stop, listen_fd = -1;

static void on_signal(int signal)
{
	(void)signal;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	shutdown(listen_fd, SHUT_RDWR); /* ends the accept, also one that has not begun yet */
}

/* Written whole or not at all: the load generator waits for it. */
static int write_port(const char *folder, uint16_t port)
{
	char path[512], final[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/port.new", folder);
	snprintf(final, sizeof final, "%s/port", folder);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fprintf(f, "%u\n", port);
	return fclose(f) || rename(path, final);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "data";
	struct sigaction action = {.sa_handler = on_signal};
	uint16_t port = 0;

	if (argc > 2) {
		fputs("usage: orderserver [DATA-FOLDER]\n", stderr);
		return 2;
	}
	if (mkdir(folder, 0777) && errno != EEXIST) {
		fprintf(stderr, "cannot make %s: %s\n", folder, strerror(errno));
		return 1;
	}
	listen_fd = net_listen(&port);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (listen_fd < 0 || store_open(ORDERS_AT_START) || journal_open(folder) || write_port(folder, port)) {
		fprintf(stderr, "cannot start: %s\n", strerror(errno));
		return 1;
	}
	net_accept_loop(listen_fd, &stop);
	close(listen_fd);
	journal_close();
	store_close();
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
