/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the probes of a run: facts + call graph + decisions -> plan (VProfiler, section 4.3: a function is broken
 * down by instrumenting its children).
 *
 * Marks are kept per function and per call; the plan is written from them at the end. Invariant: a mark is only ever
 * put on a canonical function or call, the one with the smallest id among those that share one place in a file
 * (twins: a file compiled twice, a macro that defines functions), because one place can hold one probe only.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "instrumenter/instrument.h"
#include "instrumenter/plan/plan_at_calls.h"
#include "instrumenter/plan/plan_children.h"
#include "trace/format.h"

static void skip(struct vprof_plan_maker *m, const char *name, const char *why)
{
	if (m->skipped)
		vprof_text_addf(m->skipped, "%s: %s\n", name, why);
}

/* ---- twins ---- */

static int by_place(const void *a, const void *b, void *facts)
{
	const struct vprof_facts *all = facts;
	const struct vprof_facts_function *f = &all->functions[*(const uint32_t *)a];
	const struct vprof_facts_function *g = &all->functions[*(const uint32_t *)b];

	if (f->file != g->file)
		return f->file < g->file ? -1 : 1;
	if (f->body_begin != g->body_begin)
		return f->body_begin < g->body_begin ? -1 : 1;
	return f->id < g->id ? -1 : f->id > g->id;
}

static int by_call_place(const void *a, const void *b, void *facts)
{
	const struct vprof_facts *all = facts;
	const struct vprof_facts_call *c = &all->calls[*(const uint32_t *)a];
	const struct vprof_facts_call *d = &all->calls[*(const uint32_t *)b];

	if (c->file != d->file)
		return c->file < d->file ? -1 : 1;
	if (c->begin != d->begin)
		return c->begin < d->begin ? -1 : 1;
	if (c->end != d->end)
		return c->end < d->end ? -1 : 1;
	return c->id < d->id ? -1 : c->id > d->id;
}

static uint32_t *numbers(size_t n)
{
	uint32_t *list = malloc((n + 1) * sizeof *list);

	for (size_t i = 0; list && i < n; i++)
		list[i] = (uint32_t)i;
	return list;
}

/* Links the entries of `order` that share a place into lists; `same` tells whether two neighbours do. */
static void link_twins(struct vprof_plan_mark *marks, const uint32_t *order, size_t n,
		       int (*same)(const struct vprof_facts *, uint32_t, uint32_t), const struct vprof_facts *facts)
{
	for (size_t i = 0; i < n; i++) {
		struct vprof_plan_mark *mark = &marks[order[i]];

		mark->next_twin = VPROF_PLAN_NONE;
		mark->canon = order[i];
		mark->n_twins = 1;
		if (i && same(facts, order[i - 1], order[i])) {
			mark->canon = marks[order[i - 1]].canon;
			marks[order[i - 1]].next_twin = order[i];
			marks[mark->canon].n_twins++;
		}
	}
}

static int same_body(const struct vprof_facts *facts, uint32_t a, uint32_t b)
{
	const struct vprof_facts_function *f = &facts->functions[a], *g = &facts->functions[b];

	return f->file == g->file && f->body_begin == g->body_begin && f->body_begin >= 0;
}

static int same_site(const struct vprof_facts *facts, uint32_t a, uint32_t b)
{
	const struct vprof_facts_call *c = &facts->calls[a], *d = &facts->calls[b];

	return c->file == d->file && c->begin == d->begin && c->end == d->end && c->begin >= 0;
}

