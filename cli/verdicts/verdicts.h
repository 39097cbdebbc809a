/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the developer said of factors, in .vprof/verdicts.json: kept across runs and drill-downs, shown by all reports.
 *
 * The session's own verdicts (session.h) also say what a rule decided, and end with the drill-down; these here are a
 * person's and stay until the person takes them back. A factor is told by its interval and its key, which are the same
 * in every run.
 *
 * Invariant: every change reads, changes and replaces the whole file, atomically and under a lock, so that commands
 * that run at once lose nothing of each other's. docs/cli.md documents the file.
 */
#ifndef VPROF_VERDICTS_H
#define VPROF_VERDICTS_H

#include <stddef.h>

#include "analysis/results/verdict.h"
#include "common/error.h"

struct vprof_review {
	char *interval, *key;
	char *name;		    /* the factor's, for people */
	enum vprof_verdict verdict; /* VPROF_VERDICT_CULPRIT to _TODO */
	char *note;		    /* "": none. Valid UTF-8 without control characters */
	char *run;		    /* the run that was looked at, "0007" */
	char *date;		    /* "2026-11-21T08:50:00Z" */
};

struct vprof_reviews {
	struct vprof_review *items; /* owns its strings */
	size_t n;
};

#define VPROF_NOTE_BYTES_MAX 2000

/* No file: an empty list and OK. CORRUPT with the way on when the file is damaged. `r` is initialised either way. */
int vprof_reviews_load(struct vprof_reviews *r, const char *path, struct vprof_error *err);
void vprof_reviews_release(struct vprof_reviews *r);

/* NULL when there is none. `interval` NULL or "": of any. */
const struct vprof_review *vprof_reviews_find(const struct vprof_reviews *r, const char *interval, const char *key);

/* Writes one verdict into the file, in the place of an older one, whose note stays when `review` has none (NULL);
 * without a verdict it is taken back. The folder of `path` must exist. The date is set here. `r` becomes what the file
 * holds then; after an error it is as it was. */
int vprof_reviews_set(struct vprof_reviews *r, const char *path, const struct vprof_review *review,
		      struct vprof_error *err);

#endif
