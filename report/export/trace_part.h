/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bounded part of a run's trace, chosen for an export: one interval, a stretch of time, or as much as a limit lets
 * through.
 *
 * Invariant: what a limit takes away is told by `note`. The stretch that remains lies around the slowest interval
 * within what was asked for; of intervals the slowest remain.
 */
#ifndef VPROF_TRACE_PART_H
#define VPROF_TRACE_PART_H

#include "analysis/paths/critical_path.h"
#include "analysis/source/source.h"
#include "common/plan.h"

enum vprof_part_kind {
	VPROF_PART_NONE,
	VPROF_PART_SLICES,    /* what all threads did: calls, waits, intervals are counted for the limit */
	VPROF_PART_INTERVALS, /* intervals are counted */
};

struct vprof_part_options {
	const char *trace_dir;
	const char *plan_path; /* the run's plan.json */
	const char *name;      /* of the interval that `which` is looked for among; NULL: the most frequent */
	const char *which;     /* "slowest", "median", "p99", or an id; NULL: all */
	double from_ns, to_ns; /* since the trace's begin; to_ns 0: its end */
	uint64_t limit;	       /* 0: none */
	void (*progress)(void *arg, const char *step, double done); /* may be NULL */
	void *progress_arg;
};

struct vprof_trace_part {
	struct vprof_source source;
	/* the source's */
	struct vprof_trace *trace;
	struct vprof_timeline *timeline;
	struct vprof_intervals *intervals;
	struct vprof_plan *plan;
	uint64_t start;	   /* of the trace */
	uint64_t from, to; /* ticks: the part, [from, to) */
	/* in the part, by begin; INTERVALS: those that begin in it, else that touch it */
	VPROF_ARRAY(uint32_t) instances;
	/* kind INTERVALS: [n intervals of the trace], 1: of the interval under analysis, and one that the analysis
	   counts */
	uint8_t *is_analysed;
	uint64_t limit;
	char note[400];	   /* what was left out, and how to get it; "" when all is there */
	char program[256]; /* file name of the first process, "" unknown */
};

int vprof_part_open(struct vprof_trace_part **out, enum vprof_part_kind kind, const struct vprof_part_options *o,
		    struct vprof_error *err);
void vprof_part_free(struct vprof_trace_part *part);

uint64_t vprof_part_ns(const struct vprof_trace_part *part, uint64_t ticks); /* since the trace's begin */
uint64_t vprof_part_unix_ns(const struct vprof_trace_part *part, uint64_t ticks);
uint64_t vprof_part_monotonic_ns(const struct vprof_trace_part *part, uint64_t ticks);

struct vprof_part_name {
	char s[48];
};

const char *vprof_part_interval_name(const struct vprof_trace_part *part, const struct vprof_instance *x);
/* "" without a type; a number is written to `room`. */
const char *vprof_part_type(const struct vprof_trace_part *part, const struct vprof_instance *x,
			    struct vprof_part_name *room);
/* "process 12" of a process' first thread, else "thread 13". */
const char *vprof_part_thread(const struct vprof_trace_part *part, uint32_t thread, struct vprof_part_name *room);
const char *vprof_part_wait(const struct vprof_trace_part *part, const struct vprof_wait *wait);
/* The probe, or NULL when the plan does not know the code: its name is written to `room` then. */
const struct vprof_probe *vprof_part_call(const struct vprof_trace_part *part, uint32_t code, const char **name,
					  struct vprof_part_name *room);

#endif
