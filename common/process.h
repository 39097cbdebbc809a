/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a child process and waits for it: the build, the compiler, the scanner, bear.
 *
 * Every child leads its own process group, with /dev/null as standard input. When the calling process gets SIGINT,
 * SIGTERM or SIGHUP meanwhile, all running groups get SIGTERM (SIGKILL two seconds later), and vprof_process_run
 * returns FAILED ("interrupted", and by what), so that callers clean up behind themselves; the signal itself is not
 * passed on. Safe to call from several threads at once.
 */
#ifndef VPROF_PROCESS_H
#define VPROF_PROCESS_H

#include "common/error.h"
#include "common/text.h"

/* Zero-initialise, then set `argv` or `command`. Output (stdout and stderr together) goes to every place that is set:
 * nowhere when none is. */
struct vprof_process {
	const char *const *argv;		   /* NULL-terminated; argv[0] is looked up in PATH */
	const char *command;			   /* instead of argv: run by sh -c */
	const char *directory;			   /* NULL: the caller's */
	const char *const *environment;		   /* more variables, "NAME=value", NULL-terminated; NULL: none */
	const char *log_path;			   /* appended to */
	struct vprof_text *captured;		   /* at most 16 MiB are kept */
	void (*line)(void *arg, const char *line); /* each line without its newline; called on this thread */
	void *line_arg;
	int inherit_output; /* the caller's stdout and stderr instead of the above */
};

struct vprof_process_result {
	int status; /* exit status, or -1 when a signal ended it */
	int signal; /* that signal, or 0 */
	double seconds;
};

/* OK when the child ran and ended, whatever its status. MISSING when there is no such program, INPUT when there is no
 * such folder, FAILED when interrupted or out of resources. */
int vprof_process_run(const struct vprof_process *p, struct vprof_process_result *result, struct vprof_error *err);

/* "exit status 2" or "killed by signal 11 (Segmentation fault)". */
void vprof_process_describe(const struct vprof_process_result *result, char *text, size_t size);

/* The program's absolute path as execvp would find it, on the heap; NULL when it is not in PATH. */
char *vprof_process_find(const char *program);

/* Seconds on a clock that nobody sets; only differences mean something. */
double vprof_clock_s(void);

#endif
