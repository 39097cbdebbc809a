/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A runtime test is one program: without arguments it opens a collector, runs VPROF_TEST_TARGET (itself, or its like
 * without a sanitizer, whose runtime would have to be loaded before libvprof.so) under libvprof.so, and checks the
 * trace; with "target" it is the target. The collector's process runs inert probes.
 *
 * Cross-built, the tests run under qemu-user, which the kernel need not know: VPROF_TEST_EMULATOR is put before every
 * command that starts a target (SESSION_EMULATED then is 1). */
#ifndef VPROF_TESTS_RUNTIME_SESSION_H
#define VPROF_TESTS_RUNTIME_SESSION_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/files.h"
#include "trace/collector.h"
#include "trace/reader.h"
#include "trace/shm.h"

#ifdef VPROF_TEST_EMULATOR
#define SESSION_EMULATED 1
#else
#define SESSION_EMULATED 0
#define VPROF_TEST_EMULATOR ""
#endif
#ifdef VPROF_TEST_STATIC
#define SESSION_STATIC 1 /* the target is linked statically */
#else
#define SESSION_STATIC 0
#endif
#define SESSION_ARGS 8
#define SESSION_SKIPPED 77 /* what the target returns that cannot do all that it should: no failure */
#define SESSION_SKIP(what, why) printf("skipped: " what ": under qemu-user " why "\n")

static int n_failed;
static double session_budget;	      /* share of a processor that recording may take; 0: no limit */
static uint32_t session_sample_after; /* calls before hot functions are sampled; 0: every call is recorded */
/* The collector drains only when the target stops itself (SIGSTOP), and then all that there is: the ring is as full as
 * the target makes it. */
static int session_drains_at_stops;
static void (*session_adjust)(const char *shm_path); /* what the target is to find, before it starts */

#define CHECK(condition, ...)                                                                                          \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                         \
			printf(__VA_ARGS__);                                                                           \
			printf("\n");                                                                                  \
			n_failed++;                                                                                    \
		}                                                                                                      \
	} while (0)

struct session {
	struct vprof_collector_stats stats;
	struct vprof_trace *trace;
	int status; /* of the target */
	char dir[64];
};

/* What executes VPROF_TEST_TARGET with args (argv[0] too, at most SESSION_ARGS - 4 and the null): fills argv and
 * returns the path. Fit for the child of vfork after a call in its parent. */
static inline const char *session_command(char *const args[], char *argv[SESSION_ARGS])
{
	static char path[512];
	ssize_t n = readlink(VPROF_TEST_TARGET, path, sizeof(path) - 1);
	int at = 0;

	if (!SESSION_EMULATED) {
		do
			argv[at] = args[at];
		while (args[at++]);
		return VPROF_TEST_TARGET;
	}
	if (n < 0)
		n = snprintf(path, sizeof(path), "%s", VPROF_TEST_TARGET);
	path[n] = '\0';
	argv[0] = (char *)VPROF_TEST_EMULATOR;
	argv[1] = (char *)"-0";
	argv[2] = args[0];
	argv[3] = path;
	do
		argv[at + 4] = args[at + 1];
	while (args[++at]);
	return VPROF_TEST_EMULATOR;
}

/* Becomes the target `mode`; returns only when it cannot. */
static inline void session_exec(const char *mode)
{
	char *args[] = { (char *)"target", (char *)"target", (char *)mode, NULL }, *argv[SESSION_ARGS];
	const char *path = session_command(args, argv);

	execv(path, argv);
}

/* The head of a run's shared memory. */
static inline struct vp_shm *session_shm(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct vp_shm *shm = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || shm == MAP_FAILED) {
		printf("%s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
	return shm;
}

static inline int session_is_skipped(const struct session *s)
{
	return WIFEXITED(s->status) && WEXITSTATUS(s->status) == SESSION_SKIPPED;
}

/* Runs this program's target `mode` and opens its trace. */
static inline int session_run(struct session *s, const char *mode, uint64_t memory_bytes, int stacks)
{
	struct vprof_collector_options o = { .trace_dir = s->dir,
					     .memory_bytes = memory_bytes,
					     .stack_samples = stacks,
					     .sample_after = session_sample_after,
					     .budget = session_budget };
	struct vprof_collector *c;
	struct vprof_error err = { "" };
	pid_t pid;

	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/vprof-runtime-XXXXXX");
	if (!mkdtemp(s->dir) || vprof_collector_open(&c, &o, &err)) {
		printf("collector: %s\n", err.message);
		return -1;
	}
	if (session_adjust)
		session_adjust(vprof_collector_shm(c));
	pid = fork();
	if (pid == 0) {
		setenv("VPROF_SHM", vprof_collector_shm(c), 1);
		setenv("LD_PRELOAD", VPROF_LIBRARY, 1);
		session_exec(mode);
		_exit(127);
	}
	for (;;) {
		if (!session_drains_at_stops && !vprof_collector_drain(c))
			usleep(2000);
		if (waitpid(pid, &s->status, WUNTRACED | (session_drains_at_stops ? 0 : WNOHANG)) != pid)
			continue;
		if (!WIFSTOPPED(s->status))
			break;
		while (vprof_collector_drain(c))
			;
		kill(pid, SIGCONT);
	}
	if (vprof_collector_close(c, &s->stats, &err) || vprof_trace_open(&s->trace, s->dir, &err)) {
		printf("trace: %s\n", err.message);
		return -1;
	}
	vprof_trace_check(s->trace);
	if (s->status && !session_is_skipped(s)) {
		printf("%s: the target ended with status 0x%x\n", mode, s->status);
		n_failed++;
	}
	return 0;
}

static inline void session_end(struct session *s)
{
	vprof_trace_free(s->trace);
	vprof_dir_remove(s->dir, NULL);
}

typedef void each_record(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg);

static inline void session_each(const struct session *s, each_record *fn, void *arg)
{
	for (size_t i = 0; i < s->trace->n_threads; i++) {
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		uint32_t n;

		vprof_trace_cursor_init(&c, &s->trace->threads[i]);
		while ((u = vprof_trace_next(&c, &n)))
			fn(&s->trace->threads[i], u, n, arg);
	}
}

struct count {
	uint32_t code;
	uint64_t n;
};
static inline void count_one(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct count *c = arg;

	(void)th;
	(void)n;
	c->n += VP_CODE(u->w) == c->code;
}
static inline uint64_t session_count(const struct session *s, uint32_t code)
{
	struct count c = { code, 0 };

	session_each(s, count_one, &c);
	return c.n;
}

#endif
