/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vapp TOPOLOGY TRUTH [--model MODEL] [--sessions N] [--requests N] [--workers N] [--seed N]
 * [--attach]
 *
 * Starts each server of the topology as a process, and then the clients; ends when all requests are done. Ports are the
 * kernel's choice. A line of the topology is a server and whom it may call: "front1 middle1 middle2"; one that begins
 * with "*" is called by clients. With --attach, it tells the servers' processes and "ready", and the clients begin once
 * a line is read from standard input. With --netns PREFIX, server k (from 0) lives in the network namespace PREFIXk at
 * 10.99.0.(k + 1), and the clients in PREFIXc.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vapp.h"

static const char *const models[] = {
	[VAPP_WORKERS] = "workers",  [VAPP_DISPATCHER] = "dispatcher", [VAPP_LOOP] = "loop",
	[VAPP_BATCHES] = "batches",  [VAPP_HANDOFF] = "handoff",       [VAPP_STAGES] = "stages",
	[VAPP_PIPELINE] = "pipeline"
};
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

static void enter(const char *name)
{
	char path[256];
	int fd;

	if (!app.netns)
		return;
	snprintf(path, sizeof path, "/run/netns/%s%s", app.netns, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void enter_server(int number)
{
	char name[16];

	snprintf(name, sizeof name, "%d", number);
	enter(name);
}

static void listen_all(void)
{
	for (int i = 0; i < app.n_servers; i++) {
		struct sockaddr_in own = { .sin_family = AF_INET };
		socklen_t size = sizeof own;
		int fd;

		enter_server(i);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		own.sin_addr.s_addr = htonl(app.netns ? 0x0a630001 + (uint32_t)i : INADDR_LOOPBACK);
		if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) || listen(fd, 1024) ||
		    getsockname(fd, (struct sockaddr *)&own, &size)) {
			perror("vapp: listen");
			exit(1);
		}
		app.servers[i].listener = fd;
		app.servers[i].address = own.sin_addr.s_addr;
		app.servers[i].port = ntohs(own.sin_port);
	}
}

static enum vapp_model model_called(const char *name)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (!strcmp(name, models[i]))
			return (enum vapp_model)i;
	fprintf(stderr, "vapp: no model is called %s\n", name);
	exit(2);
}

static void read_options(int argc, char **argv)
{
	for (int i = 3; i + 1 < argc; i += 2) {
		const char *name = argv[i], *value = argv[i + 1];

		if (!strcmp(name, "--model"))
			app.model = model_called(value);
		else if (!strcmp(name, "--sessions"))
			app.n_sessions = atoi(value);
		else if (!strcmp(name, "--requests"))
			app.n_requests = atoi(value);
		else if (!strcmp(name, "--workers"))
			app.n_workers = atoi(value);
		else if (!strcmp(name, "--netns"))
			app.netns = value;
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
			enter_server(i);
			vapp_serve(&app, i);
		}
		if (is_attached)
			printf("server %s %ld\n", app.servers[i].name, (long)servers[i]);
	}
	if (is_attached) {
		puts("ready");
		fflush(stdout);
		while ((ret = getchar()) != '\n' && ret != EOF)
			;
	}
	enter("c");
	ret = vapp_load(&app);
	for (int i = 0; i < app.n_servers; i++)
		kill(servers[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return ret ? 1 : 0;
}
