/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/requests_results.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/results/results_json.h"

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
	vprof_strings_release(&r->strings);
	free(r);
}

static cJSON *add_object(cJSON *array)
{
	cJSON *o = array ? cJSON_CreateObject() : NULL;

	if (o)
		cJSON_AddItemToArray(array, o);
	return o;
}

static int write_latency(cJSON *o, const char *key, const struct vprof_latency_figures *l)
{
	cJSON *figures = o ? cJSON_AddObjectToObject(o, key) : NULL, *cdf;
	int ok = figures && vprof_json_add_number(figures, "n", (double)l->n) &&
		 vprof_json_add_number(figures, "mean_ns", l->mean_ns) &&
		 vprof_json_add_number(figures, "sd_ns", l->sd_ns) &&
		 vprof_json_add_number(figures, "p50_ns", l->p50_ns) &&
		 vprof_json_add_number(figures, "p90_ns", l->p90_ns) &&
		 vprof_json_add_number(figures, "p99_ns", l->p99_ns) &&
		 vprof_json_add_number(figures, "max_ns", l->max_ns);

	cdf = ok ? cJSON_AddArrayToObject(figures, "cdf_ns") : NULL;
	for (size_t i = 0; cdf && l->n && i < VPROF_REQUESTS_CDF_POINTS; i++)
		ok &= cJSON_AddItemToArray(cdf, cJSON_CreateNumber(l->cdf_ns[i]));
	return ok && cdf;
}

static int write_tier(cJSON *o, const struct vprof_requests_tier *t)
{
	return o && vprof_json_add_string(o, "name", t->name) &&
	       vprof_json_add_number(o, "is_recorded", t->is_recorded) &&
	       vprof_json_add_number(o, "is_transit", t->is_transit) && write_latency(o, "response", &t->response) &&
	       vprof_json_add_number(o, "n_requests", (double)t->n_requests) &&
	       vprof_json_add_number(o, "visits_per_request", t->visits_per_request) &&
	       vprof_json_add_number(o, "most_visits", t->most_visits) &&
	       vprof_json_add_number(o, "own_ns", t->own_ns) && vprof_json_add_number(o, "share", t->share) &&
	       vprof_json_add_number(o, "tail_share", t->tail_share);
}

static int write_call(cJSON *o, const struct vprof_requests_call *c)
{
	return o && vprof_json_add_number(o, "from", c->from == VPROF_NONE ? NAN : c->from) &&
	       vprof_json_add_number(o, "to", c->to) && vprof_json_add_number(o, "n", (double)c->n) &&
	       vprof_json_add_number(o, "mean_ns", c->mean_ns) &&
	       vprof_json_add_number(o, "transit_ns", c->transit_ns) &&
	       vprof_json_add_number(o, "there_ns", c->there_ns);
}

static int write_counts(cJSON *o, const struct vprof_requests_results *r)
{
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
		{ "n_transfers", r->n_transfers },
		{ "n_lost", r->n_lost },
		{ "n_unknown", r->n_unknown },
		{ "n_hosts", r->n_hosts },
		{ "n_connections", r->n_connections },
		{ "n_one_end", r->n_one_end },
		{ "n_guessed", r->n_guessed },
		{ "n_exchanges", r->n_exchanges },
		{ "n_greetings", r->n_greetings },
		{ "n_bytes_missing", r->n_bytes_missing },
		{ "n_requests", r->n_requests },
		{ "n_certain", r->n_certain },
		{ "n_inferred", r->n_inferred },
		{ "n_ambiguous", r->n_ambiguous },
		{ "n_torn", r->n_torn },
		{ "n_cut", r->n_cut },
		{ "n_detached", r->n_detached },
		{ "n_outside", r->n_outside },
		{ "n_circular", r->n_circular },
		{ "n_patterns_all", r->n_patterns_all },
	};
	int ok = 1;

	for (size_t i = 0; ok && i < sizeof counts / sizeof *counts; i++)
		ok = vprof_json_add_number(o, counts[i].name, (double)counts[i].n);
	return ok;
}

