/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wait histories written by hand, one fact a line:
 *
 *	recording 0 100                begin and end, ns
 *	cpus 2
 *	thread A                       or: thread W#3 by A from 10 to 30 (made by A, ended at 30; its name is W)
 *	disk D                         or timer, outside, interrupt NAME; network NAME BYTES_PER_S
 *	run A 0 2
 *	ready A 2 3
 *	wait A 3 10 B                  ended by B; "-": nobody knows; then the numbers of the two stacks, if any
 *	request D B 5 10 4096          issued to D by B at 5, complete at 10, bytes
 *	stack send < flush             text of the next stack number, from 1 on
 *	spin A 3 10 B                  annotations: A spun from 3 to 10 until B let it go on
 *	false_wake A 10
 *	options THRESHOLD BACKGROUND_CPUS SHORT_LIVED MIN_OVERLAP
 *
 * Entities are declared before they are used; segments of a thread come in order. */
#ifndef HISTORY_TEXT_H
#define HISTORY_TEXT_H

#include "analysis/waits/waits.h"

struct history_text {
	struct vprof_waits_history history;
	struct vprof_waits_options options;
	char **texts;	     /* that names and stacks point into */
	const char **tokens; /* [n entities] names with their numbers */
	size_t n_texts;
};

/* Reads one history from lines of text up to its end or a line "end", and applies its annotations; ends the program
 * with a message when a line is wrong. Returns where the next history begins, NULL: there is none. */
const char *history_text_read(struct history_text *t, const char *text);
void history_text_release(struct history_text *t);

/* The entity of that name; ends the program when there is none. */
uint32_t history_text_entity(const struct history_text *t, const char *name);

#endif
