/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that a target makes: each records into chunks of its own, none hangs, none disturbs the target. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define N_FORKS 60 /* of each of two threads */
#define N_CALLS 50 /* in each child */
#define N_VFORKS (SESSION_EMULATED ? 0 : 2)
#ifdef SYS_fork
#define N_RAW 4 /* ways to fork past libc */
#else
#define N_RAW 3
#endif
#define N_EXECS (SESSION_EMULATED ? 200 : 2000)

extern char **environ;
static volatile int work_goes_on = 1;

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x111, 0xffffffffffffffffUL, 1)
}

static void __attribute__((noinline)) in_child(void)
{
	VP_FUNCTION(0x112, 0xffffffffffffffffUL, 1)
}

static void __attribute__((noinline)) in_grandchild(void)
{
	VP_FUNCTION(0x113, 0xffffffffffffffffUL, 1)
}

static void calls_in(void (*fn)(void))
{
	for (int i = 0; i < N_CALLS; i++)
		fn();
}

/* The child's status. One that hangs meets this test's time limit. */
static int reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Fork while other threads record, sample stacks (which takes the loader's lock) and wait for each other. */

static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;

static void *busy(void *arg)
{
	(void)arg;
	while (work_goes_on) {
		call();
		vprof_work("turns", 1);
		vprof_begin("request", 1);
		pthread_mutex_lock(&busy_lock);
		call();
		pthread_mutex_unlock(&busy_lock);
		vprof_end("request", 1);
	}
	return NULL;
}

static void *child_thread(void *arg)
{
	(void)arg;
	calls_in(in_grandchild);
	return NULL;
}

/* The child records, makes a thread and a child of its own. */
static void child_run(void)
{
	pthread_t id;
	pid_t pid;

	calls_in(in_child);
	vprof_begin("child", 1);
	vprof_end("child", 1);
	if (pthread_create(&id, NULL, child_thread, NULL) || pthread_join(id, NULL))
		_exit(1);
	pid = fork();
	if (pid == 0) {
		calls_in(in_grandchild);
		_exit(0);
	}
	_exit(pid < 0 || reap(pid));
}

static void *forks(void *arg)
{
	long failed = 0;

	(void)arg;
	for (int i = 0; i < N_FORKS; i++) {
		pid_t pid;

		errno = 77;
		pid = fork();
		if (pid == 0) {
			if (errno != 77)
				_exit(2);
			child_run();
		}
		if (pid < 0 || errno != 77) {
			failed++;
			continue;
		}
		failed += reap(pid) != 0;
	}
	return (void *)failed;
}

static int target_fork(void)
{
	pthread_t workers[2], forkers[2];
	void *failed[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&workers[i], NULL, busy, NULL) || pthread_create(&forkers[i], NULL, forks, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(forkers[i], &failed[i]);
	work_goes_on = 0;
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i], NULL);
	if (failed[0] || failed[1])
		fprintf(stderr, "%ld children failed\n", (long)failed[0] + (long)failed[1]);
	return failed[0] || failed[1];
}

/* The ways into a copy of the memory that pass by pthread_atfork. */

static int cloned(void *arg)
{
	(void)arg;
	calls_in(in_child);
	_exit(0);
}

static int target_raw(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid;

	for (int i = 0; i < 10; i++) {
		call();
		pid = _Fork();
		if (pid == 0)
			cloned(NULL);
		calls_in(call);
		if (pid < 0 || reap(pid))
			return 1;
		pid = clone(cloned, stack + sizeof(stack), SIGCHLD, NULL);
		calls_in(call);
		if (pid < 0 || reap(pid))
			return 2;
		pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
		if (pid == 0)
			cloned(NULL);
		calls_in(call);
		if (pid < 0 || reap(pid))
			return 3;
#ifdef SYS_fork
		pid = (pid_t)syscall(SYS_fork);
		if (pid == 0)
			cloned(NULL);
		calls_in(call);
		if (pid < 0 || reap(pid))
			return 4;
#else
		calls_in(call);
#endif
	}
	return 0;
}

/* vfork, exec and posix_spawn of an instrumented program (this one) and of one that is not. */