static int write_clock(cJSON *o, const struct vprof_requests_clock *c)
{
	return o && vprof_json_add_string(o, "host", c->host) && vprof_json_add_number(o, "is_known", c->is_known) &&
	       vprof_json_add_number(o, "n_messages", (double)c->n_messages) &&
	       vprof_json_add_number(o, "ahead_ns", c->ahead_ns) && vprof_json_add_number(o, "drift", c->drift) &&
	       vprof_json_add_number(o, "error_ns", c->error_ns) &&
	       vprof_json_add_number(o, "drift_error", c->drift_error);
}

static int write_lists(cJSON *o, const struct vprof_requests_results *r)
{
	cJSON *tiers = cJSON_AddArrayToObject(o, "tiers"), *calls = cJSON_AddArrayToObject(o, "calls");
	cJSON *patterns = cJSON_AddArrayToObject(o, "patterns"), *links = cJSON_AddArrayToObject(o, "links");
	cJSON *clocks = cJSON_AddArrayToObject(o, "clocks");
	int ok = tiers && calls && patterns && links && clocks;

	for (size_t i = 0; ok && i < r->n_clocks; i++)
		ok = write_clock(add_object(clocks), &r->clocks[i]);
	for (size_t i = 0; ok && i < r->n_tiers; i++)
		ok = write_tier(add_object(tiers), &r->tiers[i]);
	for (size_t i = 0; ok && i < r->n_calls; i++)
		ok = write_call(add_object(calls), &r->calls[i]);
	for (size_t i = 0; ok && i < r->n_patterns; i++) {
		cJSON *pattern = add_object(patterns);

		ok = pattern && vprof_json_add_string(pattern, "path", r->patterns[i].text) &&
		     vprof_json_add_number(pattern, "n_visits", (double)r->patterns[i].n_visits) &&
		     write_latency(pattern, "latency", &r->patterns[i].latency);
	}
	for (size_t i = 0; ok && i < r->n_links; i++) {
		cJSON *link = add_object(links);

		ok = link && vprof_json_add_string(link, "how", r->links[i].how) &&
		     vprof_json_add_number(link, "n", (double)r->links[i].n);
	}
	return ok;
}

static int write_request(cJSON *o, const struct vprof_requests_one *q)
{
	return o && vprof_json_add_string(o, "client", q->client) && vprof_json_add_number(o, "nth", (double)q->nth) &&
	       vprof_json_add_string(o, "state", q->state) && vprof_json_add_number(o, "is_whole", q->is_whole) &&
	       vprof_json_add_number(o, "from_ns", q->from_ns) &&
	       vprof_json_add_number(o, "latency_ns", q->latency_ns) &&
	       vprof_json_add_number(o, "confidence", q->confidence) && vprof_json_add_string(o, "path", q->path);
}

static int write_requests(cJSON *o, const struct vprof_requests_results *r)
{
	cJSON *requests = r->requests ? cJSON_AddArrayToObject(o, "requests") : NULL;
	int ok = requests || !r->requests;

	for (size_t i = 0; ok && i < r->n_listed; i++)
		ok = write_request(add_object(requests), &r->requests[i]);
	return ok;
}

cJSON *vprof_requests_results_json(const struct vprof_requests_results *r)
{
	cJSON *o = cJSON_CreateObject();

	if (o && vprof_json_add_string(o, "run", r->run) && vprof_json_add_string(o, "missing", r->missing) &&
	    vprof_json_add_number(o, "duration_ns", r->duration_ns) && write_counts(o, r) &&
	    vprof_json_add_number(o, "least_confidence", r->least_confidence) &&
	    write_latency(o, "latency", &r->latency) && vprof_json_add_number(o, "tail_from_ns", r->tail_from_ns) &&
	    vprof_json_add_number(o, "tail_ns", r->tail_ns) && vprof_json_add_number(o, "rest_ns", r->rest_ns) &&
	    write_lists(o, r) && write_requests(o, r))
		return o;
	cJSON_Delete(o);
	return NULL;
}
