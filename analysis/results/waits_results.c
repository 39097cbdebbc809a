/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/waits_results.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/results/results_json.h"

const char *const vprof_waits_party_names[] = {
	[VPROF_WAITS_PARTY_THREAD] = "thread",	     [VPROF_WAITS_PARTY_DISK] = "disk",
	[VPROF_WAITS_PARTY_NETWORK] = "network",     [VPROF_WAITS_PARTY_TIMER] = "timer",
	[VPROF_WAITS_PARTY_INTERRUPT] = "interrupt", [VPROF_WAITS_PARTY_OUTSIDE] = "outside",
};
const char *const vprof_waits_verdict_names[] = {
	[VPROF_WAITS_KNOT] = "knot",
	[VPROF_WAITS_SINK] = "sink",
	[VPROF_WAITS_ASIDE] = "background",
};
const char *const vprof_waits_ending_names[] = {
	[VPROF_WAITS_ENDING_VERTEX] = "vertex",		[VPROF_WAITS_ENDING_CYCLE] = "cycle",
	[VPROF_WAITS_ENDING_HEAVY] = "heavy",		[VPROF_WAITS_ENDING_PARTS] = "parts",
	[VPROF_WAITS_ENDING_BACKGROUND] = "background",
};

struct vprof_waits_results *vprof_waits_results_new(void)
{
	struct vprof_waits_results *r = calloc(1, sizeof *r);

	if (r) {
		r->run = r->missing = r->interval = "";
		r->fidelity = NAN;
	}
	return r;
}

void vprof_waits_results_free(struct vprof_waits_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_arcs; i++)
		free(r->arcs[i].stacks);
	for (size_t i = 0; i < r->n_groups; i++) {
		free(r->groups[i].parties);
		free(r->groups[i].arcs);
		free(r->groups[i].through);
	}
	free(r->parties);
	free(r->arcs);
	free(r->groups);
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

static int write_party(cJSON *o, const struct vprof_waits_party *p)
{
	return o && vprof_json_add_string(o, "name", p->name) &&
	       vprof_json_add_string(o, "kind", vprof_waits_party_names[p->kind]) &&
	       vprof_json_add_number(o, "n_threads", p->n_threads) &&
	       vprof_json_add_number(o, "is_outside", p->is_outside) &&
	       vprof_json_add_number(o, "running_ns", p->running_ns) &&
	       vprof_json_add_number(o, "runnable_ns", p->runnable_ns) &&
	       vprof_json_add_number(o, "blocked_ns", p->blocked_ns) &&
	       vprof_json_add_number(o, "unknown_ns", p->unknown_ns);
}

static int write_arc(cJSON *o, const struct vprof_waits_arc *a)
{
	int ok = o && vprof_json_add_number(o, "from", a->from) && vprof_json_add_number(o, "to", a->to) &&
		 vprof_json_add_number(o, "is_idle", a->is_idle) && vprof_json_add_number(o, "is_sleep", a->is_sleep) &&
		 vprof_json_add_number(o, "n_waits", (double)a->n_waits) &&
		 vprof_json_add_number(o, "own_ns", a->own_ns) && vprof_json_add_number(o, "weight_ns", a->weight_ns) &&
		 vprof_json_add_number(o, "halved", a->halved) && vprof_json_add_number(o, "gone", a->gone) &&
		 vprof_json_add_number(o, "saved", a->saved);
	cJSON *stacks = ok ? cJSON_AddArrayToObject(o, "stacks") : NULL;

	ok = stacks != NULL;
	for (size_t i = 0; ok && i < a->n_stacks; i++) {
		cJSON *s = add_object(stacks);

		ok = s && vprof_json_add_string(s, "wait", a->stacks[i].wait) &&
		     vprof_json_add_string(s, "waker", a->stacks[i].waker) &&
		     vprof_json_add_number(s, "n", (double)a->stacks[i].n) &&
		     vprof_json_add_number(s, "weight_ns", a->stacks[i].weight_ns);
	}
	return ok;
}