static int find_twins(struct vprof_plan_maker *m)
{
	const struct vprof_facts *f = m->facts;
	uint32_t *functions = numbers(f->n_functions), *calls = numbers(f->n_calls);
	int ok = functions && calls;

	if (ok) {
		qsort_r(functions, f->n_functions, sizeof *functions, by_place, (void *)f);
		link_twins(m->function, functions, f->n_functions, same_body, f);
		qsort_r(calls, f->n_calls, sizeof *calls, by_call_place, (void *)f);
		link_twins(m->call, calls, f->n_calls, same_site, f);
	}
	free(functions);
	free(calls);
	return ok ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* ---- what can be measured ---- */

static int ends_with(const char *s, size_t n, const char *suffix)
{
	size_t k = strlen(suffix);

	return k <= n && !memcmp(s + n - k, suffix, k);
}

/* Name or glob, also "name@file". */
static int excludes(const char *pattern, const struct vprof_facts_function *f, const struct vprof_facts_file *file)
{
	const char *at = strrchr(pattern, '@');
	char *bare;
	int match;

	if (!strcmp(pattern, f->name) || !strcmp(pattern, f->display) || !fnmatch(pattern, f->name, 0) ||
	    !fnmatch(pattern, f->display, 0))
		return 1;
	if (!at || !file || !ends_with(file->path, strlen(file->path), at + 1))
		return 0;
	bare = strndup(pattern, (size_t)(at - pattern));
	match = bare && (!fnmatch(bare, f->name, 0) || !fnmatch(bare, f->display, 0));
	free(bare);
	return match;
}

static int excluded(const struct vprof_plan_maker *m, const struct vprof_facts_function *f)
{
	for (size_t i = 0; m->a && i < m->a->n_exclude; i++)
		if (excludes(m->a->exclude[i], f, vprof_facts_file(m->facts, f->file)))
			return 1;
	return 0;
}

/* All functions that a name means, into m->found. "name@file" is split. */
static size_t find(struct vprof_plan_maker *m, const char *name, const char *file)
{
	const char *at = strrchr(name, '@');
	size_t n;

	if (at && at != name && (!file || !*file)) {
		char *bare = strndup(name, (size_t)(at - name));

		if (!bare) {
			m->failed = 1;
			return 0;
		}
		n = vprof_facts_find(m->facts, bare, at + 1, m->found, m->facts->n_functions);
		free(bare);
		return n;
	}
	return vprof_facts_find(m->facts, name, file && *file ? file : NULL, m->found, m->facts->n_functions);
}

static void find_annotated(struct vprof_plan_maker *m)
{
	for (size_t i = 0; i < m->facts->n_functions; i++)
		m->function[i].excluded = (unsigned char)excluded(m, &m->facts->functions[i]);
	for (size_t i = 0; m->a && i < m->a->n_hooks; i++) {
		if (m->a->hooks[i].kind != VPROF_HOOK_ACQUIRE)
			continue;
		for (size_t n = find(m, m->a->hooks[i].function, NULL); n-- > 0;)
			m->function[m->found[n]].is_acquire = 1;
	}
}

/* ---- decisions ---- */

static const char *relative(const struct vprof_facts *facts, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, id);
	size_t n = strlen(facts->root);

	if (!file)
		return "";
	if (vprof_path_inside(facts->root, file->path) && file->path[n] == '/')
		return file->path + n + 1;
	return file->path;
}

static int names(const struct vprof_closed *c, const char *name, const char *file, const char *caller)
{
	return !strcmp(c->name, name) && !strcmp(c->file, file) && !strcmp(c->caller, caller);
}

static void unmake_root(struct vprof_plan_mark *mark)
{
	if (!mark->is_root)
		return;
	mark->mask = 0;
	mark->is_root = mark->present = 0;
}

/* What is closed, roots as well, but for what has to be seen whatever it costs. */
static void mark_closed(struct vprof_plan_maker *m)
{
	const struct vprof_facts *facts = m->facts;

	for (size_t k = 0; k < m->d->n_closed && !m->d->all; k++) {
		const struct vprof_closed *c = &m->d->closed[k];

		for (size_t i = 0; i < facts->n_functions && !*c->caller; i++) {
			const struct vprof_facts_function *f = &facts->functions[i];

			if (names(c, f->name, relative(facts, f->file), "") && !m->function[i].is_acquire) {
				m->function[i].closed = 1;
				unmake_root(&m->function[m->function[i].canon]);
			}
		}
		for (size_t i = 0; i < facts->n_calls && *c->caller; i++) {
			const struct vprof_facts_call *call = &facts->calls[i];
			const struct vprof_facts_function *holder = vprof_facts_function(facts, call->caller);

			if (names(c, call->callee, relative(facts, call->file), holder ? holder->name : ""))
				m->call[m->call[i].canon].closed = 1;
		}
	}
}

static const char *reason(const struct vprof_facts_function *f)
{
	return *f->reason ? f->reason : "its body cannot carry a probe";
}

