/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations -> edits: declarations at a function's entry, and for what must be evaluated at its exit either
 * rewritten returns (C, and C++ with $return) or a scope guard (C++).
 *
 * Invariant: the hooks of one function body are taken together, so that a return statement is enclosed once, whatever
 * the number of annotations. Inside an exit the order is fixed: what gives the thread its interval comes first, then
 * what describes the interval, then what ends it.
 */
#include "instrumenter/splice/splice_hook.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define RANK_RETURN_STATEMENT 0
#define RANK_RETURN_VALUE 1

struct placed {		   /* one hook at one body */
	uint32_t function; /* index of the smallest id at that body */
	size_t hook;
};

struct body {
	struct vprof_edits *edits;
	const struct vprof_facts *facts;
	const struct vprof_annotations *a;
	const struct vprof_facts_function *f;
	const struct placed *hooks;
	size_t n;
	int cxx;
	struct vprof_text at_exit;			  /* statements that run where the function is left */
	const struct vprof_hook *exit_hook, *return_hook; /* first that needs at_exit; first that needs $return */
	struct vprof_error *err;
};

static int wrong(const struct vprof_annotations *a, const struct vprof_place *place, struct vprof_error *err,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static int wrong(const struct vprof_annotations *a, const struct vprof_place *place, struct vprof_error *err,
		 const char *fmt, ...)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	va_list ap;

	va_start(ap, fmt);
	vprof_text_vaddf(&text, fmt, ap);
	va_end(ap);
	vprof_error_set(err, VPROF_ERR_INPUT, "%s:%d: %s: %s", a->path ? a->path : "vprof.json", place->line,
			place->key ? place->key : "", text.s);
	vprof_text_release(&text);
	return VPROF_ERR_INPUT;
}

/* `s` as a C string literal. */
static void add_quoted(struct vprof_text *out, const char *s)
{
	vprof_text_add(out, "\"");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\' || c == '?')
			vprof_text_addf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			vprof_text_addf(out, "\\%03o", c);
		else
			vprof_text_append(out, s, 1);
	}
	vprof_text_add(out, "\"");
}

/* An expression of vprof.json. */
static void add_bare_expression(struct vprof_text *out, const char *text)
{
	const char *at;

	while ((at = strstr(text, "$return"))) {
		vprof_text_append(out, text, (size_t)(at - text));
		vprof_text_add(out, "vp_return_");
		text = at + strlen("$return");
	}
	vprof_text_add(out, text);
}

/* In parentheses, so that a comma in it stays inside one macro argument. */
static void add_expression(struct vprof_text *out, const char *text)
{
	vprof_text_add(out, "(");
	add_bare_expression(out, text);
	vprof_text_add(out, ")");
}

static int mentions_return(const struct vprof_expr *e)
{
	return e->text && strstr(e->text, "$return");
}

/* BEGIN, "request", (id)   or   ENQUEUE, (item): what probe.h calls the hook, and its arguments. */
static const char *const macro_name[] = {
	[VPROF_HOOK_BEGIN] = "BEGIN",	  [VPROF_HOOK_RESUME] = "RESUME",   [VPROF_HOOK_SUSPEND] = "SUSPEND",
	[VPROF_HOOK_END] = "END",	  [VPROF_HOOK_TYPE] = "TYPE",	    [VPROF_HOOK_WORK] = "WORK",
	[VPROF_HOOK_ACQUIRE] = "ACQUIRE", [VPROF_HOOK_RELEASE] = "RELEASE", [VPROF_HOOK_ENQUEUE] = "ENQUEUE",
	[VPROF_HOOK_DEQUEUE] = "DEQUEUE",
};

/* Places at entry and at exit: see the file's top. */
static int entry_rank(enum vprof_hook_kind kind)
{
	static const int rank[] = {
		[VPROF_HOOK_ACQUIRE] = 1, [VPROF_HOOK_RELEASE] = 2, [VPROF_HOOK_BEGIN] = 3, [VPROF_HOOK_RESUME] = 3,
		[VPROF_HOOK_SUSPEND] = 3, [VPROF_HOOK_END] = 3,	    [VPROF_HOOK_TYPE] = 5,  [VPROF_HOOK_WORK] = 6,
		[VPROF_HOOK_ENQUEUE] = 7, [VPROF_HOOK_DEQUEUE] = 4,
	};

	return rank[kind];
}

