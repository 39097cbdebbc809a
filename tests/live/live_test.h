/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target of a live test, started under a collector. */
#ifndef VPROF_TESTS_LIVE_TEST_H
#define VPROF_TESTS_LIVE_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/files.h"
#include "live/live_session.h"
#include "tests/live/live_target.h"

#define CHECK(condition, ...)                                                                                          \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                         \
			printf(__VA_ARGS__);                                                                           \
			printf("\n");                                                                                  \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

struct live_test {
	char folder[64], shared_path[96];
	struct live_shared *shared;
	struct vprof_collector *collector;
	struct vprof_live *live;
	pid_t pid;
	int outlives; /* set before the start: the target goes on when whoever started it is killed */
};

static inline void live_test_files(struct live_test *t)
{
	int fd;

	strcpy(t->folder, "/tmp/vprof-live-XXXXXX");
	CHECK(mkdtemp(t->folder), "%s", strerror(errno));
	snprintf(t->shared_path, sizeof t->shared_path, "%s/shared", t->folder);
	fd = open(t->shared_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, 4096), "%s", strerror(errno));
	t->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

static inline void live_test_start(struct live_test *t, const char *mode, uint64_t turn_ns)
{
	char trace[96];
	struct vprof_collector_options o = { .trace_dir = trace, .is_live = 1 };
	struct vprof_live_options options = { .seed = 7, .turn_ns = turn_ns, .baseline_share = VPROF_LIVE_BASELINES };
	struct vprof_error err = { "" };

	snprintf(trace, sizeof trace, "%s/begin", t->folder);
	CHECK(!vprof_collector_open(&t->collector, &o, &err), "%s", err.message);
	CHECK(!vprof_live_new(&t->live, t->collector, live_target_map(), &options, &err), "%s", err.message);
	t->pid = fork();
	if (!t->pid) {
		if (!t->outlives) /* a failed test leaves nothing that runs */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("VPROF_SHM", vprof_collector_shm(t->collector), 1);
		setenv("LD_PRELOAD", VPROF_LIBRARY, 1);
		execl("/proc/self/exe", "target", "target", mode, t->shared_path, (char *)NULL);
		_exit(127);
	}
}

static inline void live_test_end(struct live_test *t)
{
	struct vprof_error err = { "" };
	int status = 0;

	t->shared->is_over = 1;
	while (waitpid(t->pid, &status, WNOHANG) != t->pid) {
		vprof_collector_drain(t->collector);
		usleep(2000);
	}
	CHECK(!status, "the target ended with %#x", status);
	CHECK(!t->shared->failures, "the target failed");
	vprof_live_free(t->live);
	CHECK(!vprof_collector_close(t->collector, NULL, &err), "%s", err.message);
	vprof_dir_remove(t->folder, NULL);
}

#endif
