/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A discovery run: the units compiled for it, the workload run with libvprof-flows.so, and the build put back. */
#ifndef VPROF_FLOW_RUN_H
#define VPROF_FLOW_RUN_H

#include "cli/flows/flow_units.h"
#include "cli/workspace.h"

struct vprof_flow_run_options {
	const char *command; /* NULL: vprof.json's */
	long memory_mib;     /* of the recording; 0: the default */
	int verbose;
	const char *folder; /* .vprof/flows: the recording goes to `sections` in it */
};

/* The workspace has its facts. Afterwards, also after an error, and once nobody needs the program's symbols any more,
 * vprof_flow_put_back. */
int vprof_flow_run(struct vprof_workspace *w, const struct vprof_flow_units *units,
		   const struct vprof_flow_own_locks *own, const struct vprof_flow_run_options *o,
		   struct vprof_error *err);

/* Compiles the units again as they were. Nothing when nothing was built for discovery. */
int vprof_flow_put_back(struct vprof_workspace *w, const char *folder, struct vprof_error *err);

#endif
