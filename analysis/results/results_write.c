/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.json, written. Keys are the field names of results.h; order is theirs too. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results_writer.h"
#include "common/files.h"
#include "common/text.h"

const char *const vprof_node_kind_names[] = {
	[VPROF_NODE_INTERVAL] = "interval", [VPROF_NODE_FUNCTION] = "function",	  [VPROF_NODE_SITE] = "site",
	[VPROF_NODE_POINTER] = "pointer",   [VPROF_NODE_BODY] = "body",		  [VPROF_NODE_WAIT] = "wait",
	[VPROF_NODE_QUEUED] = "queued",	    [VPROF_NODE_PREEMPTED] = "preempted", [VPROF_NODE_UNDIVIDED] = "undivided",
};
const char *const vprof_factor_kind_names[] = {
	[VPROF_FACTOR_VARIANCE] = "variance",
	[VPROF_FACTOR_COVARIANCE] = "covariance",
};
const char *const vprof_cause_kind_names[] = {
	[VPROF_CAUSE_WORK] = "work",	       [VPROF_CAUSE_TOGETHER] = "together",   [VPROF_CAUSE_QUEUED] = "queued",
	[VPROF_CAUSE_PREEMPTED] = "preempted", [VPROF_CAUSE_UNDIVIDED] = "undivided", [VPROF_CAUSE_OUTSIDE] = "outside",
};
const char *const vprof_cause_status_names[] = {
	[VPROF_CAUSE_CANDIDATE] = "candidate",
	[VPROF_CAUSE_SETTLED_HERE] = "settled in this run",
	[VPROF_CAUSE_SETTLED] = "settled",
};
const char *const vprof_example_why_names[] = {
	[VPROF_EXAMPLE_SLOWEST] = "slowest", [VPROF_EXAMPLE_P99] = "p99",	  [VPROF_EXAMPLE_P90] = "p90",
	[VPROF_EXAMPLE_MEDIAN] = "median",   [VPROF_EXAMPLE_FASTEST] = "fastest",
};
const char *const vprof_effect_by_names[] = { "records", "baseline", "windows" };
const char *const vprof_layer_kind_names[] = {
	[VPROF_LAYER_MEASURED] = "measured",
	[VPROF_LAYER_PROGRAM] = "program",
	[VPROF_LAYER_LIBRARY] = "library",
	[VPROF_LAYER_KERNEL] = "kernel",
};

const char *const vprof_party_kind_names[] = {
	[VPROF_PARTY_TYPE] = "type",	     [VPROF_PARTY_THREAD] = "thread",	[VPROF_PARTY_ITSELF] = "itself",
	[VPROF_PARTY_RELEASED] = "released", [VPROF_PARTY_UNKNOWN] = "unknown",
};
const char *const vprof_shown_kind_names[] = {
	[VPROF_SHOWN_RUN] = "run",   [VPROF_SHOWN_WAIT] = "wait",	    [VPROF_SHOWN_KERNEL] = "kernel",
	[VPROF_SHOWN_IO] = "io",     [VPROF_SHOWN_PREEMPTED] = "preempted", [VPROF_SHOWN_QUEUED] = "queued",
	[VPROF_SHOWN_CALL] = "call",
};

static int add(cJSON *o, const char *key, cJSON *item)
{
	if (item && !cJSON_AddItemToObjectCS(o, key, item)) {
		cJSON_Delete(item);
		item = NULL;
	}
	return item != NULL;
}

int vprof_json_add_number(cJSON *o, const char *key, double x)
{
	return add(o, key, isfinite(x) ? cJSON_CreateNumber(x) : cJSON_CreateNull());
}

int vprof_json_add_string(cJSON *o, const char *key, const char *s)
{
	return add(o, key, cJSON_CreateString(s ? s : ""));
}

cJSON *vprof_json_add_object(cJSON *array)
{
	cJSON *o = array ? cJSON_CreateObject() : NULL;

	if (o)
		cJSON_AddItemToArray(array, o);
	return o;
}

int vprof_json_add_indices(cJSON *o, const char *key, const uint32_t *indices, size_t n)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);
	int ok = list != NULL;

	for (size_t i = 0; ok && i < n; i++)
		ok &= cJSON_AddItemToArray(list, cJSON_CreateNumber(indices[i]));
	return ok;
}

