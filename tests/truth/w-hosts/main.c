/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hosts store READY: serves one front at port 7000, and makes the file READY when one can connect.
 * hosts front ADDRESS [REQUESTS [SEED]] */
#include "hosts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7000

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, TRUTH_WAIT },
	[PARSE] = { "parse_request", REQUEST, 0 },
	[FRONT_WAIT] = { "read", REQUEST, TRUTH_WAIT },
	[LOOK_UP] = { "look_up", FRONT_WAIT, TRUTH_BLAME },
	[REBUILD] = { "rebuild_page", FRONT_WAIT, TRUTH_BLAME },
	[NANOSLEEP] = { "nanosleep", REBUILD, TRUTH_PLANTED | TRUTH_BLAME },
};

static int die(const char *what)
{
	perror(what);
	return 1;
}

static int store(const char *ready)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), front;
	FILE *f;

	if (listener < 0 || bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 1))
		return die("hosts: listen");
	f = fopen(ready, "w");
	if (!f || fclose(f))
		return die(ready);
	front = accept(listener, NULL, NULL);
	if (front < 0)
		return die("hosts: accept");
	run_store(front);
	return 0;
}

/* What the store did counts while the request waited for it. */
static void add_job(struct truth *t, struct job *job)
{
	const struct plant_log looked_up = { 1, 1, &job->told.look_up }, rebuilt = { 1, 1, &job->told.rebuild };
	struct plant_time held = plant_log_overlap(&rebuilt, job->from, job->to),
			  looking = plant_log_overlap(&looked_up, job->from, job->to);

	job->took[REBUILD] = job->took[NANOSLEEP] = plant_held(held, job->interruptions);
	job->took[LOOK_UP] = plant_held(looking, job->interruptions);
	held.low += looking.low;
	job->took[FRONT_WAIT] = plant_wait(job->to - job->from, held, job->interruptions);
	truth_add(t, job->took);
}

static int front(const char *address, struct plant_options *o)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct truth_answer answer = { .interval = "request" };
	struct job *jobs = calloc(o->n, sizeof *jobs);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct truth truth;

	if (!jobs || fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    connect(fd, (struct sockaddr *)&to, sizeof to))
		return die("hosts: connect");
	for (size_t i = 0; i < o->n; i++) {
		jobs[i].id = i + 1;
		jobs[i].ns[PARSE] = plant_uniform(&o->random, 50000, 350000);
		jobs[i].ns[LOOK_UP] = plant_uniform(&o->random, 100000, 400000);
		jobs[i].ns[NANOSLEEP] = plant_uniform(&o->random, 1000000, 20000000);
	}
	run_front(jobs, o->n, fd);
	close(fd);
	truth_open(&truth, N_FACTORS, columns, o->n);
	for (size_t i = 0; i < o->n; i++)
		add_job(&truth, &jobs[i]);
	free(jobs);
	return truth_write(&truth, &answer);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc > 2 ? argc - 2 : argc, argc > 2 ? argv + 2 : argv, 150);

	if (argc > 2 && !strcmp(argv[1], "store"))
		return store(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "front"))
		return front(argv[2], &o);
	fputs("usage: hosts store READY | hosts front ADDRESS [REQUESTS [SEED]]\n", stderr);
	return 2;
}
