/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/latency_results.h"

#include <stdlib.h>

#include "analysis/results/results_writer.h"

const char *const vprof_latency_layer_names[] = { "program", "library", "kernel" };
const char *const vprof_latency_verdict_names[] = { "settled", "unbounded", "varies" };

struct vprof_latency_results *vprof_latency_results_new(void)
{
	struct vprof_latency_results *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->unit = "s";
	r->unit_path = "";
	r->ratio = 1;
	for (int i = 0; i < 2; i++)
		r->sides[i].run = r->sides[i].missing = "";
	return r;
}

void vprof_latency_results_free(struct vprof_latency_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_paths; i++) {
		free(r->paths[i].steps);
		free(r->paths[i].parts);
	}
	free(r->names);
	free(r->nodes);
	free(r->paths);
	free(r->calls);
	free(r->threads);
	vprof_strings_release(&r->strings);
	free(r);
}

/* clang-format off */
#define SIDE_FIELDS(U, D, I, S, E)                                                                                      \
	S(run) D(duration_ns) D(observed_ns) U(n_windows) U(n_events) U(n_lost) U(n_without) U(n_kernel_only) U(n_cut) U(n_deep) U(n_long) U(n_untabled) U(n_gone) U(n_unpaired) U(n_threads) U(n_instances) U(n_contexts) \
	U(n_frames) U(n_unnamed) D(total_ns) D(idle_ns) D(unsure_ns) D(n_units) D(n_few) S(missing)
#define NAME_FIELDS(U, D, I, S, E) S(name) S(file) E(layer, vprof_latency_layer_names)
#define FIGURES_FIELDS(U, D, I, S, E)                                                                                   \
	D(n) D(calls_low) D(calls_high) D(n_cut) D(n_unsure) D(low_ns) D(high_ns) D(own_ns) D(own_low_ns) D(own_high_ns) D(own_off_ns) D(own_idle_ns) D(own_likely_ns)       \
	D(call_low_ns) D(call_high_ns) D(slowest_low_ns) D(slowest_high_ns)
#define PATH_FIELDS(U, D, I, S, E)                                                                                      \
	D(cost_ns) D(low_ns) D(high_ns) D(least_ns) U(n_own) I(is_own) D(share) D(error_ns) U(n_whole) E(verdict, vprof_latency_verdict_names)
#define STEP_FIELDS(U, D, I, S, E) U(context) U(rank) D(cost_ns)
#define PART_FIELDS(U, D, I, S, E) U(context) D(cost_ns)
#define CALL_FIELDS(U, D, I, S, E)                                                                                      \
	U(context) U(thread) D(before_ns) D(first_ns) D(last_ns) D(after_ns) I(is_cut) U(n_unsure)
/* clang-format on */

WRITER(write_side, vprof_latency_side, SIDE_FIELDS)
WRITER(write_name, vprof_latency_name, NAME_FIELDS)
WRITER(write_figures, vprof_latency_figures, FIGURES_FIELDS)
WRITER(write_step, vprof_latency_step, STEP_FIELDS)
WRITER(write_part, vprof_latency_part, PART_FIELDS)
WRITER(write_call, vprof_latency_call, CALL_FIELDS)

/* null: the context is not in that run. */
static int add_figures(cJSON *node, const char *key, const struct vprof_latency_figures *f)
{
	cJSON *o = f->is_there ? cJSON_AddObjectToObject(node, key) : cJSON_AddNullToObject(node, key);

	return o && (!f->is_there || write_figures(o, f));
}

static int write_place(cJSON *o, const struct vprof_latency_node *x)
{
	return vprof_json_add_number(o, "parent", x->parent == VPROF_LATENCY_NONE ? -1 : (double)x->parent) &&
	       vprof_json_add_number(o, "function", x->function);
}

static int write_node(cJSON *o, const struct vprof_latency_node *x)
{
	return write_place(o, x) && add_figures(o, "new", &x->side[1]);
}

static int write_compared_node(cJSON *o, const struct vprof_latency_node *x)
{
	return write_place(o, x) && add_figures(o, "base", &x->side[0]) && add_figures(o, "new", &x->side[1]);
}

static int write_path(cJSON *o, const struct vprof_latency_path_result *x)
{
	int ok = 1;

	W_FIELDS(PATH_FIELDS)
	WRITE_LIST(steps, n_steps, write_step);
	WRITE_LIST(parts, n_parts, write_part);
	return ok;
}

static int write_thread(cJSON *o, const char *const *name)
{
	return vprof_json_add_string(o, "name", *name);
}

static int write_all(cJSON *o, const struct vprof_latency_results *x)
{
	int ok = vprof_json_add_number(o, "version", 1) && vprof_json_add_string(o, "unit", x->unit) &&
		 (!x->is_comparison ||
		  (vprof_json_add_string(o, "unit_path", x->unit_path) && vprof_json_add_number(o, "ratio", x->ratio) &&
		   vprof_json_add_number(o, "spread", x->spread))) &&
		 (!x->is_comparison || write_side(cJSON_AddObjectToObject(o, "base"), &x->sides[0])) &&
		 write_side(cJSON_AddObjectToObject(o, "new"), &x->sides[1]);

	WRITE_LIST_AS("functions", names, n_names, write_name);
	WRITE_LIST_AS("contexts", nodes, n_nodes, (x->is_comparison ? write_compared_node : write_node));
	WRITE_LIST(paths, n_paths, write_path);
	WRITE_LIST_AS("instances", calls, n_calls, write_call);
	WRITE_LIST(threads, n_threads, write_thread);
	return ok;
}

JSON_OF(vprof_latency_results_json, vprof_latency_results, write_all)
