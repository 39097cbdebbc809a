/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a project: when each was made, what it holds, how large it is, and what rests on it. */
#ifndef VPROF_RUN_LIST_H
#define VPROF_RUN_LIST_H

#include <stdint.h>

#include "analysis/results/results.h"
#include "cli/drilldown/session.h"
#include "cli/project.h"

enum vprof_run_part {
	VPROF_RUN_TRACE = 1,   /* records.vpt */
	VPROF_RUN_PROBES = 2,  /* of a build with probes or annotations */
	VPROF_RUN_KERNEL = 4,  /* what the kernel did */
	VPROF_RUN_STACKS = 8,  /* with functions: latencies can be inferred */
	VPROF_RUN_PATHS = 16,  /* sends and receives: paths of requests */
	VPROF_RUN_RESULTS = 32 /* analysed: a ranking */
};

struct vprof_run_entry {
	struct vprof_run_name name;
	unsigned parts;
	int64_t began_s;	     /* CLOCK_REALTIME; of the folder where there is no trace */
	double length_ns;	     /* of the recording, all of its repetitions; NaN: not known */
	uint64_t n_traces;	     /* the workload's repetitions */
	uint64_t bytes, trace_bytes; /* on the disk; all of the folder, and its traces */
	long round;		     /* of the drill-down, -1: none */
	int is_recording;	     /* a command records it now */
	int is_reviewed;	     /* a person's verdict was given by it */
	char *command;		     /* first line of what was run, "" */
	char *interval;		     /* the function whose inferred calls are its intervals; NULL: none */
	char *answer;		     /* its first cause as a sentence, "" */
	double share;		     /* of that; NaN */
	int is_inconclusive;
};

struct vprof_run_list {
	struct vprof_run_entry *items; /* by number; owns its strings */
	size_t n;
	uint64_t bytes, trace_bytes;
};

/* An empty list where there is no .vprof. What cannot be read of a run is left out, the run is not. `s`: for rounds and
 * verdicts. OK, NOMEM, or FAILED where the folder of runs cannot be read. To be released in any case. */
int vprof_run_list_read(struct vprof_run_list *list, const struct vprof_project *p, const struct vprof_session *s,
			struct vprof_error *err);
void vprof_run_list_release(struct vprof_run_list *list);

#endif
