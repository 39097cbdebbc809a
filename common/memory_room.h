/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory a process may still take before the machine, or the control group that it is in, runs short. */
#ifndef VPROF_MEMORY_ROOM_H
#define VPROF_MEMORY_ROOM_H

#include <stdint.h>

/* Bytes: what /proc/meminfo has as available, or less when a memory limit of a control group (version 1 or 2) leaves
 * less; 0: not known. `root` is put before all paths: "", or a test's folder. */
uint64_t vprof_memory_room(const char *root);

#endif