WRITER(write_node, vprof_node, VPROF_NODE_FIELDS)
WRITER(write_covariance, vprof_covariance, VPROF_COVARIANCE_FIELDS)
WRITER(write_closed, vprof_closed, VPROF_CLOSED_FIELDS)
WRITER(write_common_frames, vprof_common_frame, VPROF_COMMON_FRAME_FIELDS)
WRITER(write_type, vprof_type, VPROF_TYPE_FIELDS)
WRITER(write_contribution, vprof_contribution, VPROF_CONTRIBUTION_FIELDS)
WRITER(write_work, vprof_work, VPROF_WORK_FIELDS)
WRITER(write_bucket, vprof_bucket, VPROF_BUCKET_FIELDS)
WRITER(write_period, vprof_period, VPROF_PERIOD_FIELDS)
WRITER(write_example, vprof_example, VPROF_EXAMPLE_FIELDS)
WRITER(write_piece, vprof_shown_piece, VPROF_PIECE_FIELDS)
WRITER(write_thread, vprof_shown_thread, VPROF_THREAD_FIELDS)
WRITER(write_knot_lock, vprof_knot_lock, VPROF_KNOT_LOCK_FIELDS)

static int write_knot(cJSON *o, const struct vprof_knot *x)
{
	int ok = 1;

	W_FIELDS(VPROF_KNOT_FIELDS)
	WRITE_LIST(locks, n_locks, write_knot_lock);
	return ok;
}

static int write_tier(cJSON *o, const struct vprof_tier *x)
{
	int ok = 1;

	W_FIELDS(VPROF_TIER_FIELDS)
	return ok && vprof_json_add_indices(o, "factors", x->factors, x->n_factors) &&
	       vprof_json_add_indices(o, "causes", x->causes, x->n_causes);
}

WRITER(write_layer, vprof_layer, VPROF_LAYER_FIELDS)
WRITER(write_step, vprof_step, VPROF_STEP_FIELDS)
WRITER(write_split, vprof_split, VPROF_SPLIT_FIELDS)

WRITER(write_party, vprof_party, VPROF_PARTY_FIELDS)
WRITER(write_holder_call, vprof_holder_call, VPROF_HOLDER_CALL_FIELDS)

static int write_lock(cJSON *o, const struct vprof_crosstalk_lock *x)
{
	int ok = 1;

	W_FIELDS(VPROF_CROSSTALK_LOCK_FIELDS)
	WRITE_LIST_AS("held", holder_calls, n_holder_calls, write_holder_call);
	return ok;
}

static int write_crosstalk(cJSON *o, const struct vprof_crosstalk *x)
{
	int ok = 1;

	W_FIELDS(VPROF_CROSSTALK_FIELDS)
	WRITE_LIST(locks, n_locks, write_lock);
	return ok;
}

WRITER(write_stage, vprof_context_stage, VPROF_STAGE_FIELDS)
WRITER(write_profile, vprof_profile_node, VPROF_PROFILE_FIELDS)
WRITER(write_sampled, vprof_sampled_function, VPROF_SAMPLED_FIELDS)

static int write_context(cJSON *o, const struct vprof_context *x)
{
	int ok = 1;

	W_FIELDS(VPROF_CONTEXT_FIELDS)
	WRITE_LIST(stages, n_stages, write_stage);
	WRITE_LIST(profile, n_profile, write_profile);
	WRITE_LIST(sampled, n_sampled, write_sampled);
	return ok;
}

static int write_factor(cJSON *o, const struct vprof_factor *x)
{
	int ok = 1;

	W_FIELDS(VPROF_FACTOR_FIELDS)
	return ok && vprof_json_add_indices(o, "nodes", x->nodes, x->n_nodes);
}

static int write_cause(cJSON *o, const struct vprof_cause *x)
{
	int ok = 1;

	W_FIELDS(VPROF_CAUSE_FIELDS)
	WRITE_LIST(steps, n_steps, write_step);
	WRITE_LIST(splits, n_splits, write_split);
	return ok && vprof_json_add_indices(o, "factors", x->factors, x->n_factors) &&
	       vprof_json_add_indices(o, "nodes", x->nodes, x->n_nodes);
}

