/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Type-checks annotation expressions in the scope of their functions.
 *
 * For each translation unit one parse: every expression becomes the initialiser of a variable in a block of
 * its own, inserted just after the function's brace into a copy of the file that only libclang sees. No inserted text
 * contains a newline. The compiler's diagnostics map back by byte offset, and the variable's type is the type of the
 * expression.
 */
#include "annotate/check/libclang.h"
#include "annotate/check/check_expressions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/check/compile_arguments.h"
#include "annotate/check/expression.h"
#include "common/json_places.h"
#include "common/files.h"

struct edited_file {
	const struct vprof_facts_file *file;
	struct vprof_text text;
};

struct unit {
	const struct vprof_facts *facts;
	const struct vprof_facts_tu *tu;
	struct vprof_expr_task *tasks;
	size_t n_tasks;
	struct vprof_arena *arena;
	struct vprof_error *err;
	struct edited_file *files;
	size_t n_files;
	const char *other_error; /* first error outside of all expressions */
};

const char *vprof_check_location(struct vprof_arena *arena, const struct vprof_facts *facts,
				 const struct vprof_facts_function *function)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, function->file);
	const char *path = file ? file->path : "?";
	size_t n = strlen(facts->root);

	if (n && !strncmp(path, facts->root, n) && path[n] == '/')
		path += n + 1;
	return vprof_arena_printf(arena, "%s:%d", path, function->line);
}

static const char *scope_of(struct unit *u, const struct vprof_facts_function *f)
{
	struct vprof_text list = VPROF_TEXT_INIT;
	struct vprof_json *params, *one;
	const char *scope;

	if (!vprof_json_parse(&params, u->arena, "facts", f->params, strlen(f->params), NULL))
		for (one = params->first; one; one = one->next)
			vprof_text_addf(&list, "%s%s (%s)", list.len ? ", " : "", vprof_json_string(one, "name"),
					vprof_json_string(one, "type"));
	scope = vprof_arena_printf(u->arena, "in %s (%s); %s%s", f->display,
				   vprof_check_location(u->arena, u->facts, f),
				   list.len ? "parameters: " : "no parameters", list.s);
	vprof_text_release(&list);
	return scope;
}

static void settle(struct vprof_expr_task *t, enum vprof_severity severity, const char *message)
{
	if (t->done && t->severity >= severity)
		return;
	t->done = 1;
	t->severity = severity;
	t->message = message;
}

/* --- the copy that the compiler sees --- */

static int is_cxx(const struct unit *u)
{
	return u->tu->lang != VPROF_LANG_C;
}

static void insert_task(struct unit *u, struct vprof_text *out, struct vprof_expr_task *t)
{
	size_t n = (size_t)(t - u->tasks);
	const char *returns = t->function->returns;
	int is_reference = t->function->return_kind == VPROF_RETURNS_REFERENCE;
	struct vprof_text name = VPROF_TEXT_INIT;

	/* in C++ without a variable, which each instance of a template would declare with another type */
	if (is_cxx(u))
		vprof_text_addf(&name, is_reference ? "((__typeof__(%s) (*)())0)()" : "(*(__typeof__(%s) *)0)",
				returns);
	else
		vprof_text_addf(&name, "vprof_return_%zu_", n);
	t->begin = out->len;
	vprof_text_add(out, " { ");
	if (strstr(t->expr->text, "vp_traceparent("))
		vprof_text_add(out, "extern unsigned long long vp_traceparent(const char *); ");
	if (vprof_expression_uses_return(t->expr->text) && !is_cxx(u))
		vprof_text_addf(out, "extern __typeof__(%s) %s; ", returns, name.s);
	vprof_text_addf(out, "%s vprof_check_%zu_ = (", is_cxx(u) ? "auto" : "__auto_type", n);
	if (t->role != VPROF_EXPR_TRUTH && !is_cxx(u))
		vprof_text_add(out, "0, "); /* arrays decay, bit-fields promote */
	vprof_text_add(out, "(");
	vprof_expression_with_return(out, t->expr->text, name.s ? name.s : "");
	vprof_text_add(out, t->role == VPROF_EXPR_TRUTH ? ") ? 1 : 0); } " : ")); } ");
	t->end = out->len;
	out->failed |= name.failed;
	vprof_text_release(&name);
}

