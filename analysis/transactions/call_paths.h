/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call paths that lead to marks of intervals and queues, by the functions on them: from which function of the
 * program to which, without what starts threads and programs, and without what is in the C library.
 *
 * Paths are numbered over all traces, 0: not known. Two have one number if they lead through the same functions of the
 * same program; loops are pruned as in a context (vprof_stages_append): f > g > f is f.
 */
#ifndef VPROF_CALL_PATHS_H
#define VPROF_CALL_PATHS_H

#include "analysis/source/source.h"
#include "common/hash/string_set.h"

#define VPROF_CALL_PATHS_MAX 8192u
#define VPROF_STAGES_MAX 24u /* of a context: what comes after counts for the last of them */

struct vprof_named_path {
	uint32_t first, n;   /* into frames, outermost first */
	const char *program; /* the file's name without folders */
	/* once named: the innermost function that is on no other stage's path; where there is none, the innermost
	 * functions, as many as it takes to tell it from all others */
	const char *label;
	const char *text; /* all of them: "main > serve > handle" */
};

struct vprof_call_paths {
	VPROF_ARRAY(struct vprof_named_path) paths; /* [0]: not known */
	VPROF_ARRAY(const char *) frames;
	struct vprof_strings names; /* that all of these point to */
	struct vprof_hash_index by_frames;
	size_t *first_thread; /* [n_sources] number of the source's first thread */
	size_t *first_path;   /* [all threads + 1] into numbers */
	uint32_t *numbers;    /* of each thread's paths, in their order */
	const struct vprof_source *sources;
};

/* All paths of all traces, without labels; opens the programs. OK or NOMEM; to be released in any case. */
int vprof_call_paths_find(struct vprof_call_paths *p, const struct vprof_source *sources, size_t n_sources);
/* Gives the paths that are stages their labels: is_stage[paths.n]. OK or NOMEM. */
int vprof_call_paths_name(struct vprof_call_paths *p, const uint8_t *is_stage);
void vprof_call_paths_release(struct vprof_call_paths *p);

/* Number of a thread's path, 0: not known. O(log paths). */
uint32_t vprof_call_path_number(const struct vprof_call_paths *p, size_t source, uint32_t thread, uint32_t id);

/* The paper's rule (section 4.1) for the list of stages that a transaction passed: a stage that is there already closes
 * a loop, which is pruned: what came after its first time is dropped. stages[VPROF_STAGES_MAX]; the new length. */
uint32_t vprof_stages_append(uint32_t *stages, uint32_t n, uint32_t stage);

#endif
