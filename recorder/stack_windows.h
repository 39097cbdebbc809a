/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of time in which stacks are taken, so that recording costs at most a given share of the CPU time of the
 * processes recorded. Between windows system calls are not traced, switches and wake-ups are recorded almost always
 * without stacks. Of each window it is recorded when it began and ended: within, everything was recorded. Where
 * switches and wake-ups take so much that little of the budget is left for stacks, wake-ups are recorded in windows
 * only from some time on, which is recorded, too.
 *
 *   vprof_stack_windows_start (with the first one open) -> vprof_stack_windows_step after each look at the rings ->
 *   vprof_stack_windows_stop when all events are in chunks
 */
#ifndef VPROF_RECORDER_STACK_WINDOWS_H
#define VPROF_RECORDER_STACK_WINDOWS_H

#include "recorder/gather.h"
#include "recorder/recording_cost.h"
#include "recorder/rings.h"
#include "recorder/wake_programs.h"
#include "trace/windows.h"

struct record_bpf;

struct vprof_stack_windows {
	struct record_bpf *bpf;
	struct vprof_rings *rings;
	struct vprof_gather *table; /* of the machine */
	struct vprof_windows plan;
	struct vprof_recording_cost cost;
	const int *timers; /* [n_timers] perf events, the caller's */
	size_t n_timers;
	double plain_ns,
		traced_ns; /* what a system call takes between windows and in one, at the least; 0: not known */
	uint32_t n;	   /* windows so far */
	int is_open, by_hand, has_calls, has_faults, has_begin, has_end;
	struct vprof_wake_programs *wakes; /* that may be left between windows; NULL: they are not */
	uint64_t left_ns;		   /* since when they are, CLOCK_MONOTONIC, 0: they are not; */
	int left_told;			   /* this is recorded */
	uint64_t refused_ns;		   /* a window that was to be opened */
	double edges_ns, closing_ns;	   /* CPU time that opening and closing them took; the last closing */
	uint64_t begin_ns, end_ns;	   /* of the window that is open, or was last; CLOCK_MONOTONIC */
	uint64_t begin;			   /* ticks, with has_begin */
	double observed_ns;		   /* in windows that are over */
};

/* share: of the CPU time; 0: one window without an end, of which nothing is recorded. by_hand: the caller opens and
 * closes them. */
void vprof_stack_windows_start(struct vprof_stack_windows *w, struct record_bpf *bpf, struct vprof_rings *rings,
			       struct vprof_gather *table, double share, int by_hand);

/* Events of the timer, which is to run in windows only; they are kept by the caller. */
void vprof_stack_windows_set_timers(struct vprof_stack_windows *w, const int *timers, size_t n);

void vprof_stack_windows_step(struct vprof_stack_windows *w);
void vprof_stack_windows_stop(struct vprof_stack_windows *w);

/* Those of an open window are recorded up to now. */
void vprof_stack_windows_flush(struct vprof_stack_windows *w);

/* What recording took of the CPU time of the processes, by its own account, and that time; ns. */
void vprof_stack_windows_account(const struct vprof_stack_windows *w, double *cost_ns, double *busy_ns);

/* Does the account still learn from the packets that are sent what recording takes? */
int vprof_stack_windows_count_packets(const struct vprof_stack_windows *w);

/* For how long windows were open so far. */
double vprof_stack_windows_observed_s(const struct vprof_stack_windows *w);

void vprof_stack_windows_open(struct vprof_stack_windows *w);
void vprof_stack_windows_close(struct vprof_stack_windows *w);

#endif
