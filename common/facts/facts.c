/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads facts.db into arrays, one pass for each table.
 *
 * Strings are interned: equal ones share their bytes, so USRs can be compared by pointer inside this file. Rows that
 * refer to rows that do not exist (a hostile or damaged file) are refused as corrupt, so that everything outside may
 * index without checks.
 */
#include "common/facts/facts_private.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/facts/facts_schema.h"
#include "common/files.h"

#define IDS_MAX 0x7fffffff

struct reader {
	struct vprof_facts *facts;
	struct vprof_facts_private *p;
	sqlite3 *db;
	const char *path;
	struct vprof_error *err;
};

/* Grows `*array` by one item; items are zero until written. */
static void *grow(void *array, size_t n, size_t *cap, size_t item)
{
	size_t more = *cap ? *cap * 2 : 256;
	char *grown;

	if (n < *cap)
		return array;
	grown = realloc(array, more * item);
	if (!grown)
		return NULL;
	memset(grown + *cap * item, 0, (more - *cap) * item);
	*cap = more;
	return grown;
}

static int no_memory(struct reader *r)
{
	return vprof_error_set(r->err, VPROF_ERR_NOMEM, "out of memory reading %s", r->path);
}

static int corrupt(struct reader *r, const char *what)
{
	return vprof_error_set(r->err, VPROF_ERR_CORRUPT, "%s is damaged (%s); remove it and scan again", r->path,
			       what);
}

static const char *text(struct reader *r, sqlite3_stmt *s, int column)
{
	const char *bytes = (const char *)sqlite3_column_text(s, column);
	const char *kept = vprof_strings_keep(&r->p->strings, bytes ? bytes : "");

	if (!kept)
		r->p->failed = 1;
	return kept ? kept : "";
}

static uint32_t id(struct reader *r, sqlite3_stmt *s, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(s, column);

	if (value < 0 || value > IDS_MAX) {
		r->p->damaged = 1;
		return 0;
	}
	return (uint32_t)value;
}

static int number(sqlite3_stmt *s, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(s, column);

	return value < -1 || value > INT_MAX ? -1 : (int)value;
}

/* Runs `sql` and calls `row` for every row. */
static int each_row(struct reader *r, const char *sql, int (*row)(struct reader *, sqlite3_stmt *))
{
	sqlite3_stmt *s = NULL;
	int rc = VPROF_OK, code;

	if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
		return corrupt(r, sqlite3_errmsg(r->db));
	while (!rc && (code = sqlite3_step(s)) != SQLITE_DONE) {
		if (code != SQLITE_ROW)
			rc = corrupt(r, sqlite3_errmsg(r->db));
		else
			rc = row(r, s);
		if (!rc && r->p->failed)
			rc = no_memory(r);
		if (!rc && r->p->damaged)
			rc = corrupt(r, "a row refers to one that does not exist");
	}
	sqlite3_finalize(s);
	return rc;
}

/* The place of a word in a table of names; `otherwise` when it is none of them. */
static int place_of(const char *word, const char *const *names, size_t n, int otherwise)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && !strcmp(word, names[i]))
			return (int)i;
	return otherwise;
}

#define PLACE_OF(word, names, otherwise) place_of(word, names, sizeof names / sizeof *names, otherwise)

static enum vprof_lang lang_of(const char *word)
{
	static const char *const names[] = { [VPROF_LANG_C] = "c", [VPROF_LANG_CXX] = "c++" };

	return (enum vprof_lang)PLACE_OF(word, names, VPROF_LANG_OTHER);
}

static const char *const tu_statuses[] = {
	[VPROF_TU_ERRORS] = "errors", [VPROF_TU_OK] = "ok", [VPROF_TU_FAILED] = "failed"
};

static enum vprof_tu_status status_of(const char *word)
{
	return (enum vprof_tu_status)PLACE_OF(word, tu_statuses, VPROF_TU_ERRORS);
}

