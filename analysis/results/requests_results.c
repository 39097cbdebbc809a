/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/requests_results.h"

#include <stdlib.h>

#include "analysis/results/results_writer.h"

const char *const vprof_request_state_names[VPROF_REQUEST_STATES] = {
	[VPROF_REQUEST_CERTAIN] = "certain",
	[VPROF_REQUEST_INFERRED] = "inferred",
	[VPROF_REQUEST_AMBIGUOUS] = "ambiguous",
};
const char *const vprof_opened_how_names[VPROF_OPENED_HOWS] = {
	[VPROF_OPENED_MEASURED] = "measured",
	[VPROF_OPENED_INFERRED] = "inferred",
};

struct vprof_requests_results *vprof_requests_results_new(void)
{
	struct vprof_requests_results *r = calloc(1, sizeof *r);

	if (r) {
		r->run = r->missing = "";
		r->tail_from_ns = r->tail_ns = r->rest_ns = NAN;
	}
	return r;
}

void vprof_requests_results_free(struct vprof_requests_results *r)
{
	if (!r)
		return;
	free(r->tiers);
	free(r->calls);
	free(r->patterns);
	free(r->links);
	free(r->clocks);
	free(r->requests);
	VPROF_ARRAY_RELEASE(&r->visits);
	free(r->opened);
	vprof_results_free(r->functions);
	VPROF_ARRAY_RELEASE(&r->visit_functions);
	vprof_strings_release(&r->strings);
	free(r);
}

/* clang-format off */
#define LATENCY_FIELDS(U, D, I, S, E) U(n) D(mean_ns) D(sd_ns) D(p50_ns) D(p90_ns) D(p99_ns) D(max_ns)
#define TIER_NAME_FIELDS(U, D, I, S, E) S(name) I(is_recorded) I(is_transit) I(is_queue)
#define TIER_FIELDS(U, D, I, S, E)                                                                                      \
	U(n_requests) D(visits_per_request) D(most_visits) D(own_ns) D(share) D(tail_share)
#define CALL_FIELDS(U, D, I, S, E) U(to) U(n) D(mean_ns) D(transit_ns) D(there_ns) D(queued_ns) D(share) D(tail_share)
#define PATTERN_FIELDS(U, D, I, S, E) S(path) U(n_visits)
#define LINK_FIELDS(U, D, I, S, E) S(how) U(n)
#define CLOCK_FIELDS(U, D, I, S, E)                                                                                     \
	S(host) I(is_known) U(n_messages) D(ahead_ns) D(drift) D(error_ns) D(drift_error)
#define REQUEST_FIELDS(U, D, I, S, E)                                                                                   \
	S(client) U(nth) E(state, vprof_request_state_names) I(is_whole) D(from_ns) D(latency_ns) D(confidence) S(path)
#define VISIT_FIELDS(U, D, I, S, E)                                                                                     \
	S(tier) S(client) U(nth) S(how) S(process) U(pid) U(tid) D(confidence) U(request_bytes) U(reply_bytes) D(from_ns)       \
	D(latency_ns) D(served_from_ns) D(served_ns) D(request_queued_ns) D(reply_queued_ns)
#define FUNCTION_FIELDS(U, D, I, S, E) S(name) S(file) D(low_ns) D(high_ns)
#define OPENED_FIELDS(U, D, I, S, E)                                                                                    \
	S(tier) S(host) E(how, vprof_opened_how_names) U(n_visits) U(n_opened) U(n_shared) U(n_passed) U(n_outside) U(n_sampled)
#define RESULTS_FIELDS(U, D, I, S, E)                                                                                   \
	S(run) S(missing) D(duration_ns) U(n_transfers) U(n_lost) U(n_unknown) U(n_hosts) U(n_connections) U(n_one_end)         \
	U(n_guessed) U(n_translated) U(n_inside) U(n_half_closed) U(n_encrypted) U(n_resent) U(n_resent_connections) U(n_exchanges) U(n_greetings) U(n_divided) U(n_bytes_missing) U(n_requests) U(n_certain) U(n_inferred) U(n_ambiguous)   \
	U(n_torn) U(n_cut) U(n_detached) U(n_outside) U(n_circular) U(n_patterns_all) D(least_confidence)
#define TAIL_FIELDS(U, D, I, S, E) D(tail_from_ns) D(tail_ns) D(rest_ns)
/* clang-format on */

WRITER(write_figures, vprof_requests_latency, LATENCY_FIELDS)
WRITER(write_link, vprof_requests_link, LINK_FIELDS)
WRITER(write_clock, vprof_requests_clock, CLOCK_FIELDS)