static int write_numbers(cJSON *o, const char *key, const uint32_t *v, size_t n)
{
	cJSON *array = cJSON_AddArrayToObject(o, key);
	int ok = array != NULL;

	for (size_t i = 0; ok && i < n; i++)
		ok = cJSON_AddItemToArray(array, cJSON_CreateNumber(v[i]));
	return ok;
}

static int write_through(cJSON *o, const struct vprof_waits_through *x)
{
	return o && vprof_json_add_string(o, "type", x->type) && vprof_json_add_number(o, "n", (double)x->n) &&
	       vprof_json_add_number(o, "mean_ns", x->mean_ns) && vprof_json_add_number(o, "sd_ns", x->sd_ns) &&
	       vprof_json_add_number(o, "through_ns", x->through_ns) && vprof_json_add_number(o, "own_ns", x->own_ns) &&
	       vprof_json_add_number(o, "share", x->share) && vprof_json_add_number(o, "share_low", x->share_low) &&
	       vprof_json_add_number(o, "share_high", x->share_high) &&
	       vprof_json_add_number(o, "if_constant", x->if_constant) &&
	       vprof_json_add_number(o, "if_constant_low", x->if_constant_low) &&
	       vprof_json_add_number(o, "if_constant_high", x->if_constant_high);
}

static int write_all_through(cJSON *o, const struct vprof_waits_group *g)
{
	cJSON *list = cJSON_AddArrayToObject(o, "through");
	int ok = list != NULL;

	for (size_t i = 0; ok && i < g->n_through; i++)
		ok = write_through(add_object(list), &g->through[i]);
	return ok;
}

static int write_group(cJSON *o, const struct vprof_waits_group *g)
{
	return o && vprof_json_add_string(o, "verdict", vprof_waits_verdict_names[g->verdict]) &&
	       vprof_json_add_string(o, "ending", vprof_waits_ending_names[g->ending]) &&
	       vprof_json_add_number(o, "busy_ns", g->busy_ns) &&
	       vprof_json_add_number(o, "runnable_ns", g->runnable_ns) &&
	       write_numbers(o, "parties", g->parties, g->n_parties) && write_numbers(o, "edges", g->arcs, g->n_arcs) &&
	       write_all_through(o, g);
}

static int write_all(cJSON *o, const struct vprof_waits_results *r)
{
	int ok = vprof_json_add_number(o, "version", 1) && vprof_json_add_string(o, "run", r->run) &&
		 vprof_json_add_number(o, "is_kernel", r->is_kernel) &&
		 vprof_json_add_number(o, "duration_ns", r->duration_ns) &&
		 vprof_json_add_number(o, "n_events", (double)r->n_events) &&
		 vprof_json_add_number(o, "n_lost", (double)r->n_lost) &&
		 vprof_json_add_number(o, "n_assumed", (double)r->n_assumed) &&
		 vprof_json_add_number(o, "n_circular", (double)r->n_circular) &&
		 vprof_json_add_number(o, "n_threads", (double)r->n_threads) &&
		 vprof_json_add_number(o, "n_cpus", r->n_cpus) && vprof_json_add_number(o, "threshold", r->threshold) &&
		 vprof_json_add_number(o, "fidelity", r->fidelity) &&
		 vprof_json_add_number(o, "cpus_simulated", r->cpus_simulated) &&
		 vprof_json_add_number(o, "replayed", r->replayed) && vprof_json_add_string(o, "missing", r->missing) &&
		 vprof_json_add_string(o, "interval", r->interval);
	cJSON *list = ok ? cJSON_AddArrayToObject(o, "parties") : NULL;

	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_parties; i++)
		ok = write_party(add_object(list), &r->parties[i]);
	list = ok ? cJSON_AddArrayToObject(o, "edges") : NULL;
	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_arcs; i++)
		ok = write_arc(add_object(list), &r->arcs[i]);
	list = ok ? cJSON_AddArrayToObject(o, "knots") : NULL;
	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_groups; i++)
		ok = write_group(add_object(list), &r->groups[i]);
	return ok;
}

cJSON *vprof_waits_results_json(const struct vprof_waits_results *r)
{
	cJSON *o = cJSON_CreateObject();

	if (o && !write_all(o, r)) {
		cJSON_Delete(o);
		o = NULL;
	}
	return o;
}
