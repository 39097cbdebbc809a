/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recording changes in a live session: latencies of turns in which a plan was in force against those of baselines,
 * in one process, under one load. Turns were drawn at random, so each is an observation: latencies within one have much
 * in common. */
#ifndef VPROF_LIVE_EFFECT_H
#define VPROF_LIVE_EFFECT_H

#include "analysis/results/results.h"
#include "analysis/source/source.h"

#define VPROF_LIVE_TURNS_MIN 4 /* of each kind, below which no bounds are given */

/* Adds v[n], latencies of one trace or of several one after another. Bounds are 95 % of 1,000 replicates, in which
 * turns of each kind are drawn with replacement; the same latencies give the same bounds. Figures are NaN where there
 * are too few latencies: 2 on each side, 100 for p99. OK or NOMEM. */
int vprof_live_effect_estimate(struct vprof_live_effect *e, const struct vprof_turn_latency *v, size_t n);

#endif
