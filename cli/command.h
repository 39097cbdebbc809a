/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of `vprof` and their exit statuses. To add a command: write cmd_<name>.c with one function of this
 * shape, declare it here, add a row to the table in vprof.c, a section to docs/cli.md and cases to tests/cli/.
 *
 * A command prints its own errors (vprof_complain) and returns its exit status; stdout is data, stderr is progress
 * and messages.
 */
#ifndef VPROF_COMMAND_H
#define VPROF_COMMAND_H

#include "common/error.h"

enum vprof_exit {
	VPROF_EXIT_OK = 0,
	VPROF_EXIT_FAILED = 1,
	VPROF_EXIT_USAGE = 2,
	VPROF_EXIT_INCONCLUSIVE = 3,
};

/* argv[0] is the command's name. */
int vprof_cmd_init(int argc, char **argv);
int vprof_cmd_annotations(int argc, char **argv);
int vprof_cmd_build(int argc, char **argv);
int vprof_cmd_run(int argc, char **argv);
int vprof_cmd_join(int argc, char **argv);
int vprof_cmd_analyze(int argc, char **argv);
int vprof_cmd_iterate(int argc, char **argv);
int vprof_cmd_report(int argc, char **argv);
int vprof_cmd_export(int argc, char **argv);
int vprof_cmd_compare(int argc, char **argv);
int vprof_cmd_review(int argc, char **argv);
int vprof_cmd_source(int argc, char **argv);
int vprof_cmd_restore(int argc, char **argv);
int vprof_cmd_record(int argc, char **argv);
int vprof_cmd_flows(int argc, char **argv);
int vprof_cmd_doctor(int argc, char **argv);
int vprof_cmd_status(int argc, char **argv);
int vprof_cmd_runs(int argc, char **argv);
int vprof_cmd_top(int argc, char **argv);
int vprof_cmd_live(int argc, char **argv);
int vprof_cmd_clean(int argc, char **argv);

/* Prints "vprof: message" on stderr and returns the exit status that fits the code. */
int vprof_complain(int code, const struct vprof_error *err);

/* Prints "vprof: note: ..." on stderr. */
void vprof_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line of its own on standard error that is no answer: what was done, what comes next. */
void vprof_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