const char *vprof_tu_status_name(enum vprof_tu_status status)
{
	return tu_statuses[status];
}

static enum vprof_return_kind return_kind_of(const char *word)
{
	static const char *const names[] = {
		[VPROF_RETURNS_VOID] = "void",
		[VPROF_RETURNS_SCALAR] = "scalar",
		[VPROF_RETURNS_RECORD] = "record",
		[VPROF_RETURNS_REFERENCE] = "reference",
	};

	return (enum vprof_return_kind)PLACE_OF(word, names, VPROF_RETURNS_OTHER);
}

static enum vprof_call_kind call_kind_of(const char *word)
{
	static const char *const names[] = {
		[VPROF_CALL_DIRECT] = "direct",	  [VPROF_CALL_POINTER] = "pointer",
		[VPROF_CALL_VIRTUAL] = "virtual", [VPROF_CALL_CONSTRUCT] = "construct",
		[VPROF_CALL_DESTROY] = "destroy",
	};

	return (enum vprof_call_kind)PLACE_OF(word, names, VPROF_CALL_DIRECT);
}

static int call_form_of(const char *word)
{
	static const char *const names[] = {
		[VPROF_FORM_STATEMENT] = "statement", [VPROF_FORM_VALUE] = "value",
		[VPROF_FORM_REFERENCE] = "reference", [VPROF_FORM_VOID] = "void",
		[VPROF_FORM_SCOPE] = "scope",
	};

	return PLACE_OF(word, names, -1);
}

static enum vprof_address_use use_of(const char *word)
{
	static const char *const names[] = {
		[VPROF_ADDRESS_ARGUMENT] = "argument",
		[VPROF_ADDRESS_INITIALIZER] = "initializer",
		[VPROF_ADDRESS_ASSIGNED] = "assignment",
	};

	return (enum vprof_address_use)PLACE_OF(word, names, VPROF_ADDRESS_OTHER);
}

static enum vprof_exit_value exit_value_of(const char *word)
{
	static const char *const names[] = {
		[VPROF_EXIT_BRACES] = "list", [VPROF_EXIT_VARIABLE] = "variable", [VPROF_EXIT_MOVED] = "moved"
	};

	return (enum vprof_exit_value)PLACE_OF(word, names, VPROF_EXIT_EXPRESSION);
}

static int guarded_kind_of(const char *word)
{
	static const char *const names[] = {
		[VPROF_GUARDED_STORE] = "store",
		[VPROF_GUARDED_LOAD] = "load",
		[VPROF_GUARDED_COPY] = "copy",
		[VPROF_GUARDED_CALL] = "call",
	};

	return PLACE_OF(word, names, -1);
}

static int read_meta(struct reader *r, sqlite3_stmt *s)
{
	const char *key = text(r, s, 0), *value = text(r, s, 1);

	if (!strcmp(key, "version"))
		r->p->version = atoi(value);
	else if (!strcmp(key, "root"))
		r->facts->root = value;
	return VPROF_OK;
}

static int read_file(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_file *grown = grow(f->files, f->n_files, &r->p->cap_files, sizeof *grown);

	if (!grown)
		return no_memory(r);
	f->files = grown;
	f->files[f->n_files++] = (struct vprof_facts_file){
		.id = id(r, s, 0),
		.path = text(r, s, 1),
		.hash = text(r, s, 2),
		.in_project = number(s, 3) != 0,
	};
	return VPROF_OK;
}

static int read_tu(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_tu *grown = grow(f->tus, f->n_tus, &r->p->cap_tus, sizeof *grown);

	if (!grown)
		return no_memory(r);
	f->tus = grown;
	f->tus[f->n_tus++] = (struct vprof_facts_tu){
		.id = id(r, s, 0),
		.path = text(r, s, 1),
		.directory = text(r, s, 2),
		.output = text(r, s, 3),
		.arguments = text(r, s, 4),
		.lang = lang_of(text(r, s, 5)),
		.status = status_of(text(r, s, 6)),
		.diagnostics = text(r, s, 7),
	};
	return VPROF_OK;
}