static int compare_places(const void *pa, const void *pb)
{
	const struct vprof_expr_task *a = *(struct vprof_expr_task *const *)pa,
				     *b = *(struct vprof_expr_task *const *)pb;

	if (a->function->body_begin != b->function->body_begin)
		return a->function->body_begin < b->function->body_begin ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int fill_copy(struct unit *u, struct edited_file *e, struct vprof_expr_task **sorted)
{
	struct vprof_text original = VPROF_TEXT_INIT;
	size_t i, n = 0, at = 0;
	int rc = vprof_file_read(e->file->path, &original, u->err);

	for (i = 0; i < u->n_tasks; i++)
		if (u->tasks[i].tu == u->tu && u->tasks[i].function->file == e->file->id)
			sorted[n++] = &u->tasks[i];
	qsort(sorted, n, sizeof *sorted, compare_places);
	for (i = 0; i < n && !rc; i++) {
		int64_t offset = sorted[i]->function->body_begin;

		if (offset < (int64_t)at || offset > (int64_t)original.len) {
			rc = vprof_error_set(u->err, VPROF_ERR_CORRUPT, "facts.db: %s has no offset %lld; scan again",
					     e->file->path, (long long)offset);
			break;
		}
		vprof_text_append(&e->text, original.s + at, (size_t)offset - at);
		at = (size_t)offset;
		insert_task(u, &e->text, sorted[i]);
	}
	if (!rc)
		vprof_text_append(&e->text, original.s + at, original.len - at);
	if (!rc && (original.failed || e->text.failed))
		rc = vprof_error_set(u->err, VPROF_ERR_NOMEM, "%s: out of memory", e->file->path);
	vprof_text_release(&original);
	return rc;
}

static int add_file(struct unit *u, uint32_t id)
{
	const struct vprof_facts_file *file = vprof_facts_file(u->facts, id);
	struct edited_file *e;
	char hash[17];
	size_t i;
	int rc;

	for (i = 0; i < u->n_files; i++)
		if (u->files[i].file == file)
			return 0;
	if (!file)
		return vprof_error_set(u->err, VPROF_ERR_CORRUPT, "facts.db: file %u is missing; scan again", id);
	rc = vprof_file_hash(file->path, hash, u->err);
	if (rc)
		return rc;
	if (strcmp(hash, file->hash))
		return vprof_error_set(u->err, VPROF_ERR_STALE, "%s changed since the scan; run `vprof init` again",
				       file->path);
	e = vprof_arena_push(u->arena, &u->files, &u->n_files, sizeof *e);
	if (!e)
		return vprof_error_set(u->err, VPROF_ERR_NOMEM, "%s: out of memory", file->path);
	e->file = file;
	vprof_text_init(&e->text);
	return 0;
}

/* --- what the compiler said --- */

static const struct vprof_facts_file *file_of(struct unit *u, CXFile file)
{
	CXString name = clang_getFileName(file);
	const char *s = clang_getCString(name);
	const struct vprof_facts_file *found = NULL;
	char *absolute = s ? vprof_path_absolute(u->tu->directory, s) : NULL;
	size_t i;

	for (i = 0; absolute && i < u->n_files && !found; i++)
		if (!strcmp(u->files[i].file->path, absolute))
			found = u->files[i].file;
	free(absolute);
	clang_disposeString(name);
	return found;
}

static struct vprof_expr_task *task_at(struct unit *u, CXFile file, unsigned offset)
{
	const struct vprof_facts_file *known = file ? file_of(u, file) : NULL;
	size_t i;

	for (i = 0; known && i < u->n_tasks; i++) {
		struct vprof_expr_task *t = &u->tasks[i];

		if (t->tu == u->tu && t->function->file == known->id && offset >= t->begin && offset < t->end)
			return t;
	}
	return NULL;
}

static struct vprof_expr_task *task_of(struct unit *u, CXSourceLocation where)
{
	struct vprof_expr_task *t;
	unsigned offset;
	CXFile file;

	clang_getSpellingLocation(where, &file, NULL, NULL, &offset);
	t = task_at(u, file, offset);
	if (!t) {
		clang_getExpansionLocation(where, &file, NULL, NULL, &offset);
		t = task_at(u, file, offset);
	}
	return t;
}

static const char *rest_after(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start)) ? s + strlen(start) : NULL;
}

