/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workload of a live drill-down: the run command under a live session, kept going by a thread of its own while this
 * one analyses and decides.
 *
 * All calls are made by one thread. The session itself lives in the other, which carries out what is asked here
 * between two of its steps.
 */
#ifndef VPROF_LIVE_RUN_H
#define VPROF_LIVE_RUN_H

#include "cli/live/attached_run.h"
#include "cli/run/run_target.h"
#include "live/live_session.h"

struct vprof_live_run;

/* Starts the command, or attaches to processes that run already (NULL: the command). The request's strings, the map,
 * the attachment and the options are borrowed until the end. */
int vprof_live_run_start(struct vprof_live_run **out, const struct vprof_run_request *request,
			 struct vprof_attachment *attachment, const struct vprof_probe_map *map,
			 const struct vprof_live_options *o, struct vprof_error *err);

/* Those of live/live_session.h. In a pause the trace is finished as it is, and it stays so where the round ends then.
 * MISSING when the command has ended. */
int vprof_live_run_begin(struct vprof_live_run *run, const struct vprof_plan *plan, const char *trace_dir,
			 size_t *n_missing, struct vprof_error *err);
int vprof_live_run_pause(struct vprof_live_run *run, struct vprof_error *err);
int vprof_live_run_resume(struct vprof_live_run *run, struct vprof_error *err);
int vprof_live_run_end(struct vprof_live_run *run, struct vprof_error *err);

/* 1: the command, or what was attached to, runs. 0: it has ended; the state is the last one. */
int vprof_live_run_look(struct vprof_live_run *run, struct vprof_live_state *state);

/* Who of an attachment takes part; zeros: it is none. */
void vprof_live_run_attached(struct vprof_live_run *run, struct vprof_attachment_state *state);

/* Closes all probes, ends the command if it still runs, and frees the run. OK also for a command that fails: see
 * outcome. *was_ended: by this call. */
int vprof_live_run_stop(struct vprof_live_run *run, struct vprof_run_outcome *outcome, int *was_ended,
			struct vprof_error *err);

#endif
