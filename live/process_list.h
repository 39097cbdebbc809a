/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes that there are, from /proc. */
#ifndef VPROF_PROCESS_LIST_H
#define VPROF_PROCESS_LIST_H

#include <sys/types.h>

#include "common/array.h"
#include "common/error.h"

struct vprof_process_entry {
	pid_t pid, parent;	       /* parent -1: it has ended */
	unsigned long long start_time; /* in the kernel's clock ticks since boot */
	int is_inside;		       /* for the caller */
};

struct vprof_process_list {
	VPROF_ARRAY(struct vprof_process_entry) v;
};

/* OK or NOMEM; sorted by pid. Release it in either case. */
int vprof_process_list_read(struct vprof_process_list *list);
struct vprof_process_entry *vprof_process_list_find(const struct vprof_process_list *list, pid_t pid);
void vprof_process_list_release(struct vprof_process_list *list);

/* The effective user of a process; -1 when it has ended. */
int vprof_process_user(pid_t pid, uid_t *user);

/* The process called `name` (as ps shows it, or its program's file name), or the one from which all of that name
 * descend. MISSING: there is none; INPUT: there are several, which the message lists. */
int vprof_process_named(const char *name, pid_t *pid, struct vprof_error *err);

#endif
