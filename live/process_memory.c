/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_TIME_FIELD 22 /* of /proc/PID/stat */

/* 0: there is no such process, or it has ended as far as its memory goes (a zombie, or one that is becoming one). */
static uint64_t start_time_of(pid_t pid)
{
	char path[64], text[1024], *at;
	unsigned long long start = 0, memory = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strrchr(text, ')'); /* the name may hold anything */
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return 0;
	for (int field = 3; at && field <= START_TIME_FIELD; field++)
		at = strchr(at + 1, ' ');
	/* the field behind it is the size of its memory: 0 once that is gone */
	return at && sscanf(at, " %llu %llu", &start, &memory) == 2 && memory ? start : 0;
}

static int gone(pid_t pid, struct vprof_error *err)
{
	return vprof_error_set(err, VPROF_ERR_MISSING, "process %d has ended", (int)pid);
}

int vprof_process_memory_open(struct vprof_process_memory *m, pid_t pid, struct vprof_error *err)
{
	char path[64];
	int failed;

	*m = (struct vprof_process_memory){ .pid = pid, .start_time = start_time_of(pid), .fd = -1 };
	if (!m->start_time)
		return gone(pid, err);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	m->fd = open(path, O_RDWR | O_CLOEXEC);
	failed = m->fd < 0 ? errno : 0;
	if (failed == ENOENT || failed == ESRCH)
		return gone(pid, err);
	if (failed)
		return vprof_error_set(
			err, VPROF_ERR_FAILED,
			"process %d may not be written to (%s): only its own user and root can open its probes, "
			"and where kernel.yama.ptrace_scope is 1 or more only the vprof that started it, or root",
			(int)pid, strerror(failed));
	if (!vprof_process_memory_alive(m)) { /* the number may be another process's by now */
		vprof_process_memory_close(m);
		return gone(pid, err);
	}
	return VPROF_OK;
}

void vprof_process_memory_close(struct vprof_process_memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

int vprof_process_memory_alive(const struct vprof_process_memory *m)
{
	return m->start_time && start_time_of(m->pid) == m->start_time;
}

/* The file is that of one program image: after an exec, or the process's end, nothing is there any more (0, or EIO). */
static int failed_at(const struct vprof_process_memory *m, const char *what, uint64_t address, int failed,
		     struct vprof_error *err)
{
	char byte;

	if (!vprof_process_memory_alive(m) || (failed == 0 && pread(m->fd, &byte, 1, (off_t)address) == 0))
		return gone(m->pid, err);
	return vprof_error_set(
		err, VPROF_ERR_FAILED, "cannot %s process %d at %#llx: %s%s", what, (int)m->pid,
		(unsigned long long)address, failed ? strerror(failed) : "nothing is there",
		failed == EIO || failed == EPERM ?
			"; the kernel may forbid it (proc_mem.force_override=never on its command line)" :
			"");
}

int vprof_process_memory_read(const struct vprof_process_memory *m, uint64_t address, void *to, size_t n,
			      struct vprof_error *err)
{
	char *at = to;

	while (n) {
		ssize_t got = pread(m->fd, at, n, (off_t)address);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return failed_at(m, "read", address, got < 0 ? errno : 0, err);
		at += got;
		address += (uint64_t)got;
		n -= (size_t)got;
	}
	return VPROF_OK;
}

int vprof_process_memory_write(const struct vprof_process_memory *m, uint64_t address, const void *from, size_t n,
			       struct vprof_error *err)
{
	const char *at = from;

	while (n) {
		ssize_t put = pwrite(m->fd, at, n, (off_t)address);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return failed_at(m, "write to", address, put < 0 ? errno : 0, err);
		at += put;
		address += (uint64_t)put;
		n -= (size_t)put;
	}
	return VPROF_OK;
}
