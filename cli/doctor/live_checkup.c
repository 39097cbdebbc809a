/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether probes can be opened in running processes, tried on two: a child, as vprof iterate --live starts one, and a
 * process that does not descend from vprof, as vprof live finds one. Each waits, is written to through /proc/PID/mem,
 * and tells whether that arrived.
 */
#include "cli/doctor/live_checkup.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/process_memory.h"

#define WRITTEN 0x5a

static volatile unsigned char target; /* at the same address in a forked process */

/* In the process that is tried: tells its number, waits for a byte, answers what it has then. Ends when the other end
 * is closed. */
static void be_tried(int s)
{
	pid_t self = getpid();
	unsigned char word = 0;

	prctl(PR_SET_DUMPABLE,
	      1); /* as a program is that vprof executes, also where vprof has capabilities of its own */
	if (send(s, &self, sizeof self, MSG_NOSIGNAL) == sizeof self && read(s, &word, 1) == 1) {
		word = target;
		send(s, &word, 1, MSG_NOSIGNAL);
	}
	_exit(0);
}

/* OK when the byte arrived. */
static int try_writing(pid_t pid, int s, struct vprof_error *err)
{
	static const unsigned char value = WRITTEN;
	struct vprof_process_memory memory;
	unsigned char answer = 0;
	int rc = vprof_process_memory_open(&memory, pid, err);

	if (!rc) {
		rc = vprof_process_memory_write(&memory, (uint64_t)(uintptr_t)&target, &value, 1, err);
		vprof_process_memory_close(&memory);
	}
	if (rc)
		return rc;
	if (send(s, "", 1, MSG_NOSIGNAL) != 1 || read(s, &answer, 1) != 1 || answer != WRITTEN)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "what was written to another process did not arrive there");
	return VPROF_OK;
}

static pid_t start(int is_stranger, const int s[2])
{
	pid_t child = fork();

	if (child)
		return child;
	close(s[0]);
	if (is_stranger && fork())
		_exit(0);
	be_tried(s[1]);
	return 0;
}

int vprof_try_live(int is_stranger, struct vprof_error *err)
{
	int s[2], rc = VPROF_ERR_FAILED;
	pid_t child, pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		return vprof_error_set(err, rc, "no socket could be made");
	child = start(is_stranger, s);
	close(s[1]);
	if (child > 0 && is_stranger)
		waitpid(child, NULL, 0); /* from now on the other descends from init */
	if (child < 0 || read(s[0], &pid, sizeof pid) != sizeof pid)
		vprof_error_set(err, rc, "no process could be started");
	else
		rc = try_writing(pid, s[0], err);
	close(s[0]);
	if (child > 0 && !is_stranger)
		waitpid(child, NULL, 0);
	return rc;
}
