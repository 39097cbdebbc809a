/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See target.h. One drain thread serves all targets, as `vprof run`'s loop does: drain, and rest 1 ms when there
 * was nothing. A trace to nothing is a link to /dev/null, so that the collector does all of its work but the disk's.
 */
#define _GNU_SOURCE
#include "bench/target.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t bench_ring_bytes;

static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vprof_collector *draining; /* under the lock */
static pthread_once_t drain_once = PTHREAD_ONCE_INIT;

static void *drain_run(void *arg)
{
	(void)arg;
	for (;;) {
		int n;

		pthread_mutex_lock(&drain_lock);
		n = draining ? vprof_collector_drain(draining) : 0;
		pthread_mutex_unlock(&drain_lock);
		if (!n)
			usleep(1000);
	}
	return NULL;
}

static void drain_start(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, drain_run, NULL) == 0)
		pthread_detach(id);
}

static void drain_set(struct vprof_collector *c)
{
	pthread_once(&drain_once, drain_start);
	pthread_mutex_lock(&drain_lock);
	while (draining && vprof_collector_drain(draining) > 0)
		;
	draining = c;
	pthread_mutex_unlock(&drain_lock);
}

int bench_dir_make(const char *parent, char *dir, size_t n_bytes)
{
	char *absolute = realpath(parent, NULL);
	int n = absolute ? snprintf(dir, n_bytes, "%s/vprof-bench-XXXXXX", absolute) : -1;

	free(absolute);
	return n < 0 || (size_t)n >= n_bytes || !mkdtemp(dir) ? -1 : 0;
}

int bench_shell(const char *dir, const char *command, char *reason)
{
	char line[4096], log[600];
	FILE *f;

	snprintf(log, sizeof(log), "%.500s/bench.log", dir);
	snprintf(line, sizeof(line), "cd '%s' && { %s\n} >'%s' 2>&1 </dev/null", dir, command, log);
	if (system(line) == 0)
		return 0;
	snprintf(reason, 512, "failed: %.400s", command);
	f = fopen(log, "r");
	if (f) {
		while (fgets(line, sizeof(line), f)) {
			line[strcspn(line, "\n")] = '\0';
			if (line[0] && (strstr(line, "error") || strstr(line, "not found") || strstr(line, "cannot")))
				snprintf(reason, 512, "%.500s", line);
		}
		fclose(f);
	}
	return -1;
}

static int trace_dir_make(const char *dir, const char *name, enum bench_sink sink, char *trace_dir, size_t n_bytes)
{
	char path[700];

	snprintf(trace_dir, n_bytes, "%.400s/%.100s.trace", dir, name);
	if (mkdir(trace_dir, 0755))
		return -1;
	snprintf(path, sizeof(path), "%.600s/records.vpt", trace_dir);
	return sink != BENCH_TO_DISK ? symlink("/dev/null", path) : 0;
}

void bench_target_start(struct bench_target *t, const char *dir, const char *name, const char *command,
			enum bench_sink sink)
{
	struct vprof_error err = { "" };
	char trace_dir[600];
	int fds[2];

	if (t->missing[0])
		return;
	if (sink != BENCH_NO_VPROF) {
		struct vprof_collector_options o = { .trace_dir = trace_dir,
						     .memory_bytes = bench_ring_bytes,
						     .sample_after = sink == BENCH_SAMPLED ? 64 : 0 };

		if (trace_dir_make(dir, name, sink, trace_dir, sizeof(trace_dir))) {
			snprintf(t->missing, sizeof(t->missing), "%.400s: %s", trace_dir, strerror(errno));
			return;
		}
		if (vprof_collector_open(&t->collector, &o, &err)) {
			snprintf(t->missing, sizeof(t->missing), "%.500s", err.message);
			return;
		}
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		snprintf(t->missing, sizeof(t->missing), "socketpair: %s", strerror(errno));
		return;
	}
	signal(SIGPIPE, SIG_IGN);
	t->pid = fork();
	if (t->pid == 0) {
		dup2(fds[1], STDIN_FILENO);
		dup2(fds[1], STDOUT_FILENO);
		if (t->collector) {
			setenv("VPROF_SHM", vprof_collector_shm(t->collector), 1);
			setenv("BENCH_PRELOAD", VPROF_LIBRARY, 1);
		}
		if (chdir(dir) == 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	t->fd = fds[0];
	if (t->pid < 0) {
		t->pid = 0;
		snprintf(t->missing, sizeof(t->missing), "fork: %s", strerror(errno));
	}
}

double bench_target_ask(struct bench_target *t, const char *request)
{
	char answer[64];
	size_t n_read = 0;
	ssize_t n;

	if (!t->pid)
		return NAN;
	drain_set(t->collector);
	if (write(t->fd, request, strlen(request)) != (ssize_t)strlen(request))
		goto dead;
	do {
		n = read(t->fd, answer + n_read, sizeof(answer) - 1 - n_read);
		if (n <= 0)
			goto dead;
		n_read += (size_t)n;
	} while (answer[n_read - 1] != '\n' && n_read < sizeof(answer) - 1);
	answer[n_read] = '\0';
	return strtod(answer, NULL);
dead:
	if (!t->missing[0])
		snprintf(t->missing, sizeof(t->missing), "it ended before it answered");
	return NAN;
}

void bench_target_stop(struct bench_target *t, struct vprof_collector_stats *stats)
{
	struct vprof_error err;
	int status;

	if (stats)
		memset(stats, 0, sizeof(*stats));
	if (t->pid) {
		close(t->fd);
		waitpid(t->pid, &status, 0);
		t->pid = 0;
	}
	drain_set(NULL);
	if (t->collector && vprof_collector_close(t->collector, stats, &err))
		fprintf(stderr, "bench: %s\n", err.message);
	t->collector = NULL;
}

void bench_series_add(struct bench_series *s, double value)
{
	if (s->n < BENCH_ROUNDS_MAX)
		s->values[s->n++] = value;
}

double bench_series_min(const struct bench_series *s)
{
	double least = NAN;

	for (int i = 0; i < s->n; i++)
		if (!isnan(s->values[i]) && !(least <= s->values[i]))
			least = s->values[i];
	return least;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	if (!n)
		return NAN;
	qsort(values, (size_t)n, sizeof(values[0]), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double bench_series_median(const struct bench_series *s)
{
	double values[BENCH_ROUNDS_MAX];
	int n = 0;

	for (int i = 0; i < s->n; i++)
		if (!isnan(s->values[i]))
			values[n++] = s->values[i];
	return median(values, n);
}

double bench_series_ratio(const struct bench_series *s, const struct bench_series *base)
{
	double values[BENCH_ROUNDS_MAX];
	int n = 0;

	for (int i = 0; i < s->n && i < base->n; i++)
		if (!isnan(s->values[i]) && base->values[i] > 0)
			values[n++] = s->values[i] / base->values[i];
	return median(values, n);
}

void bench_machine(char *text, size_t n_bytes)
{
	char line[256], model[256] = "unknown processor";
	double load = 0;
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
			snprintf(model, sizeof(model), "%.250s", strchr(line, ':') + 2);
			model[strcspn(model, "\n")] = '\0';
			break;
		}
	}
	if (f)
		fclose(f);
	if (getloadavg(&load, 1) != 1)
		load = NAN;
	snprintf(text, n_bytes, "%ld x %s, load %.1f at the start", sysconf(_SC_NPROCESSORS_ONLN), model, load);
}
