/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tiers.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_request", -1, TRUTH_WAIT },
	[PARSE] = { "parse_request", REQUEST, 0 },
	[RENDER] = { "render", REQUEST, 0 },
	[FRONT_WAIT] = { "recv", REQUEST, TRUTH_WAIT },
	[PRICE] = { "price_order", FRONT_WAIT, TRUTH_BLAME },
	[ORDERS_WAIT] = { "read", FRONT_WAIT, TRUTH_BLAME | TRUTH_WAIT },
	[LOOK_UP] = { "look_up", ORDERS_WAIT, TRUTH_BLAME },
	[REBUILD] = { "rebuild_page", ORDERS_WAIT, TRUTH_BLAME },
	[NANOSLEEP] = { "nanosleep", REBUILD, TRUTH_PLANTED | TRUTH_BLAME },
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

void say(int connection, uint64_t number)
{
	if (send(connection, &number, sizeof number, MSG_NOSIGNAL) != sizeof number)
		die("tiers: send");
}

static int listen_at(struct sockaddr_in *own)
{
	socklen_t n_bytes = sizeof *own;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*own = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)own, sizeof *own) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)own, &n_bytes))
		die("tiers: listen");
	return fd;
}

static int connect_to(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof *to))
		die("tiers: connect");
	return fd;
}

/* Which port is whose: what the tiers are called by rests on it. */
static void write_ports(const struct sockaddr_in at[N_SERVERS])
{
	const char *path = getenv("TRUTH_PORTS");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f && (fprintf(f, "{\"orders\": %d, \"store\": %d}\n", ntohs(at[ORDERS].sin_port),
			  ntohs(at[STORE].sin_port)) < 0 ||
		  fclose(f)))
		die(path);
}

/* What each request's functions took, in ns: at least, at most. */
static void write_visits(const struct shared *s)
{
	const char *path = getenv("TRUTH_VISITS");
	FILE *f = path ? fopen(path, "w") : NULL;
	const struct {
		const char *name;
		const struct plant_log *log;
	} functions[] = { { "price_order", &s->price }, { "look_up", &s->look_up }, { "rebuild_page", &s->rebuild } };

	for (size_t i = 0; f && i < s->n; i++) {
		fputs(i ? ",\n{" : "[\n{", f);
		for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
			const struct plant_stretch *x = &functions[k].log->stretches[i];

			fprintf(f, "%s\"%s\": [%.0f, %.0f]", k ? ", " : "", functions[k].name,
				(double)(x->to - x->from) / plant_ticks_per_ns,
				(double)(x->after - x->before) / plant_ticks_per_ns);
		}
		fputs("}", f);
	}
	if (f && (fputs("\n]\n", f) < 0 || fclose(f)))
		die(path);
}

static struct shared *make_shared(struct plant_options *o)
{
	struct shared *s = plant_share(sizeof *s);
	struct plant_log *logs[] = { &s->price, &s->look_up, &s->rebuild };

	s->n = o->n;
	s->jobs = plant_share(o->n * sizeof *s->jobs);
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		logs[i]->capacity = o->n;
		logs[i]->stretches = plant_share(o->n * sizeof *logs[i]->stretches);
	}
	for (size_t i = 0; i < o->n; i++) {
		struct job *job = &s->jobs[i];

		job->id = i + 1;
		job->ns[PARSE] = plant_uniform(&o->random, 50000, 350000);
		job->ns[RENDER] = plant_uniform(&o->random, 50000, 350000);
		job->ns[PRICE] = plant_uniform(&o->random, 100000, 600000);
		job->ns[LOOK_UP] = plant_uniform(&o->random, 100000, 400000);
		job->ns[NANOSLEEP] = plant_uniform(&o->random, 1000000, 20000000);
	}
	return s;
}

/* What the others did counts while the request waited for it. */
static void add_job(struct truth *t, const struct shared *s, struct job *job)
{
	uint64_t from = job->orders_from > job->front_from ? job->orders_from : job->front_from;
	uint64_t to = job->orders_to < job->front_to ? job->orders_to : job->front_to;
	long interruptions = job->front_interruptions + job->orders_interruptions;
	struct plant_time priced, looked_up, rebuilt, held;

	to = to > from ? to : from;

	priced = plant_log_overlap(&s->price, job->front_from, job->front_to);
	looked_up = plant_log_overlap(&s->look_up, from, to);
	rebuilt = plant_log_overlap(&s->rebuild, from, to);
	job->took[PRICE] = plant_held(priced, job->front_interruptions);
	job->took[LOOK_UP] = plant_held(looked_up, interruptions);
	job->took[REBUILD] = job->took[NANOSLEEP] = plant_held(rebuilt, interruptions);
	held = rebuilt;
	held.low += looked_up.low;
	job->took[ORDERS_WAIT] = plant_wait(to - from, held, interruptions);
	held.low += priced.low;
	job->took[FRONT_WAIT] = plant_wait(job->front_to - job->front_from, held, job->front_interruptions);
	truth_add(t, job->took);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 150);
	struct truth_answer answer = { .interval = "request" };
	struct shared *s = make_shared(&o);
	struct sockaddr_in at[N_SERVERS];
	int listeners[N_SERVERS] = { listen_at(&at[ORDERS]), listen_at(&at[STORE]) }, front, status, failed = 0;
	struct truth truth;
	pid_t pids[N_SERVERS];

	for (int i = 0; i < N_SERVERS; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (pids[i])
			continue;
		if (i == STORE)
			run_store(s, accept(listeners[STORE], NULL, NULL));
		else
			run_orders(s, accept(listeners[ORDERS], NULL, NULL), connect_to(&at[STORE]));
		exit(0);
	}
	write_ports(at);
	front = connect_to(&at[ORDERS]);
	run_front(s, front);
	close(front); /* the end of each connection ends the next process */
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++)
		add_job(&truth, s, &s->jobs[i]);
	for (int i = 0; i < N_SERVERS; i++)
		failed |= waitpid(pids[i], &status, 0) != pids[i] || status;
	write_visits(s);
	return truth_write(&truth, &answer) || failed;
}
