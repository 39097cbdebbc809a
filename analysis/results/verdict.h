/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was decided of a factor. Files hold the words; everything else the enumeration. */
#ifndef VPROF_VERDICT_H
#define VPROF_VERDICT_H

enum vprof_verdict {
	VPROF_VERDICT_NONE,
	/* a person's */
	VPROF_VERDICT_CULPRIT,
	VPROF_VERDICT_INHERENT,
	VPROF_VERDICT_IGNORE,
	VPROF_VERDICT_FIXED,
	VPROF_VERDICT_TODO,
	/* the drill-down's own */
	VPROF_VERDICT_BROKEN_DOWN, /* its children stand for it */
	VPROF_VERDICT_CANDIDATE,   /* as specific as it gets, but not settled; shown only: files keep "culprit" */
	VPROF_VERDICT_COUNT
};

/* "", "culprit", "inherent", "ignore", "fixed", "todo", "broken down", "candidate" */
extern const char *const vprof_verdict_names[VPROF_VERDICT_COUNT];

/* 0, or -1 when it is none of the words. */
int vprof_verdict_parse(const char *text, enum vprof_verdict *verdict);

#endif
