/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Somebody who puts things back when vprof is killed while it is attached to processes (docs/design/attach.md). */
#ifndef VPROF_KEEPER_H
#define VPROF_KEEPER_H

#include <sys/types.h>

#include "common/error.h"
#include "live/probe_map.h"
#include "trace/collector.h"

struct vprof_keeper {
	pid_t pid; /* 0: none */
	int fd;
};

/* Starts it. Collector and map are those that it looks at should this process end before vprof_keeper_dismiss(). */
int vprof_keeper_start(struct vprof_keeper *k, const struct vprof_collector *collector,
		       const struct vprof_probe_map *map, struct vprof_error *err);
void vprof_keeper_dismiss(struct vprof_keeper *k); /* also of one that was not started */

#endif
