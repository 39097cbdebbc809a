/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calls of the system and of well-known libraries do for a program: wait, receive, send, lock, ...
 *
 * The names are data: another library's calls are one more line in call_roles.c.
 */
#ifndef VPROF_CALL_ROLES_H
#define VPROF_CALL_ROLES_H

#include "common/facts/facts.h"

enum vprof_call_role {
	VPROF_ROLE_POLL,    /* epoll_wait, select, ...: waits for many descriptors */
	VPROF_ROLE_RECEIVE, /* accept, recv, read, mq_receive, ... */
	VPROF_ROLE_SEND,    /* send, write, ... */
	VPROF_ROLE_WAIT,    /* pthread_cond_wait, sem_wait, ... */
	VPROF_ROLE_SIGNAL,  /* pthread_cond_signal, sem_post, ... */
	VPROF_ROLE_TELL,    /* kill, a byte into a pipe, ... */
	VPROF_ROLE_LOCK,    /* pthread_mutex_lock, ... */
	VPROF_ROLE_UNLOCK,
	VPROF_ROLE_DISPATCH, /* not known by name: a call through a pointer into a table of functions that take
				something like a request (distances.h) */
	VPROF_ROLE_N,
};

/* Does the call have that role by its name: VPROF_ROLE_RECEIVE for recv()? Not for VPROF_ROLE_DISPATCH. */
int vprof_call_has_role(const struct vprof_facts_call *call, enum vprof_call_role role);

#endif
