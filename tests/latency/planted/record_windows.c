/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_windows DIR COMMAND...: records a command with stacks in many short windows, one in every other look at the
 * rings, however little that costs. Exit status: 0, or 77 where that cannot be done. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "recorder/requirements.h"
#include "trace/records_file.h"

static int store(void *file, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	return vprof_records_append(file, h, units);
}

static pid_t start(char **command, int *go)
{
	int both[2];
	char nothing;
	pid_t pid;

	if (pipe(both))
		return -1;
	pid = fork();
	if (!pid) {
		close(both[1]);
		if (read(both[0], &nothing, 1) < 0)
			_exit(99);
		execvp(command[0], command);
		_exit(127);
	}
	close(both[0]);
	*go = both[1];
	return pid;
}

static int finish(struct vprof_recorder *recorder, struct vprof_records_file *file)
{
	struct vprof_recorder_state state;

	vprof_recorder_stop(recorder);
	vprof_recorder_look(recorder, &state);
	file->header.kernel_scope = VP_KERNEL_TREE;
	file->header.kernel_kinds = state.kinds;
	file->header.n_kernel_events = state.n_events;
	file->header.n_kernel_lost = state.n_lost;
	file->header.kernel_error_ns = state.error_ns;
	printf("%u windows, %.0f ms in all\n", state.n_windows, state.observed_s * 1e3);
	vprof_recorder_close(recorder);
	return vprof_records_finish(file);
}

int main(int argc, char **argv)
{
	struct vprof_records_file file = { .fd = -1 };
	struct vprof_recorder_options o = { .kinds = VP_KERNEL_USUAL | VP_KERNEL_STACKS | VP_KERNEL_CALLS |
						     VP_KERNEL_FAULTS,
					    .by_hand = 1,
					    .spacing_ns = 50000,
					    .timer_hz = 499,
					    .store = store,
					    .arg = &file };
	struct vprof_recorder *recorder;
	struct vprof_error err = { "" };
	int go = -1, status = 0, is_open = 0;
	pid_t pid;

	if (argc < 3)
		return 2;
	if (vprof_recorder_require(&err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	vprof_clock_start(&file.clock, vprof_clock_choose());
	o.clock = file.clock.kind;
	o.ns_per_tick = file.clock.ns_per_tick;
	pid = start(argv + 2, &go);
	if (pid < 0 || vprof_records_open(&file, argv[1], 0, VPROF_COMPRESS_OFF, &err) ||
	    vprof_recorder_open(&recorder, &o, &err) || vprof_recorder_add(recorder, pid, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	close(go);
	while (waitpid(pid, &status, WNOHANG) != pid) {
		is_open = !is_open;
		vprof_recorder_set_window(recorder, is_open);
		vprof_recorder_drain(recorder);
		usleep(3000);
	}
	return finish(recorder, &file) || status ? 2 : 0;
}
