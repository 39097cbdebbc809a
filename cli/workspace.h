/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A project opened for work: vprof.json, and facts that agree with the sources on disk. */
#ifndef VPROF_WORKSPACE_H
#define VPROF_WORKSPACE_H

#include "annotate/check/annotations.h"
#include "cli/project.h"
#include "common/facts/callgraph.h"
#include "common/facts/facts.h"

struct vprof_workspace {
	struct vprof_project project;
	struct vprof_annotations *annotations;
	struct vprof_facts *facts;
	struct vprof_callgraph *graph;
	int rescanned; /* the facts were missing or stale */
};

/* Finds the project and reads vprof.json. A command that changes the build or the session gives its name and holds the
 * project's lock until the release; NULL: it only reads. Release after success and after failure. */
int vprof_workspace_open(struct vprof_workspace *w, const char *locked_by, struct vprof_error *err);
void vprof_workspace_release(struct vprof_workspace *w);

/* Loads the facts, scanning first when they are missing, damaged or older than the sources (told as a step), and the
 * call graph. */
int vprof_workspace_load_facts(struct vprof_workspace *w, struct vprof_error *err);

/* STALE when the facts are of another place than `here`, the annotations' folder: a copied or moved project still holds
 * what belongs to the old one, and building or restoring would change what lies there. */
int vprof_workspace_check_root(const struct vprof_project *p, const struct vprof_facts *facts, const char *here,
			       struct vprof_error *err);

/* Checks every annotation against the facts and the compiler. Needs the facts. */
int vprof_workspace_check(struct vprof_workspace *w, struct vprof_error *err);

/* The compilation database of a project: vprof.json's, or the one that `vprof init` observed. Heap string. */
char *vprof_workspace_compile_commands(const struct vprof_project *p, const struct vprof_annotations *a);

/* Runs the scanner on a compilation database, told as a step. */
int vprof_workspace_scan(const struct vprof_project *p, const char *compile_commands, const char *root,
			 struct vprof_error *err);

#endif
