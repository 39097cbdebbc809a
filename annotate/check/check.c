/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the annotations match the sources? Names first, against the facts; then every expression of the
 * functions that were found, through check_expressions.c; then the findings in the order of vprof.json. */
#include "annotate/check/check.h"

#include <fnmatch.h>
#include <string.h>

#include "annotate/check/check_expressions.h"
#include "annotate/check/expression.h"
#include "common/facts/never_returns.h"
#include "common/files.h"

#define MATCHES_MAX 64

struct check {
	const struct vprof_annotations *a;
	const struct vprof_facts *facts;
	struct vprof_findings *out;
	struct vprof_expr_task *tasks;
	size_t n_tasks;
	size_t hook; /* the one at work */
};

__attribute__((format(printf, 4, 5))) static void finding(struct check *c, enum vprof_severity severity,
							  struct vprof_place place, const char *fmt, ...)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_finding *f;
	const char *message;
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vprof_text_vaddf(&text, fmt, ap);
	va_end(ap);
	message = vprof_arena_copy(&c->out->arena, text.s, text.len);
	vprof_text_release(&text);
	for (i = 0; i < c->out->n; i++)
		if (!strcmp(c->out->items[i].place.key, place.key) && !strcmp(c->out->items[i].message, message))
			return;
	f = vprof_arena_push(&c->out->arena, &c->out->items, &c->out->n, sizeof *f);
	if (!f)
		return;
	*f = (struct vprof_finding){ severity, place, message };
	c->out->n_errors += severity == VPROF_FINDING_ERROR;
	c->out->n_warnings += severity == VPROF_FINDING_WARNING;
}

/* --- functions --- */

/* Splits "name@file.c"; the name stays in `name`, the result is the suffix or NULL. */
static const char *split_suffix(struct check *c, const char *function, const char **name)
{
	const char *at = strrchr(function, '@');

	*name = at ? vprof_arena_copy(&c->out->arena, function, (size_t)(at - function)) : function;
	return at && at[1] ? at + 1 : NULL;
}

static int is_called_outside(const struct vprof_facts *facts, const char *name)
{
	size_t i;

	for (i = 0; i < facts->n_calls; i++)
		if (!facts->calls[i].callee_function && !strcmp(facts->calls[i].callee, name))
			return 1;
	return 0;
}

static void report_unknown(struct check *c, struct vprof_place place, const char *name, const char *suffix)
{
	const char *nearest = vprof_facts_nearest(c->facts, name);

	if (suffix && vprof_facts_find(c->facts, name, NULL, NULL, 0))
		finding(c, VPROF_FINDING_ERROR, place, "\"%s\" exists, but in no file whose path ends with \"%s\"",
			name, suffix);
	else if (is_called_outside(c->facts, name))
		finding(c, VPROF_FINDING_ERROR, place,
			"\"%s\" is called but has no body in the project; annotate the function that calls "
			"it",
			name);
	else if (nearest)
		finding(c, VPROF_FINDING_ERROR, place, "no function \"%s\" in the sources; did you mean \"%s\"?", name,
			nearest);
	else
		finding(c, VPROF_FINDING_ERROR, place,
			"no function \"%s\" in the sources; is it built by the observed command? (`vprof "
			"init` scans again)",
			name);
}

static void report_ambiguous(struct check *c, struct vprof_place place, const char *name, const uint32_t *indices,
			     size_t n)
{
	struct vprof_text list = VPROF_TEXT_INIT;
	const char *path;
	const struct vprof_facts_file *file;
	size_t i;

	for (i = 0; i < n && i < 6; i++)
		vprof_text_addf(&list, "%s%s", i ? ", " : "",
				vprof_check_location(&c->out->arena, c->facts, &c->facts->functions[indices[i]]));
	file = vprof_facts_file(c->facts, c->facts->functions[indices[0]].file);
	path = file ? file->path : "file.c";
	finding(c, VPROF_FINDING_ERROR, place, "\"%s\" names %zu functions: %s%s; add the file, like \"%s@%s\"", name,
		n, list.s, n > 6 ? ", ..." : "", name, vprof_path_name(path));
	vprof_text_release(&list);
}

