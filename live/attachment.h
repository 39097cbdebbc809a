/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that run already and are asked to take part in a session: a process and all that descend from it, also
 * those that begin later (docs/design/attach.md).
 *
 *   vprof_attachment_new -> (a collector's memory) -> vprof_attachment_step every few ms ... -> vprof_attachment_end
 */
#ifndef VPROF_ATTACHMENT_H
#define VPROF_ATTACHMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

struct vprof_attachment;

struct vprof_attachment_state {
	int is_over;		    /* the first process has ended, and so have all others */
	size_t n_doors, n_joined;   /* processes that are linked, and that take part now */
	size_t n_refused, n_others; /* others: of which it is not known yet whether they are linked */
	char refusal[240];	    /* the last reason */
};

/* Looks at the tree, and writes nothing. MISSING: there is no such process; INPUT: none of the tree is linked with the
 * library; FAILED: it may not be written to, has a library of another version, or another vprof is attached. */
int vprof_attachment_new(struct vprof_attachment **out, pid_t pid, struct vprof_error *err);
/* Whose processes they are: the shared memory must belong to that user. */
uid_t vprof_attachment_user(const struct vprof_attachment *a);

/* Invites whoever is new to the memory at `path`, of that user's. OK or NOMEM. */
int vprof_attachment_step(struct vprof_attachment *a, const char *path, uint64_t nonce);
void vprof_attachment_look(const struct vprof_attachment *a, struct vprof_attachment_state *state);

/* Takes back what was not answered. The session's memory says that it is over: waits at most that long for all that
 * take part to leave; returns how many have not, since nothing runs in them. */
size_t vprof_attachment_end(struct vprof_attachment *a, double wait_s);
void vprof_attachment_free(struct vprof_attachment *a);

#endif
