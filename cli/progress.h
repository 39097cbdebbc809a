/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps and messages on standard error. A step that runs shows a percentage on a terminal and nothing elsewhere; a step
 * that is done leaves one line:
 *
 *   scan     207 files, 6,796 functions                                       3.1 s
 *
 * --quiet: nothing but errors. --progress json: a JSON object for each of these, one a line (docs/cli.md).
 */
#ifndef VPROF_PROGRESS_H
#define VPROF_PROGRESS_H

#include <time.h>

struct vprof_progress {
	const char *step;
	int on_terminal, shown;
	struct timespec started, drawn;
};

/* From now on steps are shown while they run, on a terminal, and leave no line behind. */
void vprof_progress_be_brief(void);

/* From now on nothing is told but errors. */
void vprof_progress_be_quiet(void);

/* "text", "none" or "json"; 0 when it is none of these. */
int vprof_progress_choose(const char *form);

/* Starts a step; `step` must outlive it. */
void vprof_progress_begin(struct vprof_progress *p, const char *step);

/* The progress callback of the libraries: arg is the struct; done from 0 to 1. */
void vprof_progress_update(void *arg, const char *what, double done);

/* A line of its own while the step runs; none on a terminal, where vprof_progress_update shows it. */
void vprof_progress_note(struct vprof_progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The step's line. */
void vprof_progress_end(struct vprof_progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The step failed: takes the unfinished line away, so that the error stands alone. */
void vprof_progress_drop(struct vprof_progress *p);

/* Whether text on this file descriptor may be coloured: a terminal, NO_COLOR unset, TERM not dumb. */
int vprof_progress_colour(int fd);

#endif
