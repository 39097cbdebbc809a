/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One command at a time changes a project: two builds with probes in one tree would break each other's objects.
 *
 * The lock is advisory, on .vprof/lock, and gone with the process that holds it, however that ends. The file says who
 * holds it. Commands that only read take none.
 */
#ifndef VPROF_LOCK_H
#define VPROF_LOCK_H

#include <stddef.h>

#include "cli/project.h"

/* Held until vprof_project_release(). `command` names this command for others. FAILED, with the holder's name, when
 * another one works here. */
int vprof_project_lock(struct vprof_project *p, const char *command, struct vprof_error *err);

/* 1 while another command holds it; `holder` says which, "" where that is not known. Takes nothing. */
int vprof_project_busy(const struct vprof_project *p, char *holder, size_t size);

/* A recording locks its run's folder, until the process ends: several may be made at once. */
void vprof_run_lock(const char *folder);
int vprof_run_is_locked(const char *folder);

#endif
