/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program recorded, and all that the trace says of it: for tests. */
#ifndef RECORDED_H
#define RECORDED_H

#include <sys/resource.h>
#include <sys/types.h>

#include "recorder/recorder.h"
#include "trace/kernel_tables.h"

struct recorded {
	struct vp_file_header header;
	struct vprof_kernel_event *events; /* [n] by time */
	size_t n;
	struct vprof_kernel_tables tables;
	int status;	     /* of the program, as of waitpid */
	struct rusage usage; /* of the program, to its end */
	pid_t pid;
};

enum {
	RECORD_WITHOUT_DRAIN = 1, /* the rings are emptied only when the program has ended */
	RECORD_STACKS = 2,
	RECORD_SOCKETS = 8, /* and scheduling */
	RECORD_SOCKETS_ALONE = 16,
	RECORD_CALLS = 4,   /* all system calls and page faults, and the timer, with stacks */
	RECORD_SPACED = 32, /* with RECORD_CALLS: one in a millisecond, saved up for a burst, and without the timer */
};

/* Until the thread sleeps: what happens next wakes it. */
void wait_until_asleep(uint32_t pid, uint32_t tid);

/* Shared with the program: vprof_recorder_state's looks_up, of the last look. NULL before the first record(). */
extern volatile int *recorder_looks_up;

/* Runs `program` in a child, recorded from its first instruction to its end. Fails the test when that cannot be done.
 */
void record(struct recorded *r, int (*program)(void), int how, uint64_t ring_bytes);
void release(struct recorded *r);

/* 0: the kernel kept switches or wake-ups to itself (docs/design/recorder.md), as the recorder counted, or as the
 * program's threads show: they left a CPU that they had not come to, or came back from sleep without a waking. */
int is_whole(const struct recorded *r);

#endif
