/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Would a process's own filters of system calls (seccomp) let it take part in a session? */
#ifndef VPROF_FILTERS_H
#define VPROF_FILTERS_H

#include <sys/types.h>

#include "common/error.h"

/* What joins makes system calls that the program itself may never make, and a filter may end it for them. The kernel
 * shows a thread's filters while it is stopped, to who has CAP_SYS_ADMIN outside of user namespaces and no filter
 * itself: so each thread that has any is stopped for some 0.1 ms. A call in which it waits goes on afterwards, one with
 * a timeout perhaps from its begin; a transfer that was under way may come back short, as with a debugger.
 *
 * Where vprof has as many filters itself, as in a container, they are taken to be the same, and nothing is stopped.
 *
 * OK: there are none, or all allow all that a session needs; or it has ended. FAILED: the message says what is
 * forbidden, or why they cannot be read. */
int vprof_filters_check(pid_t pid, struct vprof_error *err);

/* How many a process's first thread has; -1: not known. Threads only ever get more. */
int vprof_filters_count(pid_t pid);

#endif
