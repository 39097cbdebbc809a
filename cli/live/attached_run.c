/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/live/attached_run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "cli/live/keeper.h"
#include "common/process.h"
#include "trace/collector.h"

#define STEP_NS 5000000L
#define LEAVE_S 1.0
#define RING_BYTES (UINT64_C(64) << 20)
#define RING_MIN_BYTES (UINT64_C(4) << 20)
#define RING_CHARGED_BYTES (UINT64_C(8) << 20)

/* Small enough for /dev/shm, and smaller where the kernel charges a process for all address space that it could write
 * to: the place of the memory stays reserved in the processes. */
static uint64_t ring_bytes(void)
{
	uint64_t bytes = RING_BYTES;
	struct statvfs s;
	int mode = 0;
	FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");

	if (file) {
		if (fscanf(file, "%d", &mode) != 1)
			mode = 0;
		fclose(file);
	}
	if (mode == 2)
		bytes = RING_CHARGED_BYTES;
	while (bytes > RING_MIN_BYTES && !statvfs("/dev/shm", &s) && bytes > (uint64_t)s.f_bavail * s.f_frsize / 2)
		bytes /= 2;
	return bytes;
}

/* Until it is over for one reason or the other. */
static int attend(const struct vprof_run_request *r, struct vprof_collector *collector, struct vprof_attachment *a)
{
	const struct timespec pause = { 0, STEP_NS };
	struct vprof_attachment_state state;

	while (!vprof_run_signals_caught()) {
		if (r->step(r->arg, collector))
			break;
		if (vprof_attachment_step(a, vprof_collector_shm(collector), vprof_collector_nonce(collector)))
			return VPROF_ERR_NOMEM;
		vprof_attachment_look(a, &state);
		if (state.is_over)
			break;
		nanosleep(&pause, NULL);
	}
	return VPROF_OK;
}

int vprof_attached_run(const struct vprof_run_request *r, struct vprof_attachment *a, const struct vprof_probe_map *map,
		       struct vprof_run_outcome *o, struct vprof_error *err)
{
	uid_t user = vprof_attachment_user(a);
	const struct vprof_collector_options options = { .trace_dir = r->trace_dir,
							 .memory_bytes = ring_bytes(),
							 .sample_after = r->sample_after,
							 .is_live = 1,
							 .user = &user,
							 .compress = r->compress };
	struct vprof_keeper keeper = { 0, -1 };
	struct vprof_collector *collector = NULL;
	struct vprof_run_signals signals;
	double started = vprof_clock_s();
	int rc, closed;

	memset(o, 0, sizeof *o);
	vprof_run_signals_catch(&signals);
	rc = vprof_collector_open(&collector, &options, err);
	if (!rc)
		rc = vprof_keeper_start(&keeper, collector, map, err);
	if (!rc) {
		if (attend(r, collector, a))
			rc = vprof_error_no_memory(err);
		o->seconds = vprof_clock_s() - started;
		r->over(r->arg);
	}
	if (collector) { /* the processes learn from its memory that it is over */
		closed = vprof_collector_close(collector, &o->stats, rc ? NULL : err);
		rc = rc ? rc : closed;
	}
	o->n_left_behind = (int)vprof_attachment_end(a, LEAVE_S);
	vprof_keeper_dismiss(&keeper);
	o->interrupted = vprof_run_signals_caught();
	vprof_run_signals_restore(&signals);
	return rc;
}
