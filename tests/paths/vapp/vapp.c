/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vapp TOPOLOGY TRUTH [--model workers|dispatcher] [--sessions N] [--requests N] [--workers N] [--seed N] [--attach]
 *
 * Starts each server of the topology as a process, and then the clients; ends when all requests are done. Ports are the
 * kernel's choice. A line of the topology is a server and whom it may call: "front1 middle1 middle2"; one that begins
 * with "*" is called by clients. With --attach, it says "ready", and the clients begin once a line is read from
 * standard input.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vapp.h"

static struct vapp app = { .n_workers = 8, .n_sessions = 10, .n_requests = 20, .seed = 1 };

static int server_called(const char *name)
{
	for (int i = 0; i < app.n_servers; i++)
		if (!strcmp(app.servers[i].name, name))
			return i;
	if (app.n_servers == SERVERS_MAX || strlen(name) > NAME_MAX_BYTES) {
		fprintf(stderr, "vapp: too many servers, or too long a name: %s\n", name);
		exit(2);
	}
	strcpy(app.servers[app.n_servers].name, name);
	return app.n_servers++;
}

static void read_topology(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	if (!f) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof line, f)) {
		char *rest = line, *word = strsep(&rest, " \n");
		int is_entry = *word == '*', server;

		if (!*word || *word == '#')
			continue;
		server = server_called(word + is_entry);
		app.servers[server].is_entry = is_entry;
		while ((word = strsep(&rest, " \n")))
			if (*word)
				app.servers[server].calls[app.servers[server].n_calls++] = server_called(word);
	}
	fclose(f);
}

static void listen_all(void)
{
	for (int i = 0; i < app.n_servers; i++) {
		struct sockaddr_in own = { .sin_family = AF_INET };
		socklen_t size = sizeof own;
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) || listen(fd, 1024) ||
		    getsockname(fd, (struct sockaddr *)&own, &size)) {
			perror("vapp: listen");
			exit(1);
		}
		app.servers[i].listener = fd;
		app.servers[i].port = ntohs(own.sin_port);
	}
}

static void read_options(int argc, char **argv)
{
	for (int i = 3; i + 1 < argc; i += 2) {
		const char *name = argv[i], *value = argv[i + 1];

		if (!strcmp(name, "--model"))
			app.model = strcmp(value, "dispatcher") ? VAPP_WORKERS : VAPP_DISPATCHER;
		else if (!strcmp(name, "--sessions"))
			app.n_sessions = atoi(value);
		else if (!strcmp(name, "--requests"))
			app.n_requests = atoi(value);
		else if (!strcmp(name, "--workers"))
			app.n_workers = atoi(value);
		else if (!strcmp(name, "--seed"))
			app.seed = strtoull(value, NULL, 10);
		else
			fprintf(stderr, "vapp: what is %s?\n", name);
	}
}

int main(int argc, char **argv)
{
	pid_t servers[SERVERS_MAX];
	int is_attached = argc > 3 && !strcmp(argv[argc - 1], "--attach"), ret;

	if (argc < 3) {
		fprintf(stderr, "usage: vapp TOPOLOGY TRUTH [OPTIONS]\n");
		return 2;
	}
	app.truth = argv[2];
	read_topology(argv[1]);
	read_options(argc - is_attached, argv);
	listen_all();
	for (int i = 0; i < app.n_servers; i++) {
		servers[i] = fork();
		if (!servers[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			vapp_serve(&app, i);
		}
	}
	if (is_attached) {
		puts("ready");
		fflush(stdout);
		while ((ret = getchar()) != '\n' && ret != EOF)
			;
	}
	ret = vapp_load(&app);
	for (int i = 0; i < app.n_servers; i++)
		kill(servers[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return ret ? 1 : 0;
}