static void make_root(struct vprof_plan_maker *m, const struct vprof_name *name)
{
	size_t n = find(m, name->name, name->file);

	if (!n) {
		skip(m, name->name, "no function of that name has a body in the project");
		return;
	}
	for (size_t i = 0; i < n && i < m->facts->n_functions; i++) {
		struct vprof_plan_mark *mark = &m->function[m->function[m->found[i]].canon];

		if (!vprof_plan_can_carry_probe(m, m->found[i])) {
			skip(m, name->name, reason(&m->facts->functions[m->found[i]]));
			continue;
		}
		mark->mask = VPROF_MASK_ANY;
		mark->is_root = mark->present = 1;
	}
}

static void break_function(struct vprof_plan_maker *m, uint32_t function, int bit)
{
	struct vprof_plan_children c = { .mask = UINT64_C(1) << bit, .mark = 1 };
	struct vprof_plan_mark *mark = &m->function[m->function[function].canon];

	if (m->function[function].closed)
		return;
	if (!vprof_plan_can_carry_probe(m, function)) {
		skip(m, m->facts->functions[function].display, reason(&m->facts->functions[function]));
		return;
	}
	mark->present = mark->broken_down = 1;
	mark->context = (unsigned char)bit;
	vprof_plan_children_of(m, function, &c);
}

static void break_pointer(struct vprof_plan_maker *m, const struct vprof_facts_call *call, int bit)
{
	struct vprof_plan_children c = { .mask = UINT64_C(1) << bit, .mark = 1 };
	struct vprof_plan_mark *mark = &m->call[m->call[call - m->facts->calls].canon];

	if (mark->closed)
		return;
	if (!vprof_plan_site_can_carry_probe(m, call)) {
		skip(m, call->callee, "this call cannot carry a probe; what it calls is measured in its caller");
		return;
	}
	mark->present = mark->broken_down = 1;
	mark->context = (unsigned char)bit;
	vprof_plan_children_by_pointer(m, call->signature, &c);
}

/* All sites of that pointer expression in the function named as its caller; how many there were. */
static size_t break_pointers(struct vprof_plan_maker *m, const struct vprof_name *name, int bit)
{
	size_t n = find(m, name->caller, NULL), n_broken = 0;
	uint32_t *holders;

	if (n > m->facts->n_functions)
		n = m->facts->n_functions;
	holders = malloc((n + 1) * sizeof *holders);
	if (!holders) {
		m->failed = 1;
		return 0;
	}
	memcpy(holders, m->found, n * sizeof *holders);
	for (size_t i = 0; i < n; i++) {
		const struct vprof_facts_function *f = &m->facts->functions[holders[i]];

		for (uint32_t k = 0; k < f->n_calls; k++) {
			const struct vprof_facts_call *c = vprof_facts_call_of(m->facts, f, k);
			const struct vprof_facts_file *file = vprof_facts_file(m->facts, c->file);

			if (c->kind != VPROF_CALL_POINTER || strcmp(c->callee, name->name) || !file ||
			    (name->file && !ends_with(file->path, strlen(file->path), name->file)))
				continue;
			break_pointer(m, c, bit);
			n_broken++;
		}
	}
	free(holders);
	return n_broken;
}

static void break_down(struct vprof_plan_maker *m, const struct vprof_name *name, int bit)
{
	uint32_t *functions;
	size_t n;

	if (name->caller && *name->caller && break_pointers(m, name, bit))
		return;
	n = find(m, name->name, name->file);
	if (n > m->facts->n_functions)
		n = m->facts->n_functions;
	if (!n) {
		skip(m, name->name, "has no body in the project: nothing beneath it can be measured");
		return;
	}
	functions = malloc(n * sizeof *functions);
	if (!functions) {
		m->failed = 1;
		return;
	}
	memcpy(functions, m->found, n * sizeof *functions);
	for (size_t i = 0; i < n; i++)
		break_function(m, functions[i], bit);
	free(functions);
}

static void take_all(struct vprof_plan_maker *m)
{
	for (uint32_t i = 0; i < m->facts->n_functions; i++) {
		struct vprof_plan_mark *mark = &m->function[m->function[i].canon];

		if (!vprof_plan_can_carry_probe(m, i) || (m->function[i].excluded && !m->function[i].is_acquire))
			continue;
		mark->mask = VPROF_MASK_ANY;
		mark->present = 1;
		if (!mark->broken_down)
			mark->context = VPROF_CONTEXT_LEAF;
	}
}

