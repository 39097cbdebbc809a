/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that come and go: fork, exec, exit, and the parent's wait for the end. */
#ifndef SIMULATE_PROCESS_H
#define SIMULATE_PROCESS_H

#include "tests/simulate/schedule/locks.h"

struct sim_process {
	struct sim_thread *parent; /* while it waits */
	struct sim_release *exit;
	uint32_t pid;
	bool is_over;
};

/* The child has its parent's open calls; its program begins with process_begin. NULL: there are enough. */
struct sim_process *process_fork(struct sim_thread *th, void (*program)(struct sim_thread *), void *arg,
				 struct sim_thread **child);
void process_begin(struct sim_thread *child);
void process_return(struct sim_thread *child); /* from all calls that its parent had open */
/* Executes another program, which maps shared memory again; the thread's program ends with it. False: there are
 * enough. */
bool process_exec(struct sim_thread *th, void (*program)(struct sim_thread *), void *arg);
void process_exit(struct sim_thread *th, struct sim_process *p); /* the last call of a program */
void process_wait(struct sim_thread *th, struct sim_process *p);

#endif
