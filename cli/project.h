/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a project's files and vprof's own parts lie.
 *
 * The project is the folder of vprof.json: the current folder or the nearest above it. Without one it is the current
 * folder. .vprof lies beside vprof.json. vprof's parts are found from the running binary: libvprof.so, include/probe.h
 * and include/vprof.h in ../lib/vprof or where they were installed (environment: VPROF_LIBDIR), vprof-scan beside the
 * binary or there.
 * All paths are absolute heap strings owned by the struct.
 */
#ifndef VPROF_PROJECT_H
#define VPROF_PROJECT_H

#include "common/error.h"

struct vprof_project {
	char *directory;
	char *config; /* vprof.json, whether it exists or not */
	int has_config;
	char *vprof_dir, *facts, *session, *verdicts, *plan, *build_log, *shadow, *runs;
	char *scanner, *library, *library_dir, *include_dir, *probe_header;
	int lock; /* a descriptor (see lock.h), 0: none; standard input to error are always open */
};

/* `directory` NULL: search as above. Release after success and after failure. */
int vprof_project_open(struct vprof_project *p, const char *directory, struct vprof_error *err);
void vprof_project_release(struct vprof_project *p);

/* MISSING with the way on when there is no vprof.json. */
int vprof_project_need_config(const struct vprof_project *p, struct vprof_error *err);

/* Makes .vprof with a .gitignore that ignores all of it. */
int vprof_project_make_dir(const struct vprof_project *p, struct vprof_error *err);

struct vprof_run_name {
	char s[16]; /* "0007" */
};

/* A run folder's number, 0 when the name is none. */
unsigned vprof_project_run_number(const char *name);

/* The next free number; its folder is made. */
int vprof_project_new_run(const struct vprof_project *p, struct vprof_run_name *name, struct vprof_error *err);

/* The latest run whose folder holds `file` ("results.json"), or the one that `wanted` names ("7" and "0007" are the
 * same). MISSING with `otherwise` as the advice when there is none. */
int vprof_project_find_run(const struct vprof_project *p, const char *wanted, const char *file, const char *otherwise,
			   struct vprof_run_name *name, struct vprof_error *err);

/* The folder of a run, on the heap: the run that `wanted` names in the project of the current folder (NULL: the latest;
 * file, otherwise: as above), or the folder that it is; `name` is "" then. */
int vprof_project_run_folder(const char *wanted, const char *file, const char *otherwise, struct vprof_run_name *name,
			     char **folder, struct vprof_error *err);

/* runs/NAME/FILE on the heap ("" for the folder itself); NULL: out of memory. */
char *vprof_project_run_path(const struct vprof_project *p, const char *run, const char *file);

/* `path` as seen from the current folder when it lies beneath it, for messages. Points into `path`. */
const char *vprof_project_shown(const char *path);

#endif
