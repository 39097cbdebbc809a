/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the workload under the collector.
 *
 * The command runs through /bin/sh in a process group of its own, with libvprof.so preloaded; its output goes to the
 * run's log. Signals that end vprof (INT, TERM, HUP, QUIT) are passed on to the group; a second one kills it. So does
 * the end of a live session: SIGTERM first, and SIGKILL when the command still runs grace_s later. Processes that the
 * command leaves behind are ended. Whatever happens, the shared memory is removed.
 */
#ifndef VPROF_RUN_TARGET_H
#define VPROF_RUN_TARGET_H

#include <signal.h>
#include <stdint.h>

#include "cli/progress.h"
#include "common/error.h"
#include "trace/collector.h"

/* Are context switches recorded? */
enum vprof_switches_mode {
	VPROF_SWITCHES_AUTO, /* as long as there are at most VPROF_SWITCHES_MOST a second on each processor */
	VPROF_SWITCHES_ON,
	VPROF_SWITCHES_OFF,
};
#define VPROF_SWITCHES_MOST 2500 /* at 1 to 1.4 us each, in and out: docs/design/runtime.md */

/* "auto" (also NULL), "on" or "off"; -1 for any other word. */
int vprof_switches_parse(const char *word, enum vprof_switches_mode *mode);

/* The same of --compress. */
int vprof_compress_parse(const char *word, enum vprof_compress_mode *mode);

struct vprof_run_request {
	const char *command, *directory, *trace_dir, *log_path, *library;
	uint64_t memory_bytes, max_trace_bytes; /* 0: the defaults */
	double budget;				/* as in trace/collector.h */
	uint32_t sample_after;			/* as in trace/collector.h */
	const uint32_t *every_call;		/* the same */
	size_t n_every_call;
	int verbose;	       /* copy the command's output to stderr as it is printed */
	int keep;	       /* leave processes that outlive the command alone */
	uint32_t kernel_kinds; /* of the kernel's events, VP_KERNEL_*, to be recorded, too; 0: none */
	int records_hosts;     /* as in trace/collector.h */
	int give_stdin;	       /* else the command reads /dev/null */
	enum vprof_switches_mode switches;
	enum vprof_compress_mode compress;
	struct vprof_progress *progress; /* may be NULL */
	/* Of a live session (cli/live): called every few ms instead of draining, and once when the command has ended,
	 * while the collector is still open. `step` returns 0, or 1 when the command is to be ended. */
	int (*step)(void *arg, struct vprof_collector *collector);
	void (*over)(void *arg);
	void *arg;
	double grace_s; /* with step: from SIGTERM to SIGKILL of a command that is to be ended */
};

struct vprof_run_outcome {
	int status;	   /* as of waitpid */
	int was_killed;	   /* it, or what it left behind, was told to end, and did not within its grace */
	int interrupted;   /* the signal that vprof received, else 0 */
	int n_left_behind; /* processes ended after the command */
	double seconds;
	struct vprof_collector_stats stats;
};

/* FAILED when the command could not be started or the collector failed. A command that fails is told through `status`.
 */
int vprof_run_target(const struct vprof_run_request *request, struct vprof_run_outcome *outcome,
		     struct vprof_error *err);

/* While they are caught, signals that end vprof are only remembered, but for those that it was started to ignore. */
#define VPROF_RUN_SIGNALS 4
struct vprof_run_signals {
	struct sigaction before[VPROF_RUN_SIGNALS];
};
void vprof_run_signals_catch(struct vprof_run_signals *s);
int vprof_run_signals_caught(void); /* the last one, 0: none */
void vprof_run_signals_restore(const struct vprof_run_signals *s);

/* A failed command as an error: how it ended, the log's last lines, what to do. */
int vprof_run_blame(const struct vprof_run_request *request, const struct vprof_run_outcome *outcome,
		    struct vprof_error *err);

#endif
