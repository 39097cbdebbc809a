/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of its own stops the others: when it ends, the kernel releases what it still holds, whatever happened. */
#define _GNU_SOURCE
#include "live/filters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "common/array.h"
#include "live/call_filter.h"
#include "live/session_calls.h"
#include "trace/clock.h"

struct thread_status {
	int n_filters;
	char state;
	unsigned long long capabilities; /* effective */
};

/* Of "PID/task/TID", or "thread-self". 0: read; else errno. */
static int read_status(const char *thread, struct thread_status *s)
{
	char name[64], line[256];
	int mode = 0, n = 0;
	FILE *f;

	*s = (struct thread_status){ .state = '?' };
	snprintf(name, sizeof name, "/proc/%s/status", thread);
	f = fopen(name, "re");
	if (!f)
		return errno;
	while (fgets(line, sizeof line, f))
		(void)(sscanf(line, "State: %c", &s->state) == 1 ||
		       sscanf(line, "CapEff: %llx", &s->capabilities) == 1 || sscanf(line, "Seccomp: %d", &mode) == 1 ||
		       sscanf(line, "Seccomp_filters: %d", &n) == 1);
	fclose(f);
	s->n_filters = n > 0 ? n : mode > 0;
	return s->state == '?' ? ESRCH : 0;
}

int vprof_filters_count(pid_t pid)
{
	struct thread_status s;
	char name[48];

	snprintf(name, sizeof name, "%d/task/%d", (int)pid, (int)pid);
	return read_status(name, &s) ? -1 : s.n_filters;
}

static int not_read(pid_t pid, const char *why, struct vprof_error *err)
{
	return vprof_error_set(
		err, VPROF_ERR_FAILED,
		"process %d filters its system calls (seccomp), and vprof cannot read whether it may make those that a "
		"session needs (%s); start it without its filter (in a unit of systemd: without SystemCallFilter=)",
		(int)pid, why);
}

#ifdef __x86_64__

#define STOP_S 0.5	      /* that a thread may take to stop: longer when the kernel does not let it go */
#define CAP_SYS_ADMIN_BIT 21  /* of the capabilities */
#define RESTARTS_ALWAYS -514  /* the kernel's ERESTARTNOHAND: unless a signal's handler is to run */
#define RESTARTS_BY_CALL -516 /* ERESTART_RESTARTBLOCK: by restart_syscall() */

#define CALL(name, known, ...) { #name, SYS_##name, known, { __VA_ARGS__ } },
static const struct vprof_call needed[] = { VPROF_SESSION_CALLS(CALL) };
static const struct vprof_call restart_call = { "restart_syscall", SYS_restart_syscall, 0, { 0 } };

struct program {
	struct sock_filter *v;
	size_t n;
};
typedef VPROF_ARRAY(struct program) programs_array;

/* 0: it has stopped; else errno. */
static int stop(pid_t thread)
{
	const struct timespec pause = { 0, 50000 };
	uint64_t until_ns = vprof_clock_monotonic_ns() + (uint64_t)(STOP_S * 1e9);
	int status;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL))
		return errno;
	while (vprof_clock_monotonic_ns() < until_ns) {
		pid_t got = waitpid(thread, &status, __WALL | WNOHANG);

		if (got < 0 && errno != EINTR)
			return errno;
		if (got == thread && !WIFSTOPPED(status))
			return ESRCH;
		if (got == thread && status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		if (got == thread) /* a signal came first: the thread gets it, and stops then */
			ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)WSTOPSIG(status));
		else
			nanosleep(&pause, NULL);
	}
	return EBUSY;
}

/* Calls that fail with EINTR when the thread is stopped, and have done nothing by then. */
static int begins_anew(long long number)
{
	switch (number) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_read:
	case SYS_write:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
		return 1;
	default:
		return 0;
	}
}

static int allow(const programs_array *programs, const struct vprof_call *call)
{
	for (size_t i = 0; i < programs->n; i++)
		if (!vprof_call_filter_allows(programs->v[i].v, programs->v[i].n, call))
			return 0;
	return 1;
}

/* As if the thread had not been stopped: for some calls that would be as if a signal had come, and others the kernel
 * would go on with by a call that the filters may forbid. */
static void release(pid_t thread, int may_restart)
{
	struct user_regs_struct regs;
	long long result;

	if (!ptrace(PTRACE_GETREGS, thread, NULL, &regs)) {
		result = (long long)regs.rax;
		if ((result == -EINTR && begins_anew((long long)regs.orig_rax)) ||
		    (result == RESTARTS_BY_CALL && (long long)regs.orig_rax >= 0 && !may_restart)) {
			regs.rax = (unsigned long long)RESTARTS_ALWAYS;
			ptrace(PTRACE_SETREGS, thread, NULL, &regs);
		}
	}
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
}