/* What is not in a list. */
static int write_scalars(cJSON *o, const struct vprof_results *x)
{
	int ok = vprof_json_add_number(o, "version", VPROF_RESULTS_VERSION);
	cJSON *warnings;

	W_FIELDS(VPROF_RESULTS_FIELDS)
	warnings = cJSON_AddArrayToObject(o, "warnings");
	ok &= warnings != NULL;
	for (size_t i = 0; ok && i < x->n_warnings; i++)
		ok &= cJSON_AddItemToArray(warnings, cJSON_CreateString(x->warnings[i]));
	return ok;
}

/* The lists of results.json in their order: name, length, and what writes an item. */
#define RESULTS_LISTS(LIST)                                                                                            \
	LIST(types, n_types, write_type)                                                                               \
	LIST(parties, n_parties, write_party)                                                                          \
	LIST(crosstalk, n_crosstalk, write_crosstalk)                                                                  \
	LIST(contexts, n_contexts, write_context)                                                                      \
	LIST(contributions, n_contributions, write_contribution)                                                       \
	LIST(work, n_work, write_work)                                                                                 \
	LIST(causes, n_causes, write_cause)                                                                            \
	LIST(knots, n_knots, write_knot)                                                                               \
	LIST(tiers, n_tiers, write_tier)                                                                               \
	LIST(layers, n_layers, write_layer)                                                                            \
	LIST(factors, n_factors, write_factor)                                                                         \
	LIST(nodes, n_nodes, write_node)                                                                               \
	LIST(covariances, n_covariances, write_covariance)                                                             \
	LIST(closed, n_closed, write_closed)                                                                           \
	LIST(common_frames, n_common_frames, write_common_frames)                                                      \
	LIST(histogram, n_histogram, write_bucket)                                                                     \
	LIST(periods, n_periods, write_period)                                                                         \
	LIST(examples, n_examples, write_example)                                                                      \
	LIST(pieces, n_pieces, write_piece)                                                                            \
	LIST(threads, n_threads, write_thread)

static int write_results(cJSON *o, const struct vprof_results *x)
{
	int ok = write_scalars(o, x);

#define ADD_LIST(list, count, write) WRITE_LIST(list, count, write);
	RESULTS_LISTS(ADD_LIST)
#undef ADD_LIST
	return ok;
}

JSON_OF(vprof_results_json, vprof_results, write_results)

/* Appends `o`, in one line, and frees it. 0 without memory. */
static int print_item(struct vprof_text *out, cJSON *o)
{
	char *text = o ? cJSON_PrintUnformatted(o) : NULL;

	if (text)
		vprof_text_add(out, text);
	cJSON_free(text);
	cJSON_Delete(o);
	return text && !out->failed;
}

/* As vprof_results_json, but each item of a list in a line of its own, and one at a time: a large server's tree has
 * hundreds of thousands of nodes, and all of them as cJSON take more than a gigabyte. 0 without memory. */
static int print_results(struct vprof_text *out, const struct vprof_results *x)
{
	cJSON *scalars = cJSON_CreateObject();
	char *text = scalars && write_scalars(scalars, x) ? cJSON_Print(scalars) : NULL;
	int ok = text != NULL;

	if (ok) /* goes on before its "\n}" */
		vprof_text_append(out, text, strlen(text) - 2);
#define PRINT_LIST(list, count, write)                                                                                 \
	vprof_text_add(out, ",\n\t\"" #list "\":\t[");                                                                 \
	for (size_t i = 0; ok && i < x->count; i++) {                                                                  \
		cJSON *o = cJSON_CreateObject();                                                                       \
		int is_written = o && write(o, &x->list[i]);                                                           \
                                                                                                                       \
		vprof_text_add(out, i ? ",\n\t\t" : "\n\t\t");                                                         \
		ok = print_item(out, o) && is_written;                                                                 \
	}                                                                                                              \
	vprof_text_add(out, "]");
	RESULTS_LISTS(PRINT_LIST)
#undef PRINT_LIST
	vprof_text_add(out, "\n}\n");
	cJSON_free(text);
	cJSON_Delete(scalars);
	return ok && !out->failed;
}

int vprof_results_write(const struct vprof_results *r, const char *path, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	int rc = print_results(&text, r) ? vprof_file_write(path, text.s, text.len, err) :
					   vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory to write %s", path);

	vprof_text_release(&text);
	return rc;
}