/* The compiler's message, reworded where it would be confusing: the names of our variables never appear. */
static const char *reword(struct unit *u, const struct vprof_expr_task *t, const char *said)
{
	const char *scope = scope_of(u, t->function), *name = rest_after(said, "use of undeclared identifier "), *end;

	if (name) {
		end = strchr(name, ';');
		if (end)
			return vprof_arena_printf(u->arena, "%.*s undeclared %s (%s)", (int)(end - name), name, scope,
						  end + 2);
		return vprof_arena_printf(u->arena, "%s undeclared %s", name, scope);
	}
	name = rest_after(said, "call to undeclared function ");
	if (name && strchr(name, ';'))
		return vprof_arena_printf(u->arena, "function %.*s undeclared %s", (int)strcspn(name, ";"), name,
					  scope);
	if (strstr(said, "incomplete type 'void'"))
		return vprof_arena_printf(u->arena, "'%s' has no value (void), %s", t->expr->text, scope);
	if (strstr(said, "vprof_check_"))
		return vprof_arena_printf(u->arena, "'%s' is not an expression with a value, %s", t->expr->text, scope);
	if (strstr(said, "vprof_return_"))
		return vprof_arena_printf(u->arena, "$return cannot be used like this (it is %s), %s",
					  t->function->returns, scope);
	return vprof_arena_printf(u->arena, "%s, %s", said, scope);
}

static void take_diagnostics(struct unit *u, CXTranslationUnit parsed)
{
	unsigned i, n = clang_getNumDiagnostics(parsed);

	for (i = 0; i < n; i++) {
		CXDiagnostic d = clang_getDiagnostic(parsed, i);
		CXString said = clang_getDiagnosticSpelling(d);
		const char *words = clang_getCString(said);
		struct vprof_expr_task *t;

		if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error && words) {
			t = task_of(u, clang_getDiagnosticLocation(d));
			if (t)
				settle(t, VPROF_FINDING_ERROR, reword(u, t, words));
			else if (!u->other_error)
				u->other_error = vprof_arena_copy(u->arena, words, strlen(words));
		}
		clang_disposeString(said);
		clang_disposeDiagnostic(d);
	}
}

enum type_class { TYPE_INTEGER, TYPE_POINTER, TYPE_STRING, TYPE_OTHER, TYPE_UNKNOWN };

