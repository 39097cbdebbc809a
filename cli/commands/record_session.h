/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof record's recording: a command started or processes attached to, the kernel's events stored until it ends.
 *
 * The command runs as if vprof were not there: same files, terminal and process group. A signal that only vprof
 * receives is passed on to it; a second one ends the recording, and vprof leaves the command alone.
 */
#ifndef VPROF_RECORD_SESSION_H
#define VPROF_RECORD_SESSION_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/progress.h"
#include "common/error.h"
#include "recorder/recorder.h"
#include "trace/records_file.h"

struct vprof_record_request {
	const char *trace_dir;
	char **command; /* NULL-terminated, or NULL */
	long pid;	/* 0: none */
	const char *name;
	int all;
	uint32_t kinds;	     /* VP_KERNEL_* */
	uint64_t spacing_ns; /* this, budget and may_leave_wakes: struct vprof_recorder_options */
	uint32_t timer_hz;
	double budget;
	int may_leave_wakes;
	const char *ready; /* a file to be made once events are recorded; NULL: none */
	double most_ns;	   /* how long, 0: until it ends */
	uint64_t ring_bytes;
	enum vprof_compress_mode compress;
	struct vprof_progress *progress;
};

struct vprof_record_outcome {
	int has_status, status; /* of the command, as of waitpid */
	int signal;		/* that ended the recording, 0: none */
	double seconds;		/* that were recorded */
	uint64_t n_bytes;
	struct vprof_recorder_state state;
};

/* MISSING, INPUT or FAILED; what was recorded before stays in trace_dir. */
int vprof_record_session(const struct vprof_record_request *request, struct vprof_record_outcome *outcome,
			 struct vprof_error *err);

#endif
