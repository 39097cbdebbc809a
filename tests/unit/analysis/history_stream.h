/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories as text, one after the other on standard input: each is analysed with one thread and with three, and what
 * comes of it is printed as a line. */
#ifndef HISTORY_STREAM_H
#define HISTORY_STREAM_H

#include "common/text.h"

/* `next`: the history after this one; NULL, or empty, after the last one. An exit status: 1 where the number of threads
 * makes a difference. */
int history_stream_print(void (*analyse)(const char *text, int n_threads, struct vprof_text *out),
			 const char *(*next)(const char *text));

#endif