/* What the user can do about a function that cannot be instrumented; the reasons are those of docs/facts.md. */
static const char *advice_for(const char *reason)
{
	static const struct {
		const char *word, *advice;
	} known[] = {
		{ "constexpr", "it may be evaluated at compile time; annotate its caller" },
		{ "consteval", "it is evaluated at compile time; annotate its caller" },
		{ "coroutine", "it suspends and resumes; annotate the functions that it calls" },
		{ "attribute_macro", "its project defines __attribute__ away; remove that #define" },
		{ "naked", "it has no frame of its own; annotate its caller" },
		{ "no_instrument", "it is marked no_instrument_function; annotate its caller, or remove the mark" },
		{ "ifunc", "it runs before the program starts; annotate its caller" },
		{ "target", "its target attribute forbids the probe; annotate its caller" },
		{ "brace_not_spelled",
		  "its braces come from a macro; annotate its caller or a function that it calls" },
		{ "brace_mismatch", "its braces come from a macro; annotate its caller or a function that it calls" },
		{ "stringified",
		  "a macro turns its text into a string; annotate its caller or a function that it calls" },
	};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(reason, known[i].word))
			return known[i].advice;
	return "annotate its caller or a function that it calls";
}

/* Different functions? A function that is compiled in several configurations, or overloaded in one file, is
 * not. */
static int is_ambiguous(const struct vprof_facts *facts, const uint32_t *indices, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (facts->functions[indices[i]].file != facts->functions[indices[0]].file)
			return 1;
	return 0;
}

static size_t resolve(struct check *c, struct vprof_place place, const char *function, uint32_t *indices)
{
	const char *name, *suffix = split_suffix(c, function, &name);
	size_t n = vprof_facts_find(c->facts, name, suffix, indices, MATCHES_MAX);

	if (n > MATCHES_MAX)
		n = MATCHES_MAX;
	if (!n)
		report_unknown(c, place, name, suffix);
	if (n > 1 && is_ambiguous(c->facts, indices, n)) {
		report_ambiguous(c, place, name, indices, n);
		return 0;
	}
	return n;
}

static int has_overloads(const struct vprof_facts *facts, const uint32_t *indices, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (strcmp(facts->functions[indices[i]].signature, facts->functions[indices[0]].signature))
			return 1;
	return 0;
}

/* --- one hook --- */

static enum vprof_expr_role role_of(enum vprof_hook_kind kind)
{
	return kind == VPROF_HOOK_TYPE ? VPROF_EXPR_LABEL :
	       kind == VPROF_HOOK_WORK ? VPROF_EXPR_AMOUNT :
					 VPROF_EXPR_IDENTITY;
}

static void add_task(struct check *c, const struct vprof_expr *e, enum vprof_expr_role role,
		     const struct vprof_facts_function *f)
{
	struct vprof_expr_task *t;

	if (!e->text)
		return;
	if (vprof_expression_uses_return(e->text)) {
		if (f->return_kind == VPROF_RETURNS_VOID) {
			finding(c, VPROF_FINDING_ERROR, e->place, "$return: %s returns void; use a parameter",
				f->display);
			return;
		}
		if (!vprof_facts_return_can_be_examined(c->facts, f)) {
			finding(c, VPROF_FINDING_ERROR, e->place,
				"$return: %s returns %s, which cannot be examined (that takes C++11 or later and a named type); annotate a caller or a callee instead",
				f->display, f->returns);
			return;
		}
	}
	t = vprof_arena_push(&c->out->arena, &c->tasks, &c->n_tasks, sizeof *t);
	if (t)
		*t = (struct vprof_expr_task){ .expr = e, .role = role, .function = f, .hook = c->hook };
}

