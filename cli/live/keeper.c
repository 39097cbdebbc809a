/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process of its own, in a session of its own, that waits for the end of a socket. What vprof dies of, a signal to
 * its group or its terminal, does not reach it; if it is killed, too, gates close all the same (the kernel tells the
 * program's threads), and the next vprof finds the probes as they were left and closes them. */
#define _GNU_SOURCE
#include "cli/live/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/doors.h"
#include "live/gates.h"
#include "trace/collector/collector_live.h"
#include "trace/shm.h"

#define LOCK_S 2.0 /* the kernel closes the files of the killed vprof one by one */

/* Nothing of vprof's stays open: whoever reads its output must see the end of it. */
static void stand_alone(int fd)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	for (int i = 0; null >= 0 && i <= 2; i++)
		dup2(null, i);
	if (dup2(fd, 3) == 3) {
		fcntl(3, F_SETFD, FD_CLOEXEC);
		close_range(4, ~0U, 0);
	}
	if (chdir("/"))
		return;
}

/* Closes every probe in every process that took part. One that another vprof has by now is that vprof's. */
static void close_all(const struct vprof_collector *collector, const struct vprof_probe_map *map)
{
	struct vprof_collector_process *all = calloc(VP_PROCESS_COUNT, sizeof *all);
	struct vprof_gates *gates = NULL;
	struct stat st;
	uint64_t own = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	size_t n;

	if (!all || vprof_gates_new(&gates, map, NULL)) {
		free(all);
		return;
	}
	n = vprof_collector_processes(collector, all, VP_PROCESS_COUNT);
	for (size_t i = 0; i < n; i++) {
		struct vprof_door door;
		int written;

		if (all[i].pid_namespace != own || vprof_door_open(&door, (pid_t)all[i].pid, LOCK_S, NULL))
			continue;
		/* wanted are none: the look closes what it finds open */
		vprof_gates_look(gates, all[i].pid, all[i].process_seq, &written, NULL);
		vprof_door_close(&door);
	}
	vprof_gates_free(gates);
	free(all);
}

static void keep(int fd, const struct vprof_collector *collector, const struct vprof_probe_map *map)
{
	char word;
	ssize_t n;

	stand_alone(fd);
	do
		n = read(3, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 0)
		_exit(0);
	vprof_collector_abandon(collector);
	close_all(collector, map);
	_exit(0);
}

int vprof_keeper_start(struct vprof_keeper *k, const struct vprof_collector *collector,
		       const struct vprof_probe_map *map, struct vprof_error *err)
{
	int ends[2];

	*k = (struct vprof_keeper){ 0, -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot make a socket: %s", strerror(errno));
	k->pid = fork();
	if (!k->pid) {
		close(ends[1]);
		keep(ends[0], collector, map);
	}
	close(ends[0]);
	k->fd = ends[1];
	if (k->pid > 0)
		return VPROF_OK;
	close(ends[1]);
	*k = (struct vprof_keeper){ 0, -1 };
	return vprof_error_set(err, VPROF_ERR_FAILED, "cannot start a process: %s", strerror(errno));
}

void vprof_keeper_dismiss(struct vprof_keeper *k)
{
	if (k->fd < 0)
		return;
	send(k->fd, "e", 1, MSG_NOSIGNAL);
	close(k->fd);
	while (k->pid > 0 && waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*k = (struct vprof_keeper){ 0, -1 };
}