static int write_opened(cJSON *o, const struct vprof_requests_opened *x)
{
	int ok = 1;

	W_FIELDS(OPENED_FIELDS)
	return ok && vprof_json_add_number(o, "layer", x->n_opened ? (double)x->layer : NAN);
}

WRITER(write_layer, vprof_layer, VPROF_LAYER_FIELDS)

static int write_function(cJSON *o, const struct vprof_requests_function *x)
{
	int ok = vprof_json_add_number(o, "parent", x->parent == VPROF_NONE ? NAN : x->parent);

	W_FIELDS(FUNCTION_FIELDS)
	return ok;
}

static int write_visit(cJSON *o, const struct vprof_requests_visit *x)
{
	int ok = vprof_json_add_number(o, "parent", x->parent == VPROF_NONE ? NAN : x->parent);

	W_FIELDS(VISIT_FIELDS)
	return ok;
}

static int add_latency(cJSON *o, const char *key, const struct vprof_requests_latency *l)
{
	cJSON *figures = cJSON_AddObjectToObject(o, key), *cdf;
	int ok = figures && write_figures(figures, l);

	cdf = ok ? cJSON_AddArrayToObject(figures, "cdf_ns") : NULL;
	for (size_t i = 0; cdf && l->n && i < VPROF_REQUESTS_CDF_POINTS; i++)
		ok &= cJSON_AddItemToArray(cdf, cJSON_CreateNumber(l->cdf_ns[i]));
	return ok && cdf;
}

static int write_tier(cJSON *o, const struct vprof_requests_tier *x)
{
	int ok = 1;

	W_FIELDS(TIER_NAME_FIELDS)
	ok &= add_latency(o, "response", &x->response);
	W_FIELDS(TIER_FIELDS)
	return ok;
}

static int write_call(cJSON *o, const struct vprof_requests_call *x)
{
	int ok = vprof_json_add_number(o, "from", x->from == VPROF_NONE ? NAN : x->from);

	W_FIELDS(CALL_FIELDS)
	return ok;
}

static int write_pattern(cJSON *o, const struct vprof_requests_pattern *x)
{
	int ok = 1;

	W_FIELDS(PATTERN_FIELDS)
	return ok && add_latency(o, "latency", &x->latency);
}

static int add_functions(cJSON *o, const struct vprof_requests_results *r, const struct vprof_requests_visit *v)
{
	cJSON *list = cJSON_AddArrayToObject(o, "functions");
	int ok = list != NULL;

	for (size_t i = 0; ok && i < v->n_functions; i++) {
		o = vprof_json_add_object(list);
		ok = o && write_function(o, &r->visit_functions.v[v->first_function + i]);
	}
	return ok;
}

static int add_requests(cJSON *o, const struct vprof_requests_results *r)
{
	cJSON *list = cJSON_AddArrayToObject(o, "requests"), *visits;
	int ok = list != NULL;

	for (size_t i = 0; ok && i < r->n_listed; i++) {
		const struct vprof_requests_one *x = &r->requests[i];

		o = vprof_json_add_object(list);
		W_FIELDS(REQUEST_FIELDS)
		visits = cJSON_AddArrayToObject(o, "visits");
		for (size_t k = 0; ok && visits && k < x->n_visits; k++) {
			o = vprof_json_add_object(visits);
			ok &= o && write_visit(o, &r->visits.v[x->first_visit + k]);
			ok = ok && (!r->functions || add_functions(o, r, &r->visits.v[x->first_visit + k]));
		}
		ok &= visits != NULL;
	}
	return ok;
}

static int write_all(cJSON *o, const struct vprof_requests_results *x)
{
	int ok = vprof_json_add_number(o, "version", 1);

	W_FIELDS(RESULTS_FIELDS)
	ok &= add_latency(o, "latency", &x->latency);
	W_FIELDS(TAIL_FIELDS)
	WRITE_LIST(tiers, n_tiers, write_tier);
	WRITE_LIST(calls, n_calls, write_call);
	WRITE_LIST(patterns, n_patterns, write_pattern);
	WRITE_LIST(links, n_links, write_link);
	WRITE_LIST(clocks, n_clocks, write_clock);
	WRITE_LIST(opened, n_opened, write_opened);
	if (x->functions)
		WRITE_LIST_AS("layers", functions->layers, functions->n_layers, write_layer);
	if (x->requests)
		ok &= add_requests(o, x);
	return ok;
}

JSON_OF(vprof_requests_results_json, vprof_requests_results, write_all)