static int exit_rank(enum vprof_hook_kind kind)
{
	static const int rank[] = {
		[VPROF_HOOK_DEQUEUE] = 0, [VPROF_HOOK_ACQUIRE] = 0, [VPROF_HOOK_BEGIN] = 1,   [VPROF_HOOK_RESUME] = 1,
		[VPROF_HOOK_TYPE] = 2,	  [VPROF_HOOK_WORK] = 3,    [VPROF_HOOK_ENQUEUE] = 4, [VPROF_HOOK_SUSPEND] = 5,
		[VPROF_HOOK_END] = 5,	  [VPROF_HOOK_RELEASE] = 6,
	};

	return rank[kind];
}

static int has_name(const struct vprof_hook *h)
{
	return h->kind <= VPROF_HOOK_END || h->kind == VPROF_HOOK_WORK;
}

static void add_name(struct vprof_text *out, const struct vprof_hook *h)
{
	if (has_name(h)) {
		add_quoted(out, h->name ? h->name : "");
		vprof_text_add(out, ", ");
	}
}

static void add_value(struct vprof_text *out, const struct vprof_hook *h)
{
	add_expression(out, h->value.text ? h->value.text : h->kind == VPROF_HOOK_WORK ? "1" : "0");
}

static int is_late(const struct vprof_hook *h)
{
	if (h->kind == VPROF_HOOK_ACQUIRE)
		return 0;
	if (mentions_return(&h->value) || mentions_return(&h->condition))
		return 1;
	return h->at_exit && (h->condition.text || h->kind == VPROF_HOOK_TYPE || h->kind == VPROF_HOOK_WORK);
}

static void add_entry(struct body *b, int rank, struct vprof_text *text)
{
	vprof_edits_add(b->edits, b->f->file, VPROF_EDIT_ENTRY, b->f->body_begin, b->f->body_begin, rank, text);
}

/* What is declared at entry. At-exit declarations run in reverse order, hence their ranks. */
static int hook_at_entry(struct body *b, const struct vprof_hook *h, size_t n)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	int rank = entry_rank(h->kind);

	if (h->kind == VPROF_HOOK_ACQUIRE) {
		if (h->condition.text)
			return wrong(
				b->a, &h->condition.place, b->err,
				"an acquire function takes no condition: its whole execution is the wait; remove it");
		vprof_text_addf(&t, " VP_ACQUIRE(%zu, ", n);
		add_value(&t, h);
		vprof_text_add(&t, ", ");
		add_quoted(&t, b->f->name);
		vprof_text_add(&t, ")");
	} else if (is_late(h)) {
		if (!b->exit_hook)
			b->exit_hook = h;
		if (!b->return_hook && (mentions_return(&h->value) || mentions_return(&h->condition)))
			b->return_hook = h;
		if (mentions_return(&h->value) || h->kind == VPROF_HOOK_TYPE || h->kind == VPROF_HOOK_WORK)
			return VPROF_OK; /* evaluated at exit */
		vprof_text_addf(&t, " VP_KEEP(%zu, ", n);
		add_value(&t, h);
		vprof_text_add(&t, ")");
		rank = 9;
	} else {
		if (h->at_exit) {
			vprof_text_addf(&t, " VP_AT_EXIT(%zu, ", n);
			rank = 20 - exit_rank(h->kind);
		} else if (h->condition.text) {
			vprof_text_addf(&t, " VP_IF(%zu, ", n);
			add_expression(&t, h->condition.text);
			vprof_text_add(&t, ", ");
		} else {
			vprof_text_addf(&t, " VP_%s(%zu, ", macro_name[h->kind], n);
		}
		if (h->at_exit || h->condition.text)
			vprof_text_addf(&t, "%s, ", macro_name[h->kind]);
		add_name(&t, h);
		add_value(&t, h);
		vprof_text_add(&t, ")");
	}
	add_entry(b, rank, &t);
	return VPROF_OK;
}

/* The statement of a late hook, appended to b->at_exit. */
static void hook_at_exit(struct body *b, const struct vprof_hook *h, size_t n)
{
	struct vprof_text *t = &b->at_exit;

	if (h->condition.text) {
		vprof_text_add(t, "if (");
		add_bare_expression(t, h->condition.text);
		vprof_text_add(t, ") ");
	}
	vprof_text_addf(t, "{ VP_DO_%s(", macro_name[h->kind]);
	add_name(t, h);
	if (mentions_return(&h->value) || h->kind == VPROF_HOOK_TYPE || h->kind == VPROF_HOOK_WORK)
		add_value(t, h);
	else
		vprof_text_addf(t, "vp_keep_%zu", n);
	vprof_text_add(t, "); } ");
}

