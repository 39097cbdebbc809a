/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two commits of a project, each built with probes in a work tree of its own below .vprof/commits.
 *
 * Both are measured alike: with this project's vprof.json as it is now, and, if that is wanted, the probes of its
 * drill-down. A tree that was built so is kept and taken again. The user's own work tree is not touched; git knows of
 * the new ones (git worktree list), until they are removed. */
#ifndef VPROF_COMMITS_H
#define VPROF_COMMITS_H

#include "cli/compare/comparison.h"
#include "cli/project.h"

struct vprof_commit {
	char id[41];	 /* full */
	char *subject;	 /* first line of its message */
	char *directory; /* of the project in its work tree */
};

struct vprof_commit_options {
	const char *setup; /* shell command to run in each new tree first (./configure); NULL: none */
	int with_probes;   /* of the project's drill-down; else annotations only */
};

/* 1 when the operand can only be a commit: neither a run's number nor a file that exists. */
int vprof_commit_is_meant(const char *operand);

/* Finds and builds one. INPUT: no such commit, or the project is in no repository; BUILD with the log's path. To be
 * released in any case. */
int vprof_commit_build(struct vprof_commit *c, struct vprof_project *p, const char *revision,
		       const struct vprof_commit_options *o, struct vprof_error *err);
void vprof_commit_release(struct vprof_commit *c);

/* Of the functions that changed most, the commits after the first up to the second that touched their lines. Heap text,
 * a line each, "" when there are none; NULL without memory. */
char *vprof_commits_between(const struct vprof_commit commits[2], const struct vprof_comparison *c, size_t top);

/* How many work trees were made; removes all of them, and has git forget them. */
size_t vprof_commits_count(const struct vprof_project *p);
int vprof_commits_remove(const struct vprof_project *p, struct vprof_error *err);

#endif
