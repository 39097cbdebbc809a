/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "plant.h"

enum { REQUEST, PARSE, FRONT_WAIT, BACKEND_TIME, STORE_TIME, N_FACTORS };

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, TRUTH_WAIT },
	[PARSE] = { "parse_request", REQUEST, 0 },
	[FRONT_WAIT] = { "recv", REQUEST, TRUTH_WAIT },
	[BACKEND_TIME] = { "backend", FRONT_WAIT, TRUTH_BLAME },
	[STORE_TIME] = { "store", BACKEND_TIME, TRUTH_PLANTED | TRUTH_BLAME },
};

struct job {
	struct message message;
	uint32_t parse_ns;
	uint64_t from, to; /* readings around the wait for the reply */
	struct plant_time took[N_FACTORS];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static NOINLINE void parse_request(struct job *job)
{
	PLANT_SPIN(job->parse_ns, job->took[PARSE]);
}

static NOINLINE void handle_request(struct job *job, int backend)
{
	PLANT_CALL(job->took[PARSE], parse_request(job));
	if (send(backend, &job->message, sizeof job->message, MSG_NOSIGNAL) != sizeof job->message)
		die("front: send");
	job->from = PLANT_NOW();
	if (recv(backend, &job->message, sizeof job->message, MSG_WAITALL) != sizeof job->message)
		die("front: recv");
	job->to = PLANT_NOW();
}

static int listen_at(struct sockaddr_in *own)
{
	socklen_t n_bytes = sizeof *own;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*own = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)own, sizeof *own) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)own, &n_bytes))
		die("front: listen");
	return fd;
}

/* A tier without probes, which serves at `listener` and asks the one at `next`, if any. */
static pid_t start(int listener, int tier, const struct sockaddr_in *next)
{
	char fd[16], number[16], port[16];
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	snprintf(fd, sizeof fd, "%d", listener);
	snprintf(number, sizeof number, "%d", tier);
	snprintf(port, sizeof port, "%d", next ? ntohs(next->sin_port) : 0);
	execl("./backend", "backend", fd, number, next ? port : (char *)NULL, (char *)NULL);
	_exit(127);
}

static void write_ports(const struct sockaddr_in at[N_TIERS])
{
	const char *path = getenv("TRUTH_PORTS");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f && (fprintf(f, "{\"backend\": %d, \"store\": %d}\n", ntohs(at[BACKEND].sin_port),
			  ntohs(at[STORE].sin_port)) < 0 ||
		  fclose(f)))
		die(path);
}

/* The wait holds the backend's time, and that the store's. Messages are under way at both ends of each. */
static void add_job(struct truth *t, struct job *job)
{
	const struct message *m = &job->message;
	uint64_t store_low = m->out[STORE] - m->in[STORE], store_high = m->answered[BACKEND] - m->asked[BACKEND];
	uint64_t backend_low = m->out[BACKEND] - m->in[BACKEND];

	job->took[FRONT_WAIT].low = job->took[FRONT_WAIT].high = job->to - job->from;
	job->took[BACKEND_TIME].low = backend_low < job->to - job->from ? backend_low : job->to - job->from;
	job->took[BACKEND_TIME].high = job->to - job->from;
	job->took[STORE_TIME].low = store_low;
	job->took[STORE_TIME].high = store_high;
	truth_add(t, job->took);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 150);
	struct truth_answer answer = { .interval = "request" };
	struct job *jobs = calloc(o.n, sizeof *jobs);
	struct sockaddr_in at[N_TIERS];
	int listeners[N_TIERS] = { listen_at(&at[BACKEND]), listen_at(&at[STORE]) }, status, failed = 0, front;
	pid_t pids[N_TIERS] = { start(listeners[BACKEND], BACKEND, &at[STORE]), start(listeners[STORE], STORE, NULL) };
	struct truth truth;

	if (!jobs)
		die("front");
	for (size_t i = 0; i < o.n; i++) {
		jobs[i].message.id = i + 1;
		jobs[i].parse_ns = plant_uniform(&o.random, 50000, 350000);
		jobs[i].message.ns[BACKEND] = plant_uniform(&o.random, 500000, 6500000);
		jobs[i].message.ns[STORE] = plant_uniform(&o.random, 1000000, 13000000);
	}
	write_ports(at);
	front = socket(AF_INET, SOCK_STREAM, 0);
	if (front < 0 || connect(front, (const struct sockaddr *)&at[BACKEND], sizeof at[BACKEND]))
		die("front: connect");
	for (size_t i = 0; i < o.n; i++)
		PLANT_CALL(jobs[i].took[REQUEST], handle_request(&jobs[i], front));
	close(front);
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++)
		add_job(&truth, &jobs[i]);
	for (int i = 0; i < N_TIERS; i++)
		failed |= waitpid(pids[i], &status, 0) != pids[i] || status;
	return truth_write(&truth, &answer) || failed;
}
