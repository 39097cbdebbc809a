/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds a program with a plan of a given size, for bench/overhead:
 *
 *   bench_variant PROJECT all               every function, gates open: shows which functions a load executes
 *   bench_variant PROJECT closed            every function, all gates closed for ever
 *   bench_variant PROJECT children N TRACE  N measured children
 *
 * PROJECT has been through `vprof init`. Children: the functions at the intervals' marks are roots; going down from
 * them level by level, functions that TRACE (a run of the variant `all`) saw executed are broken down, which measures
 * what they call, until N functions and call sites are measured. Functions that nothing calls by name come after the
 * others.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "instrumenter/instrument.h"
#include "trace/format.h"
#include "trace/reader.h"

struct variant {
	struct vprof_facts *facts;
	struct vprof_callgraph *graph;
	struct vprof_annotations *annotations;
	char *vprof_dir;
	uint8_t *is_executed; /* [n_functions] */
	uint32_t *order;      /* executed functions, nearest to the roots first */
	size_t n_order, n_roots;
};

static int fail(const struct vprof_error *err)
{
	fprintf(stderr, "bench_variant: %s\n", err->message);
	return 1;
}

static int open_project(struct variant *v, const char *project, struct vprof_error *err)
{
	char *config = vprof_path_join(project, "vprof.json"), *facts;
	int rc;

	v->vprof_dir = vprof_path_join(project, ".vprof");
	facts = v->vprof_dir ? vprof_path_join(v->vprof_dir, "facts.db") : NULL;
	if (!config || !facts)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	rc = vprof_annotations_read(&v->annotations, config, err);
	if (!rc)
		rc = vprof_facts_open(&v->facts, facts, err);
	if (!rc)
		rc = vprof_callgraph_build(&v->graph, v->facts, err);
	free(config);
	free(facts);
	return rc;
}

static int find_executed(struct variant *v, const char *trace_dir, struct vprof_error *err)
{
	struct vprof_trace *trace;
	int rc = vprof_trace_open(&trace, trace_dir, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < trace->n_threads; i++) {
		struct vprof_trace_cursor cursor;
		const struct vp_unit *u;
		uint32_t n;

		vprof_trace_cursor_init(&cursor, &trace->threads[i]);
		while ((u = vprof_trace_next(&cursor, &n))) {
			uint32_t code = VP_CODE(VP_CODE(u->w) == VP_KIND_SAMPLE && n > 1 ? u[1].w : u->w);
			const struct vprof_facts_function *f =
				code < VP_CODE_FUNCTION || code >= VP_CODE_SITE ?
					NULL :
					vprof_facts_function(v->facts, code - VP_CODE_FUNCTION);

			if (f)
				v->is_executed[f - v->facts->functions] = 1;
		}
	}
	vprof_trace_free(trace);
	return 0;
}

static void append(struct variant *v, uint32_t function)
{
	if (!v->is_executed[function])
		return;
	v->is_executed[function] = 0; /* it has its place */
	v->order[v->n_order++] = function;
}

static void add_root(struct variant *v, const char *name)
{
	uint32_t found[16];
	size_t n = vprof_facts_find(v->facts, name, NULL, found, 16);

	for (size_t i = 0; i < n && i < 16; i++)
		append(v, found[i]);
}

static void put_in_order(struct variant *v)
{
	const struct vprof_annotations *a = v->annotations;

	for (size_t i = 0; i < a->n_roots; i++)
		add_root(v, a->roots[i]);
	for (size_t i = 0; i < a->n_hooks; i++)
		if (a->hooks[i].kind <= VPROF_HOOK_END)
			add_root(v, a->hooks[i].function);
	v->n_roots = v->n_order;
	for (size_t i = 0; i < v->n_order; i++) {
		const struct vprof_facts_function *f = &v->facts->functions[v->order[i]];

		for (uint32_t k = 0; k < f->n_calls; k++) {
			const struct vprof_facts_call *c =
				&v->facts->calls[v->facts->calls_by_caller[f->first_call + k]];

			if (c->callee_function)
				append(v, c->callee_function - 1);
		}
	}
	for (uint32_t i = 0; i < v->facts->n_functions; i++)
		append(v, i);
}

/* The plan in which the first n of the order are broken down. */
static int make(const struct variant *v, size_t n, struct vprof_plan **plan, struct vprof_error *err)
{
	struct vprof_name *names = calloc(n + v->n_roots + 1, sizeof *names);
	struct vprof_decisions d = { .roots = names, .n_roots = v->n_roots, .broken_down = names, .n_broken_down = n };
	int rc;

	if (!names)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < n || i < v->n_roots; i++) {
		const struct vprof_facts_function *f = &v->facts->functions[v->order[i]];
		const struct vprof_facts_file *file = vprof_facts_file(v->facts, f->file);

		names[i] = (struct vprof_name){ .name = f->name, .file = file ? file->path : "", .caller = "" };
	}
	rc = vprof_plan_make(plan, v->facts, v->graph, v->annotations, &d, NULL, err);
	free(names);
	return rc;
}

static size_t n_children(const struct vprof_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_probes; i++)
		n += !plan->probes[i].is_root;
	return n;
}

