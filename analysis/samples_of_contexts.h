/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where two sections of the results are put together: transaction contexts, and the stacks that a timer took of threads
 * while they worked for their intervals. */
#ifndef VPROF_SAMPLES_OF_CONTEXTS_H
#define VPROF_SAMPLES_OF_CONTEXTS_H

#include "analysis/latency/history/latency_history.h"
#include "analysis/results/results.h"
#include "analysis/source/source.h"
#include "analysis/transactions/call_paths.h"

/* Fills `sampled` of the contexts of r, which are there. call_paths: with the labels that the contexts are called by;
 * events: of the same trace. OK, NOMEM. */
int vprof_samples_of_contexts_fill(struct vprof_results *r, struct vprof_source *source,
				   const struct vprof_call_paths *call_paths,
				   const struct vprof_latency_history *events, struct vprof_error *err);

#endif
