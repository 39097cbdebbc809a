/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What calls consist of, as results. */
#ifndef VPROF_LAYER_DESCRIBE_H
#define VPROF_LAYER_DESCRIBE_H

#include "analysis/latency/call_sums.h"
#include "analysis/results/results.h"

/* Appends the calls and the contexts that matter beneath them to r's layers. key: of a factor, or ""; n_calls: in all,
 * seen as a whole or not; n_unplaced: as in struct vprof_layer. Nothing for no calls. OK, NOMEM. */
int vprof_layers_describe(struct vprof_results *r, const struct vprof_call_sums *s, const char *key, uint64_t n_calls,
			  uint64_t n_unplaced);

#endif