/* An interval that ends where a function returns never ends if that function ends the process instead. */
static void check_end(struct check *c, const struct vprof_hook *h, uint32_t function)
{
	const struct vprof_facts_call *last = vprof_facts_final_call(c->facts, function), *inner = last;
	uint32_t at = function;

	if (!last)
		return;
	while (inner && inner->callee_function && at != inner->callee_function - 1) {
		last = inner;
		at = inner->callee_function - 1;
		inner = vprof_facts_final_call(c->facts, at);
	}
	inner = inner ? inner : last;
	finding(c, VPROF_FINDING_WARNING, h->function_place,
		"%s never returns, it ends with %s (line %d): this %s never happens; put it at the entry of %s",
		c->facts->functions[function].display, inner->callee, inner->line, vprof_hook_kind_name(h->kind),
		c->facts->functions[at].display);
}

static void check_hook(struct check *c, const struct vprof_hook *h)
{
	uint32_t indices[MATCHES_MAX];
	size_t n = resolve(c, h->function_place, h->function, indices), i, n_good = 0;
	const struct vprof_facts_function *f = NULL;

	for (i = 0; i < n; i++) {
		f = &c->facts->functions[indices[i]];
		if (!f->instrumentable) {
			finding(c, VPROF_FINDING_ERROR, h->function_place, "%s (%s) cannot be instrumented (%s): %s",
				f->display, vprof_check_location(&c->out->arena, c->facts, f), f->reason,
				advice_for(f->reason));
			continue;
		}
		n_good++;
		add_task(c, &h->value, role_of(h->kind), f);
		add_task(c, &h->condition, VPROF_EXPR_TRUTH, f);
		add_task(c, &h->mode, VPROF_EXPR_AMOUNT, f);
	}
	if (!n_good)
		return;
	f = &c->facts->functions[indices[0]];
	if (h->at_exit && n == 1 && (h->kind == VPROF_HOOK_END || h->kind == VPROF_HOOK_SUSPEND))
		check_end(c, h, indices[0]);
	if (n > 1 && has_overloads(c->facts, indices, n))
		finding(c, VPROF_FINDING_WARNING, h->function_place,
			"%s (%s) has %zu overloads in this file; all are annotated", f->display,
			vprof_check_location(&c->out->arena, c->facts, f), n);
	else
		finding(c, VPROF_FINDING_OK, h->function_place, "%s %s of %s (%s)", vprof_hook_kind_name(h->kind),
			h->at_exit ? "at exit" : "at entry", f->display,
			vprof_check_location(&c->out->arena, c->facts, f));
}

/* --- the annotations as a whole --- */

static size_t count_hooks(const struct vprof_annotations *a, enum vprof_hook_kind kind, const char *name)
{
	size_t i, n = 0;

	for (i = 0; i < a->n_hooks; i++)
		n += a->hooks[i].kind == kind && (!name || !strcmp(a->hooks[i].name, name));
	return n;
}

static const struct vprof_hook *first_hook(const struct vprof_annotations *a, enum vprof_hook_kind kind,
					   const char *name)
{
	size_t i;

	for (i = 0; i < a->n_hooks; i++)
		if (a->hooks[i].kind == kind && (!name || !strcmp(a->hooks[i].name, name)))
			return &a->hooks[i];
	return NULL;
}

static void check_pair(struct check *c, enum vprof_hook_kind kind, enum vprof_hook_kind other, const char *name,
		       const char *advice)
{
	const struct vprof_hook *h = first_hook(c->a, kind, name);

	if (h && !count_hooks(c->a, other, name))
		finding(c, VPROF_FINDING_WARNING, h->function_place, "\"%s\" without \"%s\"%s%s%s: %s",
			vprof_hook_kind_name(kind), vprof_hook_kind_name(other), name ? " for \"" : "",
			name ? name : "", name ? "\"" : "", advice);
}

