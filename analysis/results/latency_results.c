/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/latency_results.h"

#include <stdlib.h>

#include "analysis/results/results_json.h"

const char *const vprof_latency_layer_names[] = { "program", "library", "kernel" };
const char *const vprof_latency_verdict_names[] = { "settled", "unbounded", "varies" };

struct vprof_latency_results *vprof_latency_results_new(void)
{
	struct vprof_latency_results *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->unit = "s";
	for (int i = 0; i < 2; i++)
		r->sides[i].run = r->sides[i].missing = "";
	return r;
}

void vprof_latency_results_free(struct vprof_latency_results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_paths; i++)
		free(r->paths[i].steps);
	free(r->names);
	free(r->nodes);
	free(r->paths);
	free(r->calls);
	free(r->threads);
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

static int write_side(cJSON *o, const struct vprof_latency_side *s)
{
	return o && vprof_json_add_string(o, "run", s->run) &&
	       vprof_json_add_number(o, "duration_ns", s->duration_ns) &&
	       vprof_json_add_number(o, "n_events", (double)s->n_events) &&
	       vprof_json_add_number(o, "n_lost", (double)s->n_lost) &&
	       vprof_json_add_number(o, "n_without", (double)s->n_without) &&
	       vprof_json_add_number(o, "n_cut", (double)s->n_cut) &&
	       vprof_json_add_number(o, "n_unpaired", (double)s->n_unpaired) &&
	       vprof_json_add_number(o, "n_threads", (double)s->n_threads) &&
	       vprof_json_add_number(o, "n_instances", (double)s->n_instances) &&
	       vprof_json_add_number(o, "n_contexts", (double)s->n_contexts) &&
	       vprof_json_add_number(o, "n_frames", (double)s->n_frames) &&
	       vprof_json_add_number(o, "n_unnamed", (double)s->n_unnamed) &&
	       vprof_json_add_number(o, "total_ns", s->total_ns) && vprof_json_add_number(o, "idle_ns", s->idle_ns) &&
	       vprof_json_add_number(o, "unsure_ns", s->unsure_ns) && vprof_json_add_number(o, "n_units", s->n_units) &&
	       vprof_json_add_string(o, "missing", s->missing);
}

static int write_figures(cJSON *node, const char *key, const struct vprof_latency_figures *f)
{
	cJSON *o = f->is_there ? cJSON_AddObjectToObject(node, key) : cJSON_AddNullToObject(node, key);

	if (!o || !f->is_there)
		return o != NULL;
	return vprof_json_add_number(o, "n", f->n) && vprof_json_add_number(o, "n_cut", f->n_cut) &&
	       vprof_json_add_number(o, "n_unsure", f->n_unsure) && vprof_json_add_number(o, "low_ns", f->low_ns) &&
	       vprof_json_add_number(o, "high_ns", f->high_ns) && vprof_json_add_number(o, "own_ns", f->own_ns) &&
	       vprof_json_add_number(o, "own_low_ns", f->own_low_ns) &&
	       vprof_json_add_number(o, "own_high_ns", f->own_high_ns) &&
	       vprof_json_add_number(o, "own_off_ns", f->own_off_ns) &&
	       vprof_json_add_number(o, "own_idle_ns", f->own_idle_ns) &&
	       vprof_json_add_number(o, "call_low_ns", f->call_low_ns) &&
	       vprof_json_add_number(o, "call_high_ns", f->call_high_ns) &&
	       vprof_json_add_number(o, "slowest_low_ns", f->slowest_low_ns) &&
	       vprof_json_add_number(o, "slowest_high_ns", f->slowest_high_ns);
}

static int write_node(cJSON *o, const struct vprof_latency_results *r, const struct vprof_latency_node *n)
{
	return o && vprof_json_add_number(o, "parent", n->parent == VPROF_LATENCY_NONE ? -1 : (double)n->parent) &&
	       vprof_json_add_number(o, "function", n->function) &&
	       (!r->is_comparison || write_figures(o, "base", &n->side[0])) && write_figures(o, "new", &n->side[1]);
}

static int write_path(cJSON *o, const struct vprof_latency_path_result *p)
{
	int ok = o && vprof_json_add_number(o, "cost_ns", p->cost_ns) &&
		 vprof_json_add_number(o, "low_ns", p->low_ns) && vprof_json_add_number(o, "high_ns", p->high_ns) &&
		 vprof_json_add_number(o, "share", p->share) && vprof_json_add_number(o, "error_ns", p->error_ns) &&
		 vprof_json_add_string(o, "verdict", vprof_latency_verdict_names[p->verdict]);
	cJSON *steps = ok ? cJSON_AddArrayToObject(o, "steps") : NULL;

	ok = steps != NULL;
	for (size_t i = 0; ok && i < p->n_steps; i++) {
		cJSON *s = add_object(steps);

		ok = s && vprof_json_add_number(s, "context", p->steps[i].node) &&
		     vprof_json_add_number(s, "rank", p->steps[i].rank) &&
		     vprof_json_add_number(s, "cost_ns", p->steps[i].cost_ns);
	}
	return ok;
}

static int write_name(cJSON *o, const struct vprof_latency_name *n)
{
	return o && vprof_json_add_string(o, "name", n->name) && vprof_json_add_string(o, "file", n->file) &&
	       vprof_json_add_string(o, "layer", vprof_latency_layer_names[n->layer]);
}

static int write_call(cJSON *o, const struct vprof_latency_call *c)
{
	return o && vprof_json_add_number(o, "context", c->node) && vprof_json_add_number(o, "thread", c->thread) &&
	       vprof_json_add_number(o, "before_ns", c->before_ns) &&
	       vprof_json_add_number(o, "first_ns", c->first_ns) && vprof_json_add_number(o, "last_ns", c->last_ns) &&
	       vprof_json_add_number(o, "after_ns", c->after_ns) && vprof_json_add_number(o, "is_cut", c->is_cut) &&
	       vprof_json_add_number(o, "n_unsure", (double)c->n_unsure);
}

static int write_lists(cJSON *o, const struct vprof_latency_results *r)
{
	cJSON *list = cJSON_AddArrayToObject(o, "functions");
	int ok = list != NULL;

	for (size_t i = 0; ok && i < r->n_names; i++)
		ok = write_name(add_object(list), &r->names[i]);
	list = ok ? cJSON_AddArrayToObject(o, "contexts") : NULL;
	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_nodes; i++)
		ok = write_node(add_object(list), r, &r->nodes[i]);
	list = ok ? cJSON_AddArrayToObject(o, "paths") : NULL;
	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_paths; i++)
		ok = write_path(add_object(list), &r->paths[i]);
	list = ok ? cJSON_AddArrayToObject(o, "instances") : NULL;
	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_calls; i++)
		ok = write_call(add_object(list), &r->calls[i]);
	list = ok ? cJSON_AddArrayToObject(o, "threads") : NULL;
	ok = list != NULL;
	for (size_t i = 0; ok && i < r->n_threads; i++)
		ok = vprof_json_add_string(add_object(list), "name", r->threads[i]);
	return ok;
}

cJSON *vprof_latency_results_json(const struct vprof_latency_results *r)
{
	cJSON *o = cJSON_CreateObject();
	int ok = o && vprof_json_add_number(o, "version", 1) && vprof_json_add_string(o, "unit", r->unit) &&
		 (!r->is_comparison || write_side(cJSON_AddObjectToObject(o, "base"), &r->sides[0])) &&
		 write_side(cJSON_AddObjectToObject(o, "new"), &r->sides[1]) && write_lists(o, r);

	if (ok)
		return o;
	cJSON_Delete(o);
	return NULL;
}
