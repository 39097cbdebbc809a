/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/latency_interval_results.h"

#include "analysis/results/results_json.h"
#include "analysis/results/results_writer.h"

/* clang-format off */
#define INTERVAL_FIELDS(U, D, I, S, E)                                                                                  \
	U(n_calls) U(n_used) U(n_cut) U(n_unsure) U(n_windows) U(n_inlined) S(file) S(inlined_into) D(mean_low_ns) D(mean_high_ns) D(sd_low_ns) D(sd_high_ns)
/* clang-format on */

WRITER(write_layer, vprof_layer, VPROF_LAYER_FIELDS)
WRITER(write_interval, vprof_latency_interval, INTERVAL_FIELDS)

int vprof_latency_interval_is_known(const struct vprof_latency_interval *i)
{
	return i->n_used >= VPROF_INFERRED_MIN && i->n_used >= i->n_calls - i->n_used;
}

static int write_layers(cJSON *o, const struct vprof_results *x)
{
	int ok = 1;

	WRITE_LIST(layers, n_layers, write_layer);
	return ok;
}

cJSON *vprof_latency_interval_json(const struct vprof_latency_interval *i)
{
	cJSON *all = cJSON_CreateObject(), *o = all ? cJSON_AddObjectToObject(all, "interval") : NULL;

	if (o && vprof_json_add_number(all, "version", 1) && vprof_json_add_string(o, "name", i->results->interval) &&
	    vprof_json_add_string(o, "run", i->results->run) && write_interval(o, i) && write_layers(o, i->results))
		return all;
	cJSON_Delete(all);
	return NULL;
}
