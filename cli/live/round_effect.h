/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the probes of a live round changed. */
#ifndef VPROF_ROUND_EFFECT_H
#define VPROF_ROUND_EFFECT_H

#include "analysis/results/results.h"
#include "cli/project.h"
#include "common/error.h"

/* Of an analysed round: writes runs/RUN/live.json, and tells it. */
int vprof_round_effect_conclude(const struct vprof_project *p, const char *run, const struct vprof_results *results,
				struct vprof_error *err);

#endif
