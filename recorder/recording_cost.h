/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recording with stacks takes of the CPU time of the processes recorded.
 *
 * By its parts: what the programs in the kernel take for stacks by their own clocks, that system calls are traced, and
 * so much for each event and interrupt. That leaves out what is slower because of it, such as what is displaced from
 * the caches. So what is recorded in windows only is measured, too: the program's threads get things done (packets,
 * wake-ups, sleeps), and what one takes them in windows, against what it takes between them, is the cost of what is
 * recorded in windows. By how much that exceeds the parts is the factor. It is a mean of what is usual and of what was
 * measured, by how well either is known: at first what is usual counts, and where nothing can be measured. Its standard
 * error is added, so that the account rather tells too much than too little. To attach and detach programs interrupts
 * all CPUs again and again: it counts as if one of them did nothing else meanwhile.
 */
#ifndef VPROF_RECORDER_RECORDING_COST_H
#define VPROF_RECORDER_RECORDING_COST_H

#include <stdint.h>

enum vprof_done { VPROF_DONE_SENT, VPROF_DONE_WOKEN, VPROF_DONE_SLEPT, VPROF_DONE_COUNT };

/* Sums over all CPUs since the start. */
struct vprof_cost_figures {
	double busy_ns;	   /* CPU time of the processes recorded */
	double taken_ns;   /* by programs in the kernel, for what is recorded in windows */
	double edges_ns;   /* of the recorder's own CPU time, to attach and detach them */
	uint64_t n_calls;  /* system calls that were traced */
	uint64_t n_events; /* those in the rings */
	uint64_t n_interrupts;
	uint64_t n_done[VPROF_DONE_COUNT];
	int misses[VPROF_DONE_COUNT]; /* these are not counted now */
};

struct vprof_cost_sums {
	double busy, done, parts;	/* ns, things done, ns by parts */
	double busy2, done2, busy_done; /* of each stretch */
	double parts2, busy_parts, done_parts;
};

struct vprof_recording_cost {
	double call_ns; /* that a system call is traced, besides what the programs take by their clocks */
	double factor;
	double total_ns; /* up to `counted` */
	struct vprof_cost_figures counted;
	struct vprof_cost_figures before; /* at the last edge of a window */
	struct vprof_cost_sums inside[VPROF_DONE_COUNT], outside[VPROF_DONE_COUNT];
	unsigned n_stretches;
	double throughout_ns, between_ns; /* what was taken between windows, of so much CPU time */
};

void vprof_recording_cost_start(struct vprof_recording_cost *c, const struct vprof_cost_figures *now);

/* An edge: the stretch until now lay in a window, or between two. The first window tells nothing, for all stacks are
 * new there. */
void vprof_recording_cost_edge(struct vprof_recording_cost *c, const struct vprof_cost_figures *now, int was_open);

/* Between windows: which part of the CPU time is taken by what is recorded there, too; of the last seconds of it, with
 * the stretch that is not over yet. 0: not known yet. */
double vprof_recording_cost_throughout(const struct vprof_recording_cost *c, const struct vprof_cost_figures *now);

/* Windows and the time between them are others from now on: what was learned by comparing them is void. */
void vprof_recording_cost_forget(struct vprof_recording_cost *c);

/* What all of it took so far, ns. It never gets less. */
double vprof_recording_cost_count(struct vprof_recording_cost *c, const struct vprof_cost_figures *now);

/* The calling thread's system calls take so long now, ns, at the least of some. */
double vprof_recording_cost_own_call(void);

#endif