/* Rows come ordered by unit, as the units do. */
static int read_tu_file(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_private *p = r->p;
	uint32_t *grown = grow(p->tu_files, p->n_tu_files, &p->cap_tu_files, sizeof *grown);
	uint32_t tu = id(r, s, 0);

	if (!grown)
		return no_memory(r);
	p->tu_files = grown;
	while (p->at_tu < f->n_tus && f->tus[p->at_tu].id < tu)
		p->at_tu++;
	if (p->at_tu == f->n_tus || f->tus[p->at_tu].id != tu)
		return corrupt(r, "a file of an unknown translation unit");
	f->tus[p->at_tu].n_files++;
	p->tu_files[p->n_tu_files++] = id(r, s, 1);
	return VPROF_OK;
}

static int read_function(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_function *fn = grow(f->functions, f->n_functions, &r->p->cap_functions, sizeof *fn);

	if (!fn)
		return no_memory(r);
	f->functions = fn;
	fn += f->n_functions++;
	*fn = (struct vprof_facts_function){
		.id = id(r, s, 0),
		.file = id(r, s, 1),
		.name = text(r, s, 2),
		.display = text(r, s, 3),
		.usr = text(r, s, 4),
		.line = number(s, 5),
		.end_line = number(s, 6),
		.body_begin = sqlite3_column_int64(s, 7),
		.body_end = sqlite3_column_int64(s, 8),
		.lang = lang_of(text(r, s, 9)),
		.is_static = number(s, 10) != 0,
		.is_tiny = number(s, 11) != 0,
		.returns = text(r, s, 12),
		.return_kind = return_kind_of(text(r, s, 13)),
		.params = text(r, s, 14),
		.signature = text(r, s, 15),
		.instrumentable = number(s, 16) == 1,
		.reason = text(r, s, 17),
		.head_begin = sqlite3_column_int64(s, 18),
		.name_end = sqlite3_column_int64(s, 19),
		.size = number(s, 20),
		.twin = text(r, s, 21),
	};
	if (!vprof_facts_file(f, fn->file))
		return corrupt(r, "a function of an unknown file");
	if (fn->body_begin < 0)
		fn->instrumentable = 0;
	return VPROF_OK;
}

static int read_call(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_call *c = grow(f->calls, f->n_calls, &r->p->cap_calls, sizeof *c);
	int form;

	if (!c)
		return no_memory(r);
	f->calls = c;
	c += f->n_calls++;
	*c = (struct vprof_facts_call){
		.id = id(r, s, 0),
		.caller = id(r, s, 1),
		.file = id(r, s, 2),
		.begin = sqlite3_column_int64(s, 3),
		.end = sqlite3_column_int64(s, 4),
		.line = number(s, 5),
		.col = number(s, 6),
		.callee = text(r, s, 7),
		.callee_usr = text(r, s, 8),
		.kind = call_kind_of(text(r, s, 9)),
		.signature = text(r, s, 10),
		.wrappable = number(s, 11) == 1,
		.reason = text(r, s, 12),
		.is_noreturn = !strcmp(text(r, s, 12), "noreturn"),
		.in_loop = number(s, 13) == 1,
		.args = text(r, s, 14),
	};
	form = call_form_of(text(r, s, 15));
	if (form < 0) /* one that this vprof does not know: the call is not wrapped */
		c->wrappable = 0;
	else
		c->form = (enum vprof_call_form)form;
	if (!vprof_facts_function(f, c->caller) || !vprof_facts_file(f, c->file))
		return corrupt(r, "a call of an unknown function or file");
	if (c->begin < 0 || c->end <= c->begin) {
		c->begin = c->end = -1;
		c->wrappable = 0;
	}
	return VPROF_OK;
}