static int target_leaf(void)
{
	calls_in(in_child);
	return 7;
}

static int target_exec(void)
{
	char *leaf[] = { "target", "target", "leaf", NULL }, *self[SESSION_ARGS], *other[] = { "true", NULL };
	const char *path = session_command(leaf, self);
	int status;
	pid_t pid;

	for (volatile int i = 0; i < 10; i++) {
		call();
#if !SESSION_EMULATED /* its vfork is a fork that nobody told us of */
		pid = vfork();
		if (pid == 0) {
			in_grandchild(); /* as the parent's thread */
			close(open("/dev/null", O_RDONLY));
			execv(path, self);
			_exit(127);
		}
		call();
		if (pid < 0 || (status = reap(pid)) < 0 || WEXITSTATUS(status) != 7)
			return 1;
		pid = vfork();
		if (pid == 0) {
			execv("/nonexistent/program", self);
			in_grandchild();
			_exit(9);
		}
		call();
		if (pid < 0 || (status = reap(pid)) < 0 || WEXITSTATUS(status) != 9)
			return 2;
#endif
		if (posix_spawn(&pid, path, NULL, NULL, self, environ) || (status = reap(pid)) < 0 ||
		    WEXITSTATUS(status) != 7)
			return 3;
		if (posix_spawnp(&pid, "true", NULL, NULL, other, environ) || reap(pid))
			return 4;
		if (system("exit 5") != 5 << 8)
			return 5;
		call();
	}
	execv("/nonexistent/program", self);
	call();
	execv(path, self); /* recorded until here, and after */
	return 6;
}

/* Becomes itself again and again, each time with a second thread that has recorded and is still there. */

static void *beside(void *arg)
{
	calls_in(in_grandchild);
	atomic_store((_Atomic int *)arg, 1);
	for (;;)
		pause();
}

static int target_execs(void)
{
	const char *left = getenv("VPROF_TEST_EXECS");
	int n = left ? atoi(left) : 0;
	static _Atomic int recorded;
	char text[16];
	pthread_t id;

	calls_in(call);
	if (n == 0)
		return 0;
	if (pthread_create(&id, NULL, beside, &recorded))
		return 1;
	while (!atomic_load(&recorded))
		sched_yield();
	snprintf(text, sizeof(text), "%d", n - 1);
	setenv("VPROF_TEST_EXECS", text, 1);
	session_exec("execs");
	return 2;
}

/* A daemon: forks twice, leaves its session, closes everything, and goes on when the target has ended. */

static int target_daemon(void)
{
	char c = 0;
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		return 1;
	call();
	pid = fork();
	if (pid == 0) {
		int fd = dup2(ready[1], 100);

		if (daemon(0, 0))
			_exit(1);
		if (fork())
			_exit(0);
		calls_in(in_child);
		if (write(fd, "x", 1) != 1)
			_exit(1);
		for (int i = 0; i < 1024; i++)
			close(i);
		calls_in(in_child);
		nanosleep(&(struct timespec){ 0, 100000000 }, NULL); /* the target is gone */
		calls_in(in_child);
		_exit(0);
	}
	close(ready[1]);
	if (reap(pid) || read(ready[0], &c, 1) != 1 || read(ready[0], &c, 1) > 0)
		return 2;
	call();
	return 0;
}

static void check_fork(void)
{
	uint64_t n_children = 2 * N_FORKS, in, deep;
	struct session s;

	if (session_run(&s, "fork", 128u << 20, 1000000))
		exit(1);
	in = session_count(&s, 0x112);
	deep = session_count(&s, 0x113);
	printf("fork: %d processes, %d dropped\n", (int)s.stats.n_processes, (int)s.trace->n_dropped);
	CHECK(s.stats.n_processes == 1 + 2 * n_children, "%d", (int)s.stats.n_processes);
	CHECK(s.trace->n_bytes_ignored == 0, "damaged %d", (int)s.trace->n_bytes_ignored);
	if (!s.trace->n_dropped) {
		CHECK(in == n_children * N_CALLS, "%d of %d in children", (int)in, (int)n_children * N_CALLS);
		CHECK(deep == 2 * n_children * N_CALLS, "%d of %d in grandchildren", (int)deep,
		      2 * (int)n_children * N_CALLS);
	}
	CHECK(in + deep + s.trace->n_dropped >= 3 * n_children * N_CALLS, "lost without a count");
	for (size_t i = 0; i < s.trace->n_threads; i++)
		CHECK(s.trace->threads[i].process_seq == 1 || s.trace->threads[i].parent_seq, "whose child?");
	session_end(&s);
}

