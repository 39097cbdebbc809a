/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "live/filters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

#include "live/call_filter.h"
#include "live/session_calls.h"
#include "trace/clock.h"

#define STOP_S 1.0	      /* that a thread may take to stop: longer when the kernel does not let it go */
#define RESTARTS_ALWAYS -514  /* the kernel's ERESTARTNOHAND: unless a signal's handler is to run */
#define RESTARTS_BY_CALL -516 /* ERESTART_RESTARTBLOCK: by restart_syscall() */

#define CALL(name, known, ...) { #name, SYS_##name, known, { __VA_ARGS__ } },
static const struct vprof_call needed[] = { VPROF_SESSION_CALLS(CALL) };

/* How many a thread has (thread-self: this one); -1: it has ended. */
static int count_filters(const char *thread)
{
	char name[64], line[256];
	int mode = -1, n = -1;
	FILE *status;

	snprintf(name, sizeof name, "/proc/%s/status", thread);
	status = fopen(name, "re");
	while (status && fgets(line, sizeof line, status))
		(void)(sscanf(line, "Seccomp: %d", &mode) == 1 || sscanf(line, "Seccomp_filters: %d", &n) == 1);
	if (status)
		fclose(status);
	return mode < 0 ? -1 : n > 0 ? n : mode > 0;
}

/* 0: it has stopped. */
static int stop(pid_t thread)
{
	const struct timespec pause = { 0, 50000 };
	uint64_t until_ns = vprof_clock_monotonic_ns() + (uint64_t)(STOP_S * 1e9);
	int status;

	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL))
		return -1;
	while (vprof_clock_monotonic_ns() < until_ns) {
		pid_t got = waitpid(thread, &status, __WALL | WNOHANG);

		if (got == thread)
			return WIFSTOPPED(status) ? 0 : -1;
		if (got < 0 && errno != EINTR)
			return -1;
		nanosleep(&pause, NULL);
	}
	errno = EBUSY;
	return -1;
}

/* A call in which the thread waited ends with EINTR for some, as if a signal had come: it shall begin anew. So shall
 * one that the kernel would go on with by a call that a filter forbids. */
static void release(pid_t thread, int may_restart)
{
	struct user_regs_struct regs;
	long long result;

	if (!ptrace(PTRACE_GETREGS, thread, NULL, &regs)) {
		result = (long long)regs.rax;
		if ((long long)regs.orig_rax >= 0 &&
		    (result == -EINTR || (result == RESTARTS_BY_CALL && !may_restart))) {
			regs.rax = (unsigned long long)RESTARTS_ALWAYS;
			ptrace(PTRACE_SETREGS, thread, NULL, &regs);
		}
	}
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
}

/* Of a stopped thread: the first call that one of its filters forbids. 0: read. */
static int read_filters(pid_t thread, const struct vprof_call **forbidden, int *may_restart)
{
	static const struct vprof_call restart = { "restart_syscall", SYS_restart_syscall, 0, { 0 } };
	struct sock_filter *filter = calloc(BPF_MAXINSNS, sizeof *filter);
	long i = 0, n = -1;

	*forbidden = NULL;
	*may_restart = 1;
	errno = filter ? 0 : ENOMEM;
	while (filter && (n = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, i, NULL)) > 0 && n <= BPF_MAXINSNS &&
	       ptrace(PTRACE_SECCOMP_GET_FILTER, thread, i, filter) == n) {
		for (size_t k = 0; k < sizeof needed / sizeof *needed && !*forbidden; k++)
			if (!vprof_call_filter_allows(filter, (size_t)n, &needed[k]))
				*forbidden = &needed[k];
		*may_restart &= vprof_call_filter_allows(filter, (size_t)n, &restart);
		i++;
	}
	free(filter);
	return n < 0 && errno == ENOENT && i ? 0 : -1;
}

static int not_read(pid_t pid, int why, struct vprof_error *err)
{
	return vprof_error_set(
		err, VPROF_ERR_FAILED,
		"process %d filters its system calls (seccomp), and vprof cannot read whether it may make those that a "
		"session needs (%s)%s; start it without its filter (in a unit of systemd: without SystemCallFilter=)",
		(int)pid, strerror(why),
		why == EPERM || why == EACCES ?
			": that takes root outside of containers, and nobody else who traces it" :
			"");
}

/* Of one thread; OK, too, when it has ended. */
static int check_thread(pid_t pid, pid_t thread, struct vprof_error *err)
{
	const struct vprof_call *forbidden = NULL;
	int may_restart = 1, rc, why;

	rc = stop(thread);
	why = errno;
	if (rc)
		return why == ESRCH || why == ECHILD ? VPROF_OK : not_read(pid, why, err);
	rc = read_filters(thread, &forbidden, &may_restart);
	why = errno;
	release(thread, may_restart);
	if (rc)
		return not_read(pid, why, err);
	if (forbidden)
		return vprof_error_set(
			err, VPROF_ERR_FAILED,
			"the filter of system calls (seccomp) of process %d does not allow %s as a session needs it; start "
			"it without the filter, or with one that does (in a unit of systemd: SystemCallFilter=@system-service)",
			(int)pid, forbidden->name);
	return VPROF_OK;
}

int vprof_filters_check(pid_t pid, struct vprof_error *err)
{
	int own = count_filters("thread-self"), checked = -1, rc = VPROF_OK;
	char path[64], name[96];
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads && !rc && (entry = readdir(threads))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
		int n;

		if (thread <= 0)
			continue;
		snprintf(name, sizeof name, "%d/task/%d", (int)pid, (int)thread);
		n = count_filters(name);
		if (n <= own || n == checked) /* threads have their maker's filters */
			continue;
		rc = check_thread(pid, thread, err);
		checked = n;
	}
	if (threads)
		closedir(threads);
	return rc;
}