static int read_address(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_address *a = grow(f->addresses, f->n_addresses, &r->p->cap_addresses, sizeof *a);

	if (!a)
		return no_memory(r);
	f->addresses = a;
	a += f->n_addresses++;
	*a = (struct vprof_facts_address){
		.function_usr = text(r, s, 0),
		.name = text(r, s, 1),
		.signature = text(r, s, 2),
		.use = use_of(text(r, s, 3)),
		.target = text(r, s, 4),
		.arg = number(s, 5),
		.file = id(r, s, 6),
		.line = number(s, 7),
		.caller = id(r, s, 8),
	};
	if (!vprof_facts_file(f, a->file))
		return corrupt(r, "an address in an unknown file");
	if (!vprof_facts_function(f, a->caller))
		a->caller = 0;
	return VPROF_OK;
}

static int read_exit(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_exit *x = grow(r->p->exits, f->n_exits, &r->p->cap_exits, sizeof *x);

	if (!x)
		return no_memory(r);
	f->exits = r->p->exits = x;
	x += f->n_exits++;
	*x = (struct vprof_facts_exit){
		.function = id(r, s, 0),
		.begin = sqlite3_column_int64(s, 1),
		.end = sqlite3_column_int64(s, 2),
		.expr_begin = sqlite3_column_int64(s, 3),
		.expr_end = sqlite3_column_int64(s, 4),
		.line = number(s, 5),
		.editable = number(s, 6) == 1,
		.value = exit_value_of(text(r, s, 7)),
		.variable = text(r, s, 8),
	};
	return VPROF_OK;
}

static int read_guarded(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts *f = r->facts;
	struct vprof_facts_guarded *g = grow(r->p->guarded, f->n_guarded, &r->p->cap_guarded, sizeof *g);
	int kind = guarded_kind_of(text(r, s, 1));

	if (!g)
		return no_memory(r);
	f->guarded = r->p->guarded = g;
	if (kind < 0) /* one that this vprof does not know */
		return VPROF_OK;
	g[f->n_guarded++] = (struct vprof_facts_guarded){ .function = id(r, s, 0),
							  .kind = (enum vprof_guarded_kind)kind,
							  .object = text(r, s, 2),
							  .usr = text(r, s, 3),
							  .type = text(r, s, 4),
							  .is_locked = !strcmp(text(r, s, 5), "locked"),
							  .value = text(r, s, 6),
							  .line = number(s, 7) };
	return VPROF_OK;
}

static int read_override(struct reader *r, sqlite3_stmt *s)
{
	struct vprof_facts_private *p = r->p;
	struct vprof_override *o = grow(p->overrides, p->n_overrides, &p->cap_overrides, sizeof *o);

	if (!o)
		return no_memory(r);
	p->overrides = o;
	o[p->n_overrides].base = text(r, s, 0);
	o[p->n_overrides++].method = text(r, s, 1);
	return VPROF_OK;
}

static int read_tables(struct reader *r)
{
	static const struct {
		const char *sql;
		int (*row)(struct reader *, sqlite3_stmt *);
	} tables[] = {
		{ "SELECT id, path, hash, in_project FROM file ORDER BY id", read_file },
		{ "SELECT id, path, directory, output, arguments, lang, status, diagnostics FROM tu ORDER BY id",
		  read_tu },
		{ "SELECT tu, file FROM tu_file ORDER BY tu, file", read_tu_file },
		{ "SELECT id, file, name, display, usr, line, end_line, body_begin, body_end, lang, is_static,"
		  " is_tiny, returns, return_kind, params, signature, instrumentable, reason,"
		  " head_begin, name_end, size, twin FROM function ORDER BY id",
		  read_function },
		{ "SELECT id, caller, file, begin, end, line, col, callee, callee_usr, kind, signature, wrappable,"
		  " reason, in_loop, args, form FROM call ORDER BY id",
		  read_call },
		{ "SELECT function_usr, name, signature, how, target, arg, file, line, caller FROM address",
		  read_address },
		{ "SELECT function, begin, end, expr_begin, expr_end, line, editable, value, variable"
		  " FROM exit_site ORDER BY function, begin",
		  read_exit },
		{ "SELECT function, kind, object, usr, type, state, value, line FROM guarded ORDER BY function, line",
		  read_guarded },
		{ "SELECT base_usr, method_usr FROM override", read_override },
	};
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++)
		rc = each_row(r, tables[i].sql, tables[i].row);
	return rc;
}

