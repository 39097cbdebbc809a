/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The annotation model: vprof.json in memory.
 *
 * Schema: annotate/vprof.schema.json. Every value keeps its place in the file, so that errors (also those found
 * later, against the facts or by the compiler) name file, line and key.
 */
#ifndef VPROF_ANNOTATIONS_H
#define VPROF_ANNOTATIONS_H

#include <stddef.h>

#include "common/error.h"

struct vprof_place {
	int line;	 /* in vprof.json, from 1 */
	const char *key; /* "intervals[0].begin.function" */
};

/* A C expression in its function's scope; text is NULL when absent. `$return` stands for the returned value. */
/* "$received" as an id, as the probes record it (VP_ID_RECEIVED of trace/format.h). */
#define VPROF_ID_RECEIVED "0x7672656365697665ull"

struct vprof_expr {
	const char *text;
	struct vprof_place place;
};

enum vprof_hook_kind {
	VPROF_HOOK_BEGIN,
	VPROF_HOOK_RESUME,
	VPROF_HOOK_SUSPEND,
	VPROF_HOOK_END,	    /* value = interval id */
	VPROF_HOOK_TYPE,    /* value = string or integer: type of the interval this thread works for */
	VPROF_HOOK_WORK,    /* value = amount; name = the counter's */
	VPROF_HOOK_ACQUIRE, /* value = object; the function's whole execution is the wait */
	VPROF_HOOK_RELEASE, /* value = object */
	VPROF_HOOK_ENQUEUE,
	VPROF_HOOK_DEQUEUE, /* value = item */
};

/* One annotation of one function. Evaluation: at entry, `value` and `condition` are evaluated at entry. At
 * exit, `value` is evaluated at entry unless it mentions $return (the function may free what it names), and
 * `condition` at exit. TYPE and WORK at exit are evaluated at exit. */
struct vprof_hook {
	enum vprof_hook_kind kind;
	const char *function; /* __func__ or qualified name; for C++ also with a file suffix "name@file.cc" */
	struct vprof_place function_place;
	int at_exit; /* "at": "entry" (default; DEQUEUE with $return: exit) or "exit" */
	struct vprof_expr value, condition, mode;
	const char *name; /* interval's name for the first five, counter's name for WORK, else "" */
};

struct vprof_annotations {
	const char *path;	      /* of vprof.json */
	const char *build, *run;      /* shell commands, run in `directory`; NULL when absent */
	const char *directory;	      /* absolute: where vprof.json lies, or its "directory" key */
	const char *compile_commands; /* absolute path or NULL: .vprof/compile_commands.json */
	struct vprof_hook *hooks;
	size_t n_hooks;
	const char **interval_names;
	size_t n_intervals;
	const char **roots; /* optional: functions to start the drill-down from */
	size_t n_roots;
	/* optional: functions that are broken down at once, callers before what they call */
	const char **measure_first;
	size_t n_measure_first;
	const char **exclude; /* optional: functions never to instrument (name or glob) */
	size_t n_exclude;
	struct vprof_annotations_private *private;
	struct vprof_place *root_places, *first_places, *exclude_places; /* [n_roots], [n_measure_first], [n_exclude] */
};

/* INPUT with "vprof.json:LINE: KEY: what; what to do" when the file is wrong. */
int vprof_annotations_read(struct vprof_annotations **out, const char *path, struct vprof_error *err);
void vprof_annotations_free(struct vprof_annotations *a);
const char *vprof_hook_kind_name(enum vprof_hook_kind kind); /* "begin", ... */

#endif