/* What a resident build holds: all that a plan could measure. */
static void take_resident(struct vprof_plan_maker *m)
{
	for (uint32_t i = 0; i < m->facts->n_functions; i++) {
		struct vprof_plan_children c = { .mask = VPROF_MASK_ANY, .mark = 1 };
		struct vprof_plan_mark *mark = &m->function[m->function[i].canon];

		if (!vprof_plan_can_carry_probe(m, i) || (m->function[i].excluded && !m->function[i].is_acquire) ||
		    (vprof_plan_is_cheap(m, i) && !mark->present && !m->function[i].is_acquire))
			continue;
		mark->mask = VPROF_MASK_ANY;
		mark->present = 1;
		if (!mark->broken_down)
			mark->context = VPROF_CONTEXT_LEAF;
		vprof_plan_children_of(m, i, &c);
	}
}

static void decide(struct vprof_plan_maker *m)
{
	for (size_t i = 0; i < m->d->n_roots; i++)
		make_root(m, &m->d->roots[i]);
	mark_closed(m);
	for (size_t i = 0; i < m->d->n_broken_down; i++)
		break_down(m, &m->d->broken_down[i], VPROF_CONTEXT_FIRST + (int)(i % (64 - VPROF_CONTEXT_FIRST)));
	if (m->d->all && m->d->live)
		take_resident(m);
	else if (m->d->all)
		take_all(m);
	for (size_t i = 0; i < m->facts->n_functions; i++)
		if (m->function[i].broken_down && !m->function[i].mask)
			skip(m, m->facts->functions[i].display,
			     "no measured function calls it: it is neither a root nor called by a broken-down function");
}

/* ---- the plan ---- */

/* Height of the condensed call graph beneath any of the functions at this place. */
static uint32_t height(const struct vprof_plan_maker *m, uint32_t function)
{
	uint32_t most = 0;

	for (uint32_t i = m->function[function].canon; m->graph && i != VPROF_PLAN_NONE; i = m->function[i].next_twin)
		if (m->graph->height[i] > most)
			most = m->graph->height[i];
	return most;
}

static int add_function(struct vprof_plan_maker *m, uint32_t function)
{
	const struct vprof_facts_function *f = &m->facts->functions[function];
	const struct vprof_plan_mark *mark = &m->function[function];
	struct vprof_text display = VPROF_TEXT_INIT;
	struct vprof_probe p = {
		.code = VP_CODE_FUNCTION + f->id,
		.kind = VPROF_PROBE_FUNCTION,
		.fact_id = f->id,
		.mask = vprof_plan_is_at_calls(m, function) ? 0 : mark->mask,
		.context = mark->context ? mark->context : VPROF_CONTEXT_LEAF,
		.is_root = mark->is_root,
		.broken_down = mark->broken_down,
		.height = height(m, function),
		.n_children = vprof_plan_count_children(m, function),
		.name = f->name,
		.file = relative(m->facts, f->file),
		.line = f->line,
		.caller = "",
	};
	int rc;

	vprof_text_add(&display, f->display);
	if (mark->n_twins > 1)
		vprof_text_addf(&display, " (+%u)", mark->n_twins - 1);
	p.display = display.s;
	rc = display.failed ? VPROF_ERR_NOMEM : vprof_plan_add(m->plan, &p);
	vprof_text_release(&display);
	return rc;
}

static int add_site(struct vprof_plan_maker *m, uint32_t call)
{
	const struct vprof_facts_call *c = &m->facts->calls[call];
	const struct vprof_facts_function *holder = vprof_facts_function(m->facts, c->caller);
	const struct vprof_plan_mark *mark = &m->call[call];
	struct vprof_text display = VPROF_TEXT_INIT;
	struct vprof_probe p = {
		.code = VP_CODE_SITE + c->id,
		.kind = VPROF_PROBE_SITE,
		.fact_id = c->id,
		.mask = mark->mask,
		.context = mark->context ? mark->context : VPROF_CONTEXT_LEAF,
		.broken_down = mark->broken_down,
		.name = c->callee,
		.file = relative(m->facts, c->file),
		.line = c->line,
		.caller = holder ? holder->name : "",
		.caller_line = holder ? holder->line : 0,
	};
	int rc;

	if (c->kind == VPROF_CALL_POINTER) {
		const struct vprof_plan_targets *t = vprof_plan_pointer_targets(m, c->signature);
		struct vprof_plan_children count = { 0 };

		for (size_t i = 0; t && i < t->n; i++)
			if (height(m, t->functions[i]) >= p.height)
				p.height = height(m, t->functions[i]) + 1;
		vprof_plan_children_by_pointer(m, c->signature, &count);
		p.n_children = count.n;
		p.kind = VPROF_PROBE_POINTER;
		vprof_text_addf(&display, "(*%s)", c->callee);
	} else {
		vprof_text_add(&display, c->callee);
	}
	p.display = display.s;
	rc = display.failed ? VPROF_ERR_NOMEM : vprof_plan_add(m->plan, &p);
	vprof_text_release(&display);
	return rc;
}