/* ---- where the function is left ---- */

static int same_body(const struct vprof_facts_function *f, const struct vprof_facts_function *g)
{
	return f->file == g->file && f->body_begin == g->body_begin;
}

static size_t first_exit(const struct vprof_facts *facts, uint32_t function)
{
	size_t low = 0, high = facts->n_exits;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (facts->exits[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct vprof_expr *late_expression(const struct vprof_hook *h)
{
	return h->condition.text ? &h->condition : &h->value;
}

static int not_editable(struct body *b, int line, const char *what)
{
	const struct vprof_facts_file *file = vprof_facts_file(b->facts, b->f->file);
	const struct vprof_hook *h = b->return_hook ? b->return_hook : b->exit_hook;

	return wrong(
		b->a, &late_expression(h)->place, b->err,
		"this is evaluated when %s returns, but %s:%d %s; evaluate it at entry (\"at\": \"entry\"), or call vprof.h's functions there",
		b->f->display, file ? file->path : "?", line, what);
}

/* The returned value's type. The scan gives __auto_type for types that cannot be written in front of a name (function
 * addresses); the type of an unevaluated call with the function's own parameters is used there, because __auto_type
 * itself would turn `return 0;` into an int. */
static void add_return_type(struct vprof_text *out, const struct vprof_facts_function *f)
{
	size_t before = out->len;
	cJSON *params, *param;
	int n = 0, named = 1;

	if (strcmp(f->returns, "__auto_type")) {
		vprof_text_addf(out, "__typeof__(%s)", f->returns);
		return;
	}
	params = cJSON_Parse(f->params);
	vprof_text_addf(out, "__typeof__(%s(", f->name);
	cJSON_ArrayForEach(param, params)
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(param, "name"));

		named &= name && *name;
		vprof_text_addf(out, "%s%s", n++ ? ", " : "", name ? name : "");
	}
	vprof_text_add(out, "))");
	if (!named || !cJSON_IsArray(params)) {
		out->len = before;
		vprof_text_add(out, f->lang == VPROF_LANG_CXX ? "auto" : "__auto_type");
	}
	cJSON_Delete(params);
}

/* C++: a class, or a reference. A reference leaves its statement expression as an address. A named variable is examined
 * before the statement, which stays unchanged. Any other object is constructed in a lambda, where it has a name and is
 * still constructed in the place of the result, because compilers elide that copy. */
static void rewrite_object(struct body *b, const struct vprof_facts_exit *x)
{
	struct vprof_text before = VPROF_TEXT_INIT, after = VPROF_TEXT_INIT;
	int list = x->value == VPROF_EXIT_BRACES;

	if (b->f->return_kind == VPROF_RETURNS_REFERENCE) {
		vprof_text_addf(&before, " static_cast<%s>(*(__extension__({ %s vp_return_ = %s", b->f->returns,
				b->f->returns, list ? "" : "(");
		vprof_text_addf(&after, "%s; %s__builtin_addressof(vp_return_); })))", list ? "" : ")", b->at_exit.s);
	} else if (x->value == VPROF_EXIT_VARIABLE) {
		vprof_text_addf(&before, "{ { __typeof__(%s) &vp_return_ = %s; (void)vp_return_; %s} ", x->variable,
				x->variable, b->at_exit.s);
		vprof_text_add(&after, " }");
		vprof_edits_enclose(b->edits, b->f->file, x->begin, x->end, RANK_RETURN_STATEMENT, &before, &after);
		return;
	} else {
		vprof_text_addf(&before, " ([&]() -> %s { %s vp_return_ = %s", b->f->returns, b->f->returns,
				list ? "" : "(");
		if (x->value == VPROF_EXIT_MOVED)
			vprof_text_addf(&before, "static_cast<__typeof__(%s) &&>(", x->variable);
		vprof_text_addf(&after, "%s%s; %sreturn vp_return_; }())", list ? "" : ")",
				x->value == VPROF_EXIT_MOVED ? ")" : "", b->at_exit.s);
	}
	vprof_edits_enclose(b->edits, b->f->file, x->expr_begin, x->expr_end, RANK_RETURN_VALUE, &before, &after);
}

static int rewrite_return(struct body *b, const struct vprof_facts_exit *x)
{
	struct vprof_text before = VPROF_TEXT_INIT, after = VPROF_TEXT_INIT;
	int is_void = b->f->return_kind == VPROF_RETURNS_VOID, list = x->value == VPROF_EXIT_BRACES;

	if (!x->editable || x->begin < 0 || x->end <= x->begin)
		return not_editable(b, x->line, "returns from inside a macro");
	if (x->expr_begin < 0) {
		if (b->return_hook)
			return not_editable(b, x->line, "returns no value");
		vprof_text_addf(&before, "{ %s", b->at_exit.s);
		vprof_text_add(&after, " }");
		vprof_edits_enclose(b->edits, b->f->file, x->begin, x->end, RANK_RETURN_STATEMENT, &before, &after);
		return VPROF_OK;
	}
	if (b->cxx && !is_void && b->f->return_kind != VPROF_RETURNS_SCALAR) {
		rewrite_object(b, x);
		return VPROF_OK;
	}
	if (is_void) {
		vprof_text_add(&before, " (__extension__({ (void)(");
		vprof_text_addf(&after, "); %s(void)0; }))", b->at_exit.s);
	} else {
		vprof_text_add(&before, " (__extension__({ ");
		add_return_type(&before, b->f);
		vprof_text_add(&before, list ? " vp_return_ = " : " vp_return_ = (");
		vprof_text_addf(&after, "%s; %svp_return_; }))", list ? "" : ")", b->at_exit.s);
	}
	vprof_edits_enclose(b->edits, b->f->file, x->expr_begin, x->expr_end, RANK_RETURN_VALUE, &before, &after);
	return VPROF_OK;
}

/* A return of several functions at one body (twins) is rewritten once. */
static int seen_before(const struct body *b, const struct vprof_facts_function *upto, const struct vprof_facts_exit *x)
{
	for (const struct vprof_facts_function *g = b->f; g < upto; g++) {
		if (!same_body(b->f, g))
			continue;
		for (size_t i = first_exit(b->facts, g->id); i < b->facts->n_exits; i++) {
			if (b->facts->exits[i].function != g->id)
				break;
			if (b->facts->exits[i].begin == x->begin)
				return 1;
		}
	}
	return 0;
}

static int rewrite_returns(struct body *b)
{
	const struct vprof_facts *facts = b->facts;
	struct vprof_text end = VPROF_TEXT_INIT;
	int is_void = b->f->return_kind == VPROF_RETURNS_VOID, rc;

	for (const struct vprof_facts_function *g = b->f; g < facts->functions + facts->n_functions; g++) {
		if (!same_body(b->f, g))
			continue;
		for (size_t i = first_exit(facts, g->id); i < facts->n_exits && facts->exits[i].function == g->id;
		     i++) {
			if (g != b->f && seen_before(b, g, &facts->exits[i]))
				continue;
			rc = rewrite_return(b, &facts->exits[i]);
			if (rc)
				return rc;
		}
	}
	if (b->return_hook || (!is_void && b->f->body_end < 0))
		return VPROF_OK; /* falling off the end returns no value */
	if (b->f->body_end < 0)
		return not_editable(b, b->f->end_line, "ends inside a macro");
	vprof_text_addf(&end, " %s", b->at_exit.s);
	vprof_edits_add(b->edits, b->f->file, VPROF_EDIT_EXIT, b->f->body_end, b->f->body_end, 0, &end);
	return VPROF_OK;
}

static int leave(struct body *b)
{
	struct vprof_text guard = VPROF_TEXT_INIT;
	const struct vprof_hook *h = b->return_hook;

	if (h && b->f->return_kind == VPROF_RETURNS_VOID)
		return wrong(b->a, &late_expression(h)->place, b->err, "$return is used, but %s returns nothing",
			     b->f->display);
	if (h && !vprof_facts_return_can_be_examined(b->facts, b->f))
		return wrong(
			b->a, &late_expression(h)->place, b->err,
			"$return is used, but %s returns %s, which cannot be examined (that takes C++11 or later and a named type); annotate a caller or a callee instead",
			b->f->display, b->f->returns);
	if (!b->cxx || h)
		return rewrite_returns(b);
	vprof_text_addf(&guard, " VP_AT_EXIT_DO(%zu, %s)", b->n, b->at_exit.s);
	add_entry(b, 30, &guard);
	return VPROF_OK;
}

/* All hooks of one body. */
static int splice_body(struct body *b)
{
	int rc = VPROF_OK;

	b->cxx = b->f->lang == VPROF_LANG_CXX;
	vprof_text_init(&b->at_exit);
	for (size_t i = 0; !rc && i < b->n; i++)
		rc = hook_at_entry(b, &b->a->hooks[b->hooks[i].hook], i);
	for (int rank = 0; !rc && rank <= 6; rank++)
		for (size_t i = 0; i < b->n; i++) {
			const struct vprof_hook *h = &b->a->hooks[b->hooks[i].hook];

			if (is_late(h) && exit_rank(h->kind) == rank)
				hook_at_exit(b, h, i);
		}
	if (!rc && b->exit_hook)
		rc = leave(b);
	b->edits->failed |= b->at_exit.failed;
	vprof_text_release(&b->at_exit);
	return rc;
}

/* ---- which functions ---- */

static size_t find(const struct vprof_facts *facts, const char *name, uint32_t *found)
{
	const char *at = strrchr(name, '@');
	char *bare = at && at != name ? strndup(name, (size_t)(at - name)) : NULL;
	size_t n = vprof_facts_find(facts, bare ? bare : name, bare ? at + 1 : NULL, found, facts->n_functions);

	free(bare);
	return n < facts->n_functions ? n : facts->n_functions;
}

static uint32_t canonical(const struct vprof_facts *facts, uint32_t function)
{
	for (uint32_t i = 0; i < function; i++)
		if (same_body(&facts->functions[i], &facts->functions[function]))
			return i;
	return function;
}

static int by_function(const void *a, const void *b)
{
	const struct placed *p = a, *q = b;

	if (p->function != q->function)
		return p->function < q->function ? -1 : 1;
	return p->hook < q->hook ? -1 : p->hook > q->hook;
}

/* Where hook `h` goes, appended to `list`. */
static int place_hook(const struct vprof_facts *facts, const struct vprof_annotations *a, size_t hook, uint32_t *found,
		      struct placed **list, size_t *n, struct vprof_error *err)
{
	const struct vprof_hook *h = &a->hooks[hook];
	size_t n_found = find(facts, h->function, found);
	struct placed *grown;

	if (!n_found) {
		const char *near = vprof_facts_nearest(facts, h->function);

		return wrong(a, &h->function_place, err, "no function %s has a body in the project%s%s%s", h->function,
			     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
	grown = realloc(*list, (*n + n_found) * sizeof *grown);
	if (!grown)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory placing annotations");
	*list = grown;
	for (size_t i = 0; i < n_found; i++) {
		const struct vprof_facts_function *f = &facts->functions[found[i]];
		const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);

		if (!f->instrumentable || f->body_begin < 1)
			return wrong(a, &h->function_place, err,
				     "%s (%s:%d) cannot be instrumented: %s; annotate its caller instead", f->display,
				     file ? file->path : "?", f->line, *f->reason ? f->reason : "no body");
		grown[(*n)++] = (struct placed){ canonical(facts, found[i]), hook };
	}
	return VPROF_OK;
}

int vprof_splice_hooks(struct vprof_edits *edits, const struct vprof_facts *facts, const struct vprof_annotations *a,
		       struct vprof_error *err)
{
	uint32_t *found = malloc((facts->n_functions + 1) * sizeof *found);
	struct placed *list = NULL;
	size_t n = 0, kept = 0, next;
	int rc = VPROF_OK;

	if (!found)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory placing annotations");
	for (size_t i = 0; !rc && i < a->n_hooks; i++)
		rc = place_hook(facts, a, i, found, &list, &n, err);
	if (rc)
		goto out;
	if (n)
		qsort(list, n, sizeof *list, by_function);
	for (size_t i = 0; i < n; i++)
		if (!kept || by_function(&list[kept - 1], &list[i]))
			list[kept++] = list[i];
	for (size_t i = 0; !rc && i < kept; i = next) {
		struct body b = { .edits = edits,
				  .facts = facts,
				  .a = a,
				  .hooks = list + i,
				  .err = err,
				  .f = &facts->functions[list[i].function] };

		for (next = i; next < kept && list[next].function == list[i].function; next++)
			b.n++;
		rc = splice_body(&b);
	}
out:
	free(list);
	free(found);
	return rc;
}