/* The first `wanted` children of a plan that has more; those of an earlier, smaller plan stay. */
static int cut(struct vprof_plan **plan, const struct vprof_plan *smaller, size_t wanted, struct vprof_error *err)
{
	struct vprof_plan *out = vprof_plan_new((*plan)->root);
	size_t left = wanted - (smaller ? n_children(smaller) : 0);

	if (!out)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	out->graph_height = (*plan)->graph_height;
	for (size_t i = 0; i < (*plan)->n_probes; i++) {
		const struct vprof_probe *p = &(*plan)->probes[i];
		int is_kept = p->is_root || (smaller && vprof_plan_probe(smaller, p->code));

		if (!is_kept && !left)
			continue;
		left -= !is_kept;
		if (vprof_plan_add(out, p))
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < (*plan)->n_at_calls; i++)
		if (vprof_plan_probe(out, (*plan)->at_calls[i].code) && vprof_plan_add_call(out, &(*plan)->at_calls[i]))
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	vprof_plan_free(*plan);
	*plan = out;
	return 0;
}

static int make_children(struct variant *v, size_t wanted, struct vprof_plan **plan, struct vprof_error *err)
{
	struct vprof_plan *smaller = NULL;
	int rc;

	if (!wanted) /* the annotations alone */
		return vprof_plan_make(plan, v->facts, v->graph, v->annotations, &(struct vprof_decisions){ 0 }, NULL,
				       err);
	for (size_t n = 1; n <= v->n_order; n++) {
		rc = make(v, n, plan, err);
		if (rc)
			return rc;
		if (n_children(*plan) >= wanted) {
			rc = cut(plan, smaller, wanted, err);
			vprof_plan_free(smaller);
			return rc;
		}
		vprof_plan_free(smaller);
		smaller = *plan;
	}
	vprof_plan_free(smaller);
	return vprof_error_set(err, VPROF_ERR_INPUT, "the load executes too few functions for %zu children", wanted);
}

/* Every probe stays in the code, and its gate never opens. */
static int close_gates(struct vprof_plan *plan)
{
	for (size_t i = 0; i < plan->n_probes; i++) {
		plan->probes[i].mask = UINT64_C(1) << 63;
		plan->probes[i].is_root = 0;
	}
	return 0;
}

static int build(const struct variant *v, const struct vprof_plan *plan, struct vprof_error *err)
{
	char *shadow = vprof_path_join(v->vprof_dir, "src"), *log = vprof_path_join(v->vprof_dir, "build.log");
	char *to = vprof_path_join(v->vprof_dir, "plan.json");
	struct vprof_splice_result splice;
	struct vprof_replay_result replay;
	struct vprof_replay_options o = {
		.vprof_dir = v->vprof_dir,
		.probe_header = VPROF_PROBE,
		.include_dir = VPROF_INCLUDE,
		.build = v->annotations->build,
		.directory = v->annotations->directory,
		.log_path = log,
	};
	int rc = shadow && log && to ? 0 : vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");

	if (!rc)
		rc = vprof_splice(v->facts, plan, v->annotations, shadow, &splice, err);
	if (!rc)
		rc = vprof_replay(v->facts, plan, v->annotations, &o, &replay, err);
	if (!rc)
		rc = vprof_plan_write(plan, to, err);
	if (!rc)
		fprintf(stderr, "%zu probes, %zu of them children, %zu units compiled\n", plan->n_probes,
			n_children(plan), replay.n_compiled);
	free(shadow);
	free(log);
	free(to);
	return rc;
}

int main(int argc, char **argv)
{
	struct vprof_decisions all = { .all = 1 };
	struct vprof_error err = { "" };
	struct vprof_plan *plan = NULL;
	struct variant v = { 0 };
	int rc, is_children = argc == 5 && !strcmp(argv[2], "children");

	if (!is_children && !(argc == 3 && (!strcmp(argv[2], "all") || !strcmp(argv[2], "closed")))) {
		fputs("usage: bench_variant PROJECT all|closed|children N TRACE\n", stderr);
		return 2;
	}
	rc = open_project(&v, argv[1], &err);
	if (!rc && is_children) {
		v.is_executed = calloc(v.facts->n_functions + 1, 1);
		v.order = calloc(v.facts->n_functions + 1, sizeof *v.order);
		rc = v.is_executed && v.order ? find_executed(&v, argv[4], &err) : VPROF_ERR_NOMEM;
		if (!rc)
			put_in_order(&v);
		if (!rc)
			rc = make_children(&v, strtoul(argv[3], NULL, 10), &plan, &err);
	} else if (!rc) {
		rc = vprof_plan_make(&plan, v.facts, v.graph, v.annotations, &all, NULL, &err);
		if (!rc && !strcmp(argv[2], "closed"))
			rc = close_gates(plan);
	}
	if (!rc)
		rc = build(&v, plan, &err);
	rc = rc ? fail(&err) : 0;
	vprof_plan_free(plan);
	vprof_callgraph_free(v.graph);
	vprof_facts_free(v.facts);
	vprof_annotations_free(v.annotations);
	free(v.is_executed);
	free(v.order);
	free(v.vprof_dir);
	return rc;
}