/* All of a stopped thread. 0: read; else errno. */
static int read_programs(pid_t thread, programs_array *programs)
{
	for (;;) {
		long n = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, programs->n, NULL);
		struct program *p;

		if (n < 0)
			return errno == ENOENT && programs->n ? 0 : errno;
		p = VPROF_PUSH(programs);
		if (p)
			p->v = calloc((size_t)n + 1, sizeof *p->v);
		if (!p || !p->v)
			return ENOMEM;
		p->n = (size_t)n;
		if (ptrace(PTRACE_SECCOMP_GET_FILTER, thread, programs->n - 1, p->v) != n)
			return errno;
	}
}

static const char *why_not_read(int why)
{
	switch (why) {
	case EPERM:
		return "it is traced by another program";
	case EACCES:
		return "that takes root outside of containers";
	case EBUSY:
		return "a thread of it did not stop; try again";
	case EINVAL:
		return "the kernel does not show filters, or it is the strict one";
	default:
		return strerror(why);
	}
}

/* One that ends can be traced as little as one that is traced already. */
static int has_ended(const char *name)
{
	struct thread_status s;

	return read_status(name, &s) || s.state == 'Z' || s.state == 'X';
}

static int check_thread(pid_t pid, pid_t thread, const char *name, struct vprof_error *err)
{
	const size_t n_needed = sizeof needed / sizeof *needed;
	programs_array programs = { NULL, 0, 0 };
	int rc = VPROF_OK, why = stop(thread);
	size_t k = 0;

	if (!why) {
		why = read_programs(thread, &programs);
		release(thread, !why && allow(&programs, &restart_call));
	}
	while (!why && k < n_needed && allow(&programs, &needed[k]))
		k++;
	if (why && why != ESRCH && why != ECHILD && !has_ended(name))
		rc = not_read(pid, why_not_read(why), err);
	else if (!why && k < n_needed)
		rc = vprof_error_set(
			err, VPROF_ERR_FAILED,
			"the filter of system calls (seccomp) of process %d does not allow %s as a session needs it; start "
			"it without the filter, or with one that does (in a unit of systemd: SystemCallFilter=@system-service)",
			(int)pid, needed[k].name);
	for (size_t i = 0; i < programs.n; i++)
		free(programs.v[i].v);
	VPROF_ARRAY_RELEASE(&programs);
	return rc;
}

#endif

struct look {
	pid_t pid;
	struct vprof_error *err;
	int is_reading; /* else filters are counted */
	int most;	/* of a thread */
	int rc;
};

static void look_at(struct look *l, DIR *threads)
{
	const struct dirent *entry;

	while (!l->rc && (entry = readdir(threads))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
		struct thread_status s;
		char name[64];
		int why;

		if (thread <= 0)
			continue;
		snprintf(name, sizeof name, "%d/task/%d", (int)l->pid, (int)thread);
		why = read_status(name, &s);
		if (why && why != ENOENT && why != ESRCH)
			l->rc = not_read(l->pid, strerror(why), l->err);
		if (why || s.state == 'Z' || s.state == 'X' || !s.n_filters)
			continue;
		l->most = s.n_filters > l->most ? s.n_filters : l->most;
#ifdef __x86_64__
		if (l->is_reading)
			l->rc = check_thread(l->pid, thread, name, l->err);
#endif
	}
}

static void *look(void *arg)
{
	struct look *l = arg;
	char path[48];
	DIR *threads;

	snprintf(path, sizeof path, "/proc/%d/task", (int)l->pid);
	threads = opendir(path);
	if (threads) {
		look_at(l, threads);
		closedir(threads);
	} else if (errno != ENOENT && errno != ESRCH) {
		l->rc = not_read(l->pid, strerror(errno), l->err);
	}
	return NULL;
}

int vprof_filters_check(pid_t pid, struct vprof_error *err)
{
	struct look l = { .pid = pid, .err = err };
	struct thread_status own;
	int why = read_status("thread-self", &own);

	if (why)
		return not_read(pid, strerror(why), err);
	look(&l);
	if (l.rc || l.most <= own.n_filters)
		return l.rc;
#ifdef __x86_64__
	if (own.n_filters)
		return not_read(pid, "vprof's own system calls are filtered", err);
	if (own.capabilities >> CAP_SYS_ADMIN_BIT & 1) {
		pthread_t thread;

		l.is_reading = 1;
		if (pthread_create(&thread, NULL, look, &l))
			return vprof_error_no_memory(err);
		pthread_join(thread, NULL);
		return l.rc;
	}
#endif
	return not_read(pid, "that takes root outside of containers", err);
}