static int add_probes(struct vprof_plan_maker *m)
{
	uint32_t over_roots = 0, over_all = 0;
	int rc = VPROF_OK, any_root = 0;

	for (uint32_t i = 0; !rc && i < m->facts->n_functions; i++) {
		if (m->function[i].canon != i || !m->function[i].present)
			continue;
		rc = add_function(m, i);
		if (height(m, i) > over_all)
			over_all = height(m, i);
		if (m->function[i].is_root && height(m, i) > over_roots)
			over_roots = height(m, i);
		any_root |= m->function[i].is_root;
	}
	for (uint32_t i = 0; !rc && i < m->facts->n_calls; i++)
		if (m->call[i].canon == i && m->call[i].present)
			rc = add_site(m, i);
	if (!rc)
		rc = vprof_plan_add_at_calls(m);
	m->plan->graph_height = any_root ? over_roots : over_all;
	return rc;
}

static void mark_every_call(struct vprof_plan *plan, const struct vprof_decisions *d)
{
	for (size_t i = 0; i < plan->n_probes; i++) {
		struct vprof_probe *p = &plan->probes[i];

		for (size_t k = 0; k < d->n_every_call && !p->every_call; k++) {
			const struct vprof_name *n = &d->every_call[k];

			p->every_call = !strcmp(n->name, p->name) && !strcmp(n->file ? n->file : "", p->file) &&
					!strcmp(n->caller ? n->caller : "", p->caller);
		}
	}
}

/* Of what is closed: that for which the plan has no probe. */
static int add_closed(struct vprof_plan *plan, const struct vprof_decisions *d)
{
	int rc = VPROF_OK;

	for (size_t k = 0; k < d->n_closed && !rc; k++) {
		size_t i = 0;

		while (i < plan->n_probes &&
		       !names(&d->closed[k], plan->probes[i].name, plan->probes[i].file, plan->probes[i].caller))
			i++;
		if (i == plan->n_probes)
			rc = vprof_plan_add_closed(plan, &d->closed[k]);
	}
	return rc;
}

int vprof_plan_make(struct vprof_plan **out, const struct vprof_facts *facts, const struct vprof_callgraph *graph,
		    const struct vprof_annotations *a, const struct vprof_decisions *d, struct vprof_text *skipped,
		    struct vprof_error *err)
{
	struct vprof_plan_maker m = { .facts = facts, .graph = graph, .a = a, .d = d, .skipped = skipped };
	int rc = VPROF_ERR_NOMEM;

	*out = NULL;
	m.plan = vprof_plan_new(facts->root);
	m.function = calloc(facts->n_functions + 1, sizeof *m.function);
	m.call = calloc(facts->n_calls + 1, sizeof *m.call);
	m.found = calloc(facts->n_functions + 1, sizeof *m.found);
	if (!m.plan || !m.function || !m.call || !m.found || find_twins(&m) || vprof_plan_children_begin(&m))
		goto out;
	m.plan->all = d->all;
	m.plan->live = d->live;
	vprof_plan_at_calls_begin(&m);
	find_annotated(&m);
	decide(&m);
	rc = m.failed ? VPROF_ERR_NOMEM : add_probes(&m);
	mark_every_call(m.plan, d);
	if (!rc)
		rc = add_closed(m.plan, d);
	if (m.failed)
		rc = VPROF_ERR_NOMEM;
out:
	vprof_plan_children_end(&m);
	free(m.reaches);
	free(m.function);
	free(m.call);
	free(m.found);
	if (rc) {
		vprof_plan_free(m.plan);
		return vprof_error_set(err, rc, "out of memory making the plan");
	}
	*out = m.plan;
	return VPROF_OK;
}