static void check_whole(struct check *c)
{
	size_t i;

	for (i = 0; i < c->a->n_intervals; i++) {
		check_pair(c, VPROF_HOOK_BEGIN, VPROF_HOOK_END, c->a->interval_names[i],
			   "no interval will be complete, unless the code calls vprof_end()");
		check_pair(c, VPROF_HOOK_END, VPROF_HOOK_BEGIN, c->a->interval_names[i],
			   "nothing will be measured, unless the code calls vprof_begin()");
		check_pair(c, VPROF_HOOK_SUSPEND, VPROF_HOOK_RESUME, c->a->interval_names[i],
			   "work after the suspension will not count towards the interval");
	}
	check_pair(c, VPROF_HOOK_ACQUIRE, VPROF_HOOK_RELEASE, NULL, "waits will be seen, but not who ended them");
	check_pair(c, VPROF_HOOK_RELEASE, VPROF_HOOK_ACQUIRE, NULL, "waits will not be seen");
	check_pair(c, VPROF_HOOK_ENQUEUE, VPROF_HOOK_DEQUEUE, NULL, "time in the queue will not be seen");
	check_pair(c, VPROF_HOOK_DEQUEUE, VPROF_HOOK_ENQUEUE, NULL, "time in the queue will not be seen");
}

static int matches_any(const struct vprof_facts *facts, const char *glob)
{
	size_t i;

	for (i = 0; i < facts->n_functions; i++)
		if (!fnmatch(glob, facts->functions[i].name, 0) || !fnmatch(glob, facts->functions[i].display, 0))
			return 1;
	for (i = 0; i < facts->n_calls; i++)
		if (!fnmatch(glob, facts->calls[i].callee, 0))
			return 1;
	return 0;
}

static void check_functions(struct check *c, const char *const *names, const struct vprof_place *places, size_t n)
{
	uint32_t indices[MATCHES_MAX];

	for (size_t i = 0; i < n; i++)
		if (resolve(c, places[i], names[i], indices))
			finding(c, VPROF_FINDING_OK, places[i], "%s (%s)", names[i],
				vprof_check_location(&c->out->arena, c->facts, &c->facts->functions[indices[0]]));
}

static void check_lists(struct check *c)
{
	size_t i;

	check_functions(c, c->a->roots, c->a->root_places, c->a->n_roots);
	check_functions(c, c->a->measure_first, c->a->first_places, c->a->n_measure_first);
	for (i = 0; i < c->a->n_exclude; i++)
		if (!matches_any(c->facts, c->a->exclude[i]))
			finding(c, VPROF_FINDING_WARNING, c->a->exclude_places[i], "\"%s\" matches no function",
				c->a->exclude[i]);
}

/* By line; findings of one line stay in the order in which they were made (insertion sort: they are few). */
static void order(struct vprof_findings *out)
{
	struct vprof_finding one;
	size_t i, j;

	for (i = 1; i < out->n; i++) {
		one = out->items[i];
		for (j = i; j && out->items[j - 1].place.line > one.place.line; j--)
			out->items[j] = out->items[j - 1];
		out->items[j] = one;
	}
}

int vprof_annotations_check(const struct vprof_annotations *a, const struct vprof_facts *facts,
			    struct vprof_findings *out, struct vprof_error *err)
{
	struct check c = { .a = a, .facts = facts, .out = out };
	size_t i;
	int rc;

	*out = (struct vprof_findings){ 0 };
	for (i = 0; i < a->n_hooks; i++) {
		c.hook = i;
		check_hook(&c, &a->hooks[i]);
	}
	rc = vprof_check_expressions(facts, c.tasks, c.n_tasks, &out->arena, err);
	if (rc)
		return rc;
	for (i = 0; i < c.n_tasks; i++)
		finding(&c, c.tasks[i].severity, c.tasks[i].expr->place, "%s", c.tasks[i].message);
	check_whole(&c);
	check_lists(&c);
	if (out->arena.failed)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory while checking annotations");
	order(out);
	return 0;
}
