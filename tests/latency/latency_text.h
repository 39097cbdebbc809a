/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events with stacks written by hand, one fact a line:
 *
 *	recording 0 100                begin and end, ns
 *	idle epoll_wait                this function waits for work
 *	condition cond_wait            this one waits for a condition variable
 *	cannot f 1 2                   a call of f never comes from place 1 to place 2
 *	thread main 0 100              name, begin, end; then "begin-cut", "end-cut", if it was there before or after
 *	event 5 main:1 read:2 | vfs_read:0 ; held new off disk skipped unpaired
 *
 * An event belongs to the thread before it: time, the frames from the outermost on as function:place, those of the
 * kernel after "|", flags after ";". A function is a name; one of the kernel may have that of another.
 */
#ifndef LATENCY_TEXT_H
#define LATENCY_TEXT_H

#include "analysis/latency/history/latency_history.h"
#include "common/hash/string_set.h"

struct latency_text_cannot {
	uint32_t function, from, to;
};

struct latency_text {
	struct vprof_latency_history history;
	struct vprof_strings names;
	VPROF_ARRAY(struct latency_text_cannot) cannot;
};

/* Reads one history from lines of text up to its end or a line "end"; ends the program with a message when a line is
 * wrong. Returns where the next history begins, NULL: there is none. */
const char *latency_text_read(struct latency_text *t, const char *text);
void latency_text_release(struct latency_text *t);

#endif