static int is_integer_kind(enum CXTypeKind kind)
{
	return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

static enum type_class classify(CXType type)
{
	CXType canonical = clang_getCanonicalType(type), pointee;

	if (is_integer_kind(canonical.kind))
		return TYPE_INTEGER;
	if (canonical.kind == CXType_Dependent || canonical.kind == CXType_Unexposed || canonical.kind == CXType_Auto ||
	    canonical.kind == CXType_Invalid)
		return TYPE_UNKNOWN;
	if (canonical.kind == CXType_NullPtr)
		return TYPE_POINTER;
	if (canonical.kind != CXType_Pointer)
		return TYPE_OTHER;
	pointee = clang_getPointeeType(canonical);
	if (pointee.kind == CXType_Char_S || pointee.kind == CXType_Char_U || pointee.kind == CXType_SChar ||
	    pointee.kind == CXType_UChar)
		return TYPE_STRING;
	return TYPE_POINTER;
}

static void judge_type(struct unit *u, struct vprof_expr_task *t, CXType type)
{
	static const char *const wanted[] = {
		[VPROF_EXPR_IDENTITY] = "a pointer or an integer is needed here",
		[VPROF_EXPR_LABEL] = "a string (char *) or an integer is needed here",
		[VPROF_EXPR_AMOUNT] = "an integer is needed here; cast it, as in (long)(...)",
	};
	enum type_class class = classify(type);
	CXType shown = vprof_expression_uses_return(t->expr->text) ? clang_getCanonicalType(type) : type;
	CXString spelled = clang_getTypeSpelling(shown);
	const char *name = clang_getCString(spelled);
	int fits = t->role == VPROF_EXPR_TRUTH || class == TYPE_INTEGER ||
		   (t->role == VPROF_EXPR_IDENTITY && (class == TYPE_POINTER || class == TYPE_STRING)) ||
		   (t->role == VPROF_EXPR_LABEL && class == TYPE_STRING);

	if (fits && t->role == VPROF_EXPR_TRUTH)
		settle(t, VPROF_FINDING_OK, vprof_arena_printf(u->arena, "'%s' is a condition", t->expr->text));
	else if (fits)
		settle(t, VPROF_FINDING_OK, vprof_arena_printf(u->arena, "'%s' is %s", t->expr->text, name));
	else if (class == TYPE_UNKNOWN)
		settle(t, VPROF_FINDING_WARNING,
		       vprof_arena_printf(
			       u->arena,
			       "'%s' has a type that depends on template parameters; only the build can check it",
			       t->expr->text));
	else
		settle(t, VPROF_FINDING_ERROR,
		       vprof_arena_printf(u->arena, "'%s' is %s; %s", t->expr->text, name, wanted[t->role]));
	clang_disposeString(spelled);
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
	struct unit *u = data;
	enum CXCursorKind kind = clang_getCursorKind(cursor);
	CXString spelled;
	const char *name;
	unsigned long n;
	char *end;

	if (clang_getCursorKind(parent) == CXCursor_TranslationUnit) {
		CXFile file;

		clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, NULL, NULL, NULL);
		return file && file_of(u, file) ? CXChildVisit_Recurse : CXChildVisit_Continue;
	}
	if (kind != CXCursor_VarDecl)
		return CXChildVisit_Recurse;
	spelled = clang_getCursorSpelling(cursor);
	name = clang_getCString(spelled);
	if (name && !strncmp(name, "vprof_check_", 12)) {
		n = strtoul(name + 12, &end, 10);
		if (end > name + 12 && !strcmp(end, "_") && n < u->n_tasks && u->tasks[n].tu == u->tu &&
		    !u->tasks[n].done)
			judge_type(u, &u->tasks[n], clang_getCursorType(cursor));
	}
	clang_disposeString(spelled);
	return CXChildVisit_Recurse;
}

/* --- one translation unit --- */

static void close_open_tasks(struct unit *u)
{
	size_t i;

	for (i = 0; i < u->n_tasks; i++) {
		struct vprof_expr_task *t = &u->tasks[i];

		if (t->tu == u->tu && !t->done)
			settle(t, VPROF_FINDING_WARNING,
			       u->other_error ?
				       vprof_arena_printf(u->arena, "could not be checked, since %s does not parse: %s",
							  u->tu->path, u->other_error) :
				       vprof_arena_printf(u->arena, "could not be checked: %s is not compiled in %s",
							  t->function->display, u->tu->path));
	}
}

