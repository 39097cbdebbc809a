/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told while the run command runs, on standard error: on a terminal one line that is drawn anew,
 *
 *   run      42 s: 12.3 MB recorded, 5 threads, buffers 43 % full
 *
 * elsewhere (a log, CI) a line when a minute has passed, and then each time that it took twice as long. The command's
 * own output goes to run.log, so nothing is mixed; with --verbose it comes instead of this.
 */
#ifndef VPROF_RUN_PROGRESS_H
#define VPROF_RUN_PROGRESS_H

#include <sys/types.h>

#include "cli/progress.h"
#include "trace/collector.h"

struct vprof_run_progress {
	struct vprof_progress *step;		      /* NULL: nothing is told */
	pid_t pid;				      /* of the command */
	double drawn_s, looked_s, noted_s, changed_s; /* since the start: when; changed: the last record */
	struct vprof_collector_state state;
};

void vprof_run_progress_begin(struct vprof_run_progress *p, struct vprof_progress *step, pid_t pid);

/* To be called again and again; `seconds` since the start. `is_stopping`: it was told to end. */
void vprof_run_progress_step(struct vprof_run_progress *p, const struct vprof_collector *collector, double seconds,
			     int is_stopping);

/* Its parts, for tests. Is a line due where there is no terminal? */
int vprof_run_progress_due(struct vprof_run_progress *p, double seconds);
/* "12.3 MB recorded, 5 threads"; quiet_s: how long nothing was recorded. Empty when it is too early to say anything. */
void vprof_run_progress_text(char *text, size_t size, const struct vprof_collector_state *state, double quiet_s);

#endif
