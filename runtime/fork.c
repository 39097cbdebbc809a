/* SPDX-License-Identifier: Apache-2.0 */
/* Children that get a copy of the memory: fork, _Fork, clone, and the system calls behind them.
 *
 * Such a child shares its parent's chunks until it has some of its own, so no probe may run between the two: signals
 * stay blocked from before the fork until then. vfork and clone with CLONE_VM borrow the parent's memory: the child of
 * vfork records as its parent's thread, which is suspended.
 */
#define _GNU_SOURCE
#include "runtime/chunk.h"

#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread struct {
	uint64_t mask;
	bool blocked;
} fork_signals __attribute__((tls_model("initial-exec")));

void rt_fork_prepare(void)
{
	struct rt_thread *th = rt_active() ? rt_thread() : NULL;
	uint64_t token = 0, mask;
	int saved = errno;

	if (th) {
		struct vp_unit create[2] = { { rt_now(), VP_W(VP_KIND_CREATE, 0) }, { 0, 1 } };

		create[1].t = token = rt_token();
		rt_write(th, create, 2);
	}
	/* also in a process that rests: it may begin to take part at any moment */
	mask = rt_signals_block();
	fork_signals.mask = mask;
	fork_signals.blocked = true; /* a handler may have forked meanwhile */
	th = rt_self;		     /* likewise: the handler may have been the first to take part */
	if (th && atomic_load(&th->state) == RT_THREAD_LIVE && rt_thread_is_current(th)) {
		th->fork_token = token;
		rt_chunks_fork(th);
	}
	rt_modules_freeze();
	errno = saved;
}

void rt_fork_parent(void)
{
	if (!fork_signals.blocked)
		return;
	fork_signals.blocked = false;
	rt_modules_thaw();
	rt_signals_restore(fork_signals.mask);
}

void rt_fork_child(void)
{
	struct rt_thread *th = rt_self;
	int saved = errno;

	rt_modules_forget();
	if (rt_start_forked()) {
		rt_identity_set();
		rt_process.parent_seq = rt_process.seq;
		rt_process.seq = atomic_fetch_add(&rt_process.shm->next_process_seq, 1);
		rt_process_enter();
		rt_strings_forget();
		rt_creations_forget();
		rt_threads_forget(th);
		if (th && atomic_load(&th->state) == RT_THREAD_LIVE && rt_thread_is_current(th))
			rt_thread_forked(th);
	} else if (rt_process.pid) {
		rt_identity_set();
		rt_threads_forget(th);
	}
	if (fork_signals.blocked) {
		fork_signals.blocked = false;
		rt_signals_restore(fork_signals.mask);
	}
	errno = saved;
}

/* Registered early, so that the program's own handlers, which may record, run before ours in the parent and after ours
 * in the child. */
void rt_fork_start(void)
{
#ifndef VPROF_STATIC /* there libc's own fork calls our _Fork */
	pthread_atfork(rt_fork_prepare, rt_fork_parent, rt_fork_child);
#endif
}

RT_NEXT(_Fork);
RT_EXPORT pid_t _Fork(void)
{
	pid_t pid;

	rt_fork_prepare();
	pid = REAL(_Fork)();
	if (pid == 0)
		rt_fork_child();
	else
		rt_fork_parent();
	return pid;
}

/* Lies in the parent's frame, of which the child has a copy. */
struct cloned {
	int (*run)(void *);
	void *arg;
};

static int clone_run(void *arg)
{
	const struct cloned *c = arg;

	rt_fork_child();
	return c->run(c->arg);
}

RT_NEXT(clone);
RT_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
	struct cloned c = { run, arg };
	void *parent_tid, *tls, *child_tid;
	va_list rest;
	int pid;

	va_start(rest, arg);
	parent_tid = va_arg(rest, void *);
	tls = va_arg(rest, void *);
	child_tid = va_arg(rest, void *);
	va_end(rest);
	if (!run || !stack || (flags & (CLONE_VM | CLONE_SETTLS)))
		return REAL(clone)(run, stack, flags, arg, parent_tid, tls, child_tid);
	rt_fork_prepare();
	pid = REAL(clone)(clone_run, stack, flags, &c, parent_tid, tls, child_tid);
	rt_fork_parent();
	return pid;
}

bool rt_call_forks(long number, long argument)
{
	switch (number) {
#ifdef SYS_fork
	case SYS_fork:
		return true;
#endif
	case SYS_clone:
		return !(argument & (CLONE_VM | CLONE_SETTLS));
#ifdef SYS_clone3
	case SYS_clone3: /* struct clone_args begins with the flags */
		return argument && !(*(const uint64_t *)argument & (CLONE_VM | CLONE_SETTLS));
#endif
	default:
		return false;
	}
}