static int parse_unit(struct unit *u, CXIndex index)
{
	struct CXUnsavedFile *unsaved = vprof_arena_alloc(u->arena, u->n_files * sizeof *unsaved);
	const char **argv;
	CXTranslationUnit parsed = NULL;
	int argc, rc = vprof_compile_arguments(u->tu, u->arena, &argv, &argc, u->err);
	enum CXErrorCode code;
	size_t i;

	if (rc || !unsaved)
		return rc ? rc : vprof_error_set(u->err, VPROF_ERR_NOMEM, "%s: out of memory", u->tu->path);
	for (i = 0; i < u->n_files; i++)
		unsaved[i] = (struct CXUnsavedFile){ u->files[i].file->path, u->files[i].text.s, u->files[i].text.len };
	code = clang_parseTranslationUnit2(index, u->tu->path, argv, argc, unsaved, (unsigned)u->n_files,
					   CXTranslationUnit_KeepGoing, &parsed);
	if (code != CXError_Success || !parsed)
		return vprof_error_set(
			u->err, VPROF_ERR_FAILED,
			"%s: libclang could not parse it (code %d); does `clang-19 -fsyntax-only` accept it?",
			u->tu->path, (int)code);
	take_diagnostics(u, parsed);
	clang_visitChildren(clang_getTranslationUnitCursor(parsed), visit, u);
	close_open_tasks(u);
	clang_disposeTranslationUnit(parsed);
	return 0;
}

static int check_unit(struct unit *u, CXIndex index)
{
	struct vprof_expr_task **sorted = vprof_arena_alloc(u->arena, u->n_tasks * sizeof(struct vprof_expr_task *));
	int rc = sorted ? 0 : vprof_error_set(u->err, VPROF_ERR_NOMEM, "%s: out of memory", u->tu->path);
	size_t i;

	for (i = 0; i < u->n_tasks && !rc; i++)
		if (u->tasks[i].tu == u->tu)
			rc = add_file(u, u->tasks[i].function->file);
	for (i = 0; i < u->n_files && !rc; i++)
		rc = fill_copy(u, &u->files[i], sorted);
	if (!rc)
		rc = parse_unit(u, index);
	for (i = 0; i < u->n_files; i++)
		vprof_text_release(&u->files[i].text);
	return rc;
}

/* The unit to check a function in: the one whose main file it is, else any that parsed, else any. */
static const struct vprof_facts_tu *unit_of(const struct vprof_facts *facts, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(facts, f->file);
	const struct vprof_facts_tu *best = NULL;
	int best_rank = -1, rank;
	size_t i, j;

	for (i = 0; i < facts->n_tus; i++) {
		const struct vprof_facts_tu *tu = &facts->tus[i];

		for (j = 0; j < tu->n_files && tu->files[j] != f->file; j++)
			;
		if (j == tu->n_files || tu->status == VPROF_TU_FAILED)
			continue;
		rank = 2 * (tu->status == VPROF_TU_OK) + (file && !strcmp(file->path, tu->path));
		if (rank > best_rank) {
			best_rank = rank;
			best = tu;
		}
	}
	return best;
}

int vprof_check_expressions(const struct vprof_facts *facts, struct vprof_expr_task *tasks, size_t n_tasks,
			    struct vprof_arena *arena, struct vprof_error *err)
{
	CXIndex index = NULL;
	size_t i, j;
	int rc = 0;

	for (i = 0; i < n_tasks; i++) {
		tasks[i].tu = unit_of(facts, tasks[i].function);
		if (!tasks[i].tu)
			settle(&tasks[i], VPROF_FINDING_WARNING,
			       vprof_arena_printf(arena, "could not be checked: no translation unit with %s was parsed",
						  tasks[i].function->display));
	}
	for (i = 0; i < n_tasks && !rc; i++) {
		struct unit u = { facts, tasks[i].tu, tasks, n_tasks, arena, err };

		for (j = 0; j < i && tasks[j].tu != tasks[i].tu; j++)
			;
		if (j < i || !u.tu)
			continue;
		if (!index) {
			rc = vprof_libclang_load(err);
			if (rc)
				break;
			index = clang_createIndex(1, 0);
		}
		rc = index ? check_unit(&u, index) :
			     vprof_error_set(err, VPROF_ERR_FAILED,
					     "libclang could not start; is libclang1-19 installed?");
	}
	if (index)
		clang_disposeIndex(index);
	if (!rc && arena->failed)
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory while checking expressions");
	return rc;
}
