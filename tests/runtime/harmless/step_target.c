/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target of test_harmless_step.c: a worker thread that its debugger steps through one passage after the other, and
 * the signal handler that interrupts it. A trap is where the debugger takes over; `phase` says why. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/runtime/harmless/step.h"

#define CHUNK_CALLS 4200 /* more than a chunk holds */

static struct step_shared *shared;
static const struct step_code *code = &step_code;
static const struct step_passage *passage;
static enum step_handler handler;
static int is_child;
static uint64_t n_passed;
static sigjmp_buf back;

static void trap(enum step_phase phase)
{
	if (is_child)
		return;
	shared->phase = phase;
#if defined(__x86_64__)
	__asm__ volatile("int3" ::: "memory");
#endif
}

static void forked_within(void)
{
	pid_t pid = fork();

	if (pid)
		return;
	is_child = 1;
	shared->n_forked++;
	while (shared->n_released <= n_passed) /* until the parent's chunks are others' */
		usleep(5000);
	code->handler_calls();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)number;
	(void)info;
#if defined(__x86_64__)
	shared->handler_pc = (unsigned long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	(void)context;
#endif
	shared->n_handled++;
	code->handler_calls();
	if (handler == STEP_FLOOD)
		code->fill(2 * CHUNK_CALLS);
	if (handler == STEP_FORK)
		forked_within();
	if (handler == STEP_JUMP)
		siglongjmp(back, 1);
	trap(STEP_HANDLED);
	errno = saved;
}

/* A child that was forked right before its parent's trap. */
static void child_trap(int number)
{
	(void)number;
	_exit(is_child ? 0 : 5);
}

/* The children have a copy of this thread's place in its chunk: by the time that they go on it belongs to others. */
static void children_end(void)
{
	int status;

	code->fill(CHUNK_CALLS);
	trap(STEP_DRAIN);
	code->fill(2 * CHUNK_CALLS);
	shared->n_released++;
	while (waitpid(-1, &status, 0) > 0)
		if (status)
			shared->n_bad_states++;
}

static void pass(uint64_t gate, const void *top)
{
	uint64_t gate_now;
	const void *top_now;

	if (passage->prepare)
		passage->prepare();
	if (!sigsetjmp(back, 1)) {
		trap(STEP_BEGIN);
		passage->run();
	}
	if (is_child)
		_exit(0);
	trap(STEP_END);
	code->delimit(n_passed);
	code->state(&gate_now, &top_now);
	if (gate_now != gate || top_now != top)
		shared->n_bad_states++;
	if (handler == STEP_FORK)
		children_end();
	n_passed++;
	shared->n_passages++;
}

static void pass_many(void)
{
	const void *top;
	uint64_t gate;

	code->state(&gate, &top);
	while (shared->phase != STEP_OVER)
		pass(gate, top);
}

static void traced(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(3);
}

static void *worker(void *arg)
{
	traced();
	if (passage->own_thread)
		pass(1, NULL);
	else
		code->outer(pass_many);
	return arg;
}

static int shared_map(void)
{
	const char *path = getenv("VPROF_TEST_SHARED");
	int fd = path ? open(path, O_RDWR) : -1;

	shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return shared == MAP_FAILED ? -1 : 0;
}

/* libc's own, past the wrapper: such a thread meets the runtime at its first probe. */
typedef int create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
static create *libc_create(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_NOW);

	return libc ? (create *)dlsym(libc, "pthread_create") : NULL;
}

/* argv: program, "target", passage, handler, module (may be empty). */
int step_target(char **argv)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	create *create_raw = libc_create();
	pthread_t id;

	if (argv[4][0]) {
		void *module = dlopen(argv[4], RTLD_NOW);

		code = module ? dlsym(module, "step_code") : NULL;
	}
	if (!code || !create_raw || shared_map())
		return 2;
	*code->shared = shared;
	passage = &code->passages[atoi(argv[2])];
	handler = (enum step_handler)atoi(argv[3]);
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGTRAP, child_trap);
	do {
		if (create_raw(&id, NULL, worker, NULL) || pthread_join(id, NULL))
			return 4;
	} while (shared->phase != STEP_OVER);
	return 42;
}
