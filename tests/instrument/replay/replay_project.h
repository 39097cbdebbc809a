/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A real project in a temporary folder: written, built under observation, edited in its shadow by hand, replayed.
 *
 * Facts hold only what replay reads: files, units, and which project files a unit includes. A hand-made edit is a
 * regular file in the shadow tree; all other project files are symlinks there, as splice leaves them.
 */
#ifndef VPROF_TEST_REPLAY_PROJECT_H
#define VPROF_TEST_REPLAY_PROJECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/files.h"
#include "instrumenter/instrument.h"

struct project {
	char root[64], vprof[80];
	const char *build;
	struct vprof_facts *facts;
	struct vprof_replay_result result;
	struct vprof_error err;
};

void project_init(struct project *p, const char *build);
void project_remove(struct project *p);
void project_write(struct project *p, const char *name, const char *text);
/* Observes the build and makes facts.db. */
void project_observe(struct project *p);
/* facts.db anew from compile_commands.json. */
void project_facts(struct project *p);
/* The shadow of a file: `from` replaced by `to` in its text; NULL: back to a symlink. */
void project_edit(struct project *p, const char *name, const char *from, const char *to);
int project_replay(struct project *p); /* returns the code */
void project_check_replay(struct project *p, size_t n_compiled, size_t n_reverted);
/* What a shell command prints, run in the root; its exit status must be `status`. Static buffer. */
const char *project_shell(struct project *p, int status, const char *command);
void project_check_output(struct project *p, const char *command, const char *output);
/* Content, mode and time of every file outside .vprof, one line each; heap. `skip`: names left out, or NULL. */
char *project_snapshot(struct project *p, const char *skip);
void project_check_snapshot(struct project *p, const char *skip, const char *before);
char *project_log(struct project *p); /* build.log, heap */

#endif
