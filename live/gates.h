/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens and closes resident probes in running processes, from outside (docs/live.md).
 *
 * What is wanted is a plan; what each process has was read from its memory, and only differences are written. The order
 * never lets a call be half measured for longer than the writing: entries that are to be closed, then the sites, then
 * entries that are to be opened. An entry is one byte: A9 (a test whose result nobody uses) or E9 (a jump to the
 * instrumented function).
 *
 * Processes are strangers: each may end, execute another program or refuse at any moment. One that does is left as it
 * is and forgotten; all others go on. A module whose memory is not as the map says is never written to.
 */
#ifndef VPROF_GATES_H
#define VPROF_GATES_H

#include <sys/types.h>

#include "common/error.h"
#include "common/plan.h"
#include "live/probe_map.h"

struct vprof_gates;

int vprof_gates_new(struct vprof_gates **out, const struct vprof_probe_map *map, struct vprof_error *err);
/* From now on only processes of this effective user are written to; 0: of any. Which processes there are is told by the
 * program: where that is another user's, root must not be sent to a stranger's. */
void vprof_gates_limit(struct vprof_gates *g, uid_t user);
/* Forgets the processes and leaves them as they are: set(NULL) and apply before that closes all. */
void vprof_gates_free(struct vprof_gates *g);

/* What is wanted from now on: the plan's probes, or with NULL none. OK or NOMEM. *n_missing: probes of the plan that
 * the map does not know; may be NULL. */
int vprof_gates_set(struct vprof_gates *g, const struct vprof_plan *plan, size_t *n_missing);

struct vprof_gates_result {
	size_t n_processes, n_modules; /* that are as wanted now */
	size_t n_written;	       /* bytes' and sites' writes */
	size_t n_gone;		       /* processes that ended meanwhile */
	size_t n_refused;	       /* processes that may not be written to, or whose memory is not as expected */
	char refusal[240];	       /* the last reason */
};

/* Makes all known processes as wanted. OK or NOMEM: what a single process does is told in `result`, counts of this
 * call. */
int vprof_gates_apply(struct vprof_gates *g, struct vprof_gates_result *result);

/* Adds the process, unless it is known, and looks at its modules again; makes it as wanted. *written: something had to
 * be written, or its modules could not be read before. A process with another process_seq has executed another program.
 * OK (also when that could not be done yet, since the process is executing a
 * program or loading a library: it is to be looked at again, and told as written), NOMEM, MISSING when it has ended,
 * FAILED with the reason when it may not be written to (it is remembered as refusing, and not asked again). */
int vprof_gates_look(struct vprof_gates *g, uint32_t pid, uint32_t process_seq, int *written, struct vprof_error *err);

/* Was it made as wanted before, and is not refused? */
int vprof_gates_knows(const struct vprof_gates *g, uint32_t pid, uint32_t process_seq);

/* Is its memory not as expected, though perhaps only for now? */
int vprof_gates_fails(const struct vprof_gates *g, uint32_t process_seq);
int vprof_gates_refuses(const struct vprof_gates *g, uint32_t process_seq);
size_t vprof_gates_n_processes(const struct vprof_gates *g); /* that are as wanted, of those known */

#endif
