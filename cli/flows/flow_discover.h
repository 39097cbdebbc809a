/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All of a discovery run: units chosen and compiled for it, the workload run, its recording analysed, the build put
 * back. */
#ifndef VPROF_FLOW_DISCOVER_H
#define VPROF_FLOW_DISCOVER_H

#include <cjson/cJSON.h>

#include "cli/flows/flow_run.h"

/* The answer goes to *answer and to flows.json in how->folder. units: as vprof_flow_units_choose. keep: the build for
 * discovery stays. The workspace gets its facts. */
int vprof_flow_discover(struct vprof_workspace *w, const struct vprof_option_words *units,
			const struct vprof_flow_run_options *how, int keep, cJSON **answer, struct vprof_error *err);

/* The last run's answer. MISSING: none was made. CORRUPT. */
int vprof_flow_read_answer(const char *folder, cJSON **answer, struct vprof_error *err);

#endif
