/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Would a process's own filters of system calls (seccomp) let it take part in a session? */
#ifndef VPROF_FILTERS_H
#define VPROF_FILTERS_H

#include <sys/types.h>

#include "common/error.h"

/* What joins makes system calls that the program itself may never make, and a filter may end it for them. Filters that
 * vprof has as well, such as a container's, are no concern: it makes them itself. Of others, the kernel tells those of
 * a thread that is stopped, to who has CAP_SYS_ADMIN: a thread is stopped for some 0.1 ms, and a system call in which
 * it waits goes on (one with a timeout anew).
 *
 * OK: there are none, or all allow all that a session needs. FAILED: the message says what is forbidden, or why they
 * cannot be read. */
int vprof_filters_check(pid_t pid, struct vprof_error *err);

#endif
