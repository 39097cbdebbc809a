/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When threads were off-CPU, from the context switches of all CPUs. */
#ifndef VPROF_TIMELINE_SWITCHES_H
#define VPROF_TIMELINE_SWITCHES_H

#include "analysis/timeline/thread_timeline.h"

/* Fills off_cpu and cpu_unknown of all threads from the context switches of all CPUs. OK or NOMEM. */
int vprof_off_cpu_build(struct vprof_timeline *timeline);

#endif