static int read_all(struct reader *r)
{
	struct vprof_facts *f = r->facts;
	size_t at = 0;
	int rc;

	if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return vprof_error_set(r->err, VPROF_ERR_CORRUPT, "cannot open %s: %s", r->path,
				       r->db ? sqlite3_errmsg(r->db) : "out of memory");
	sqlite3_busy_timeout(r->db, 10000);
	rc = each_row(r, "SELECT key, value FROM meta", read_meta);
	if (rc)
		return rc;
	if (r->p->version != VPROF_FACTS_VERSION || !f->root)
		return vprof_error_set(r->err, VPROF_ERR_CORRUPT,
				       "%s is incomplete, or was written by another version of vprof", r->path);
	rc = read_tables(r);
	for (size_t i = 0; !rc && i < f->n_tus; at += f->tus[i++].n_files)
		f->tus[i].files = r->p->tu_files + at;
	return rc ? rc : vprof_facts_link(f, r->err);
}

int vprof_facts_open(struct vprof_facts **out, const char *path, struct vprof_error *err)
{
	struct reader r = { .path = path, .err = err };
	int rc;

	*out = NULL;
	if (access(path, R_OK))
		return vprof_error_set(err, VPROF_ERR_MISSING, "there are no facts at %s; run `vprof init` first",
				       path);
	r.facts = calloc(1, sizeof *r.facts);
	r.p = calloc(1, sizeof *r.p);
	if (!r.facts || !r.p) {
		free(r.facts);
		free(r.p);
		return no_memory(&r);
	}
	r.facts->private = r.p;
	rc = read_all(&r);
	sqlite3_close(r.db);
	if (rc) {
		vprof_facts_free(r.facts);
		return rc;
	}
	*out = r.facts;
	return VPROF_OK;
}

void vprof_facts_free(struct vprof_facts *facts)
{
	struct vprof_facts_private *p;

	if (!facts)
		return;
	p = facts->private;
	vprof_strings_release(&p->strings);
	free(p->tu_files);
	free(p->exits);
	free(p->guarded);
	free(p->overrides);
	free(p->by_usr);
	free(p->by_name);
	free(p->by_signature);
	free(p->by_caller);
	free(p);
	free(facts->files);
	free(facts->tus);
	free(facts->functions);
	free(facts->calls);
	free(facts->addresses);
	free(facts);
}

int vprof_facts_check_fresh(const struct vprof_facts *f, struct vprof_error *err)
{
	for (size_t i = 0; i < f->n_files; i++) {
		char hex[17];
		int rc;

		if (!f->files[i].in_project)
			continue;
		rc = vprof_file_hash(f->files[i].path, hex, err);
		if (rc == VPROF_ERR_MISSING)
			return vprof_error_set(err, VPROF_ERR_STALE, "%s was removed after the scan", f->files[i].path);
		if (rc)
			return rc;
		if (strcmp(hex, f->files[i].hash))
			return vprof_error_set(err, VPROF_ERR_STALE, "%s changed since the scan", f->files[i].path);
	}
	/* A source that was missing when the scan reached it has no row whose hash could differ. */
	for (size_t i = 0; i < f->n_tus; i++)
		if (!f->tus[i].n_files && f->tus[i].status != VPROF_TU_OK && !access(f->tus[i].directory, X_OK) &&
		    !access(f->tus[i].path, R_OK))
			return vprof_error_set(err, VPROF_ERR_STALE, "%s could not be read by the last scan",
					       f->tus[i].path);
	return VPROF_OK;
}