/* Two chunks for each program that it was, in a ring of 512: the collector may be slow. */
static void check_execs(void)
{
	struct session s;
	char text[16];

	snprintf(text, sizeof(text), "%d", N_EXECS);
	setenv("VPROF_TEST_EXECS", text, 1);
	if (session_run(&s, "execs", 512 * VP_CHUNK_BYTES, 0))
		exit(1);
	unsetenv("VPROF_TEST_EXECS");
	printf("%d execs: %d dropped\n", N_EXECS, (int)s.trace->n_dropped);
	CHECK(s.stats.n_processes == N_EXECS + 1, "%d", (int)s.stats.n_processes);
	CHECK(!s.trace->n_dropped && !s.trace->n_bytes_ignored, "%d dropped, %d damaged", (int)s.trace->n_dropped,
	      (int)s.trace->n_bytes_ignored);
	CHECK(session_count(&s, 0x111) == (N_EXECS + 1) * N_CALLS, "first threads: %d", (int)session_count(&s, 0x111));
	CHECK(session_count(&s, 0x113) == N_EXECS * N_CALLS, "second threads: %d", (int)session_count(&s, 0x113));
	session_end(&s);
}

static void check_rest(void)
{
	struct session s;

	if (session_run(&s, "raw", 32u << 20, 0))
		exit(1);
	CHECK(session_count(&s, 0x111) == 10 * (1 + 4 * N_CALLS), "parent: %d", (int)session_count(&s, 0x111));
	CHECK(session_count(&s, 0x112) == N_RAW * 10 * N_CALLS, "children: %d", (int)session_count(&s, 0x112));
	CHECK(s.stats.n_processes == 1 + N_RAW * 10, "%d", (int)s.stats.n_processes);
	session_end(&s);

	if (session_run(&s, "exec", 64u << 20, 10))
		exit(1);
	n_failed--; /* it ends as the program that it became: with 7 */
	CHECK(WEXITSTATUS(s.status) == 7, "the status of what it became: 0x%x", s.status);
	CHECK(session_count(&s, 0x111) == 10 * (2 + N_VFORKS) + 1, "target: %d", (int)session_count(&s, 0x111));
	CHECK(session_count(&s, 0x112) == (10 * (1 + N_VFORKS / 2) + 1) * N_CALLS, "programs: %d",
	      (int)session_count(&s, 0x112));
	CHECK(session_count(&s, 0x113) == 10 * N_VFORKS, "between vfork and exec: %d", (int)session_count(&s, 0x113));
	session_end(&s);

	if (session_run(&s, "daemon", 16u << 20, 0))
		exit(1);
	/* session_run() ends with the target: the daemon's last calls may come too late, its first may not. */
	CHECK(session_count(&s, 0x112) >= N_CALLS, "daemon: %d", (int)session_count(&s, 0x112));
	CHECK(session_count(&s, 0x111) == 2, "target: %d", (int)session_count(&s, 0x111));
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} targets[] = { { "fork", target_fork }, { "raw", target_raw },	    { "exec", target_exec },
			{ "leaf", target_leaf }, { "execs", target_execs }, { "daemon", target_daemon } };

	for (size_t i = 0; argc > 2 && i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(argv[2], targets[i].name) == 0)
			return targets[i].run();
	if (SESSION_EMULATED) {
		SESSION_SKIP("forks from several threads", "qemu 7.2 fails some of them without libvprof.so too");
		SESSION_SKIP("vfork", "qemu's is a fork");
	} else {
		check_fork();
	}
	check_execs();
	check_rest();
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
