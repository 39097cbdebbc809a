/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small project in a temporary folder with facts made by SQL: what the tests of plan and splice stand on.
 *
 * Offsets are found in the text, so a test reads as source code: a function's body is what follows "NAME(" up to the
 * matching brace, a call is "CALLEE(...)" inside its caller's body. Every failure ends the test program.
 */
#ifndef VPROF_TEST_FACTS_FIXTURE_H
#define VPROF_TEST_FACTS_FIXTURE_H

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/facts/callgraph.h"
#include "common/facts/facts.h"
#include "common/facts/facts_schema.h"
#include "common/files.h"

#define FIXTURE_FILES 16

struct fixture {
	char root[64], db_path[96];
	sqlite3 *db;
	char *text[FIXTURE_FILES + 1]; /* by file id */
	struct vprof_facts *facts;
	struct vprof_callgraph *graph;
};

/* zero: an ordinary void C function */
struct fixture_function {
	int id;
	const char *lang, *returns, *return_kind, *signature, *usr, *reason;
	int is_tiny, not_instrumentable;
};

static inline void fixture_die(const char *what, const char *detail)
{
	fprintf(stderr, "fixture: %s: %s\n", what, detail);
	abort();
}

static inline void fixture_sql(struct fixture *fx, const char *fmt, ...)
{
	va_list ap;
	char *sql, *message = NULL;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (sqlite3_exec(fx->db, sql, NULL, NULL, &message))
		fixture_die(sql, message);
	sqlite3_free(sql);
}

static inline void fixture_init(struct fixture *fx)
{
	memset(fx, 0, sizeof *fx);
	strcpy(fx->root, "/tmp/vprof-fixture-XXXXXX");
	if (!mkdtemp(fx->root))
		fixture_die("mkdtemp", fx->root);
	snprintf(fx->db_path, sizeof fx->db_path, "%s/facts.db", fx->root);
	if (sqlite3_open(fx->db_path, &fx->db))
		fixture_die("sqlite3_open", fx->db_path);
	fixture_sql(fx, "%s", VPROF_FACTS_SCHEMA);
	fixture_sql(fx, "INSERT INTO meta VALUES('version','%d'),('root',%Q)", VPROF_FACTS_VERSION, fx->root);
}

/* Project file and its translation unit; ids count from 1. */
static inline int fixture_file(struct fixture *fx, const char *name, const char *text)
{
	char *path = vprof_path_join(fx->root, name), *slash = strrchr(path, '/'), hash[17];
	int id;

	*slash = 0;
	if (vprof_dir_make(path, NULL))
		fixture_die("mkdir", path);
	*slash = '/';
	if (vprof_file_write(path, text, strlen(text), NULL) || vprof_file_hash(path, hash, NULL))
		fixture_die("write", path);
	fixture_sql(fx, "INSERT INTO file(path,hash,size,in_project) VALUES(%Q,%Q,%d,1)", path, hash,
		    (int)strlen(text));
	id = (int)sqlite3_last_insert_rowid(fx->db);
	fixture_sql(fx,
		    "INSERT INTO tu(path,directory,output,arguments,lang,status,diagnostics)"
		    " VALUES(%Q,%Q,'%q.o','[\"cc\"]','c','ok','')",
		    path, fx->root, path);
	fixture_sql(fx, "INSERT INTO tu_file VALUES(%d,%d)", (int)sqlite3_last_insert_rowid(fx->db), id);
	if (id > FIXTURE_FILES)
		fixture_die("too many files", name);
	fx->text[id] = strdup(text);
	free(path);
	return id;
}

static inline const char *fixture_matching(const char *open, char opening, char closing)
{
	int depth = 0;

	for (const char *p = open; *p; p++) {
		depth += (*p == opening) - (*p == closing);
		if (!depth)
			return p;
	}
	fixture_die("no matching bracket", open);
	return NULL;
}

static inline const char *fixture_body(struct fixture *fx, int file, const char *name)
{
	char head[128];
	const char *p;

	snprintf(head, sizeof head, "%s(", name);
	for (p = fx->text[file]; (p = strstr(p, head)); p++) {
		const char *after = fixture_matching(p + strlen(head) - 1, '(', ')') + 1;

		while (*after == ' ' || *after == '\n')
			after++;
		if (*after == '{')
			return after;
	}
	fixture_die("no definition of", name);
	return NULL;
}

static inline int fixture_function(struct fixture *fx, int file, const char *name, struct fixture_function o)
{
	const char *text = fx->text[file], *begin = fixture_body(fx, file, name);
	const char *end = fixture_matching(begin, '{', '}');
	int line = 1, id;

	for (const char *p = text; p < begin; p++)
		line += *p == '\n';
	fixture_sql(
		fx,
		"INSERT INTO function(file,name,display,usr,line,end_line,body_begin,body_end,lang,is_static,is_tiny,"
		"returns,return_kind,params,signature,instrumentable,reason)"
		" VALUES(%d,%Q,%Q,'c:@F@%q',%d,%d,%d,%d,%Q,0,%d,%Q,%Q,'[]',%Q,%d,%Q)",
		file, name, name, o.usr ? o.usr : name, line, line, (int)(begin - text) + 1, (int)(end - text),
		o.lang ? o.lang : "c", o.is_tiny, o.returns ? o.returns : "void",
		o.return_kind ? o.return_kind : "void", o.signature ? o.signature : "void (void)",
		!o.not_instrumentable, o.reason ? o.reason : "");
	id = (int)sqlite3_last_insert_rowid(fx->db);
	for (const char *p = begin; (p = strstr(p, "return")) && p < end; p++) {
		const char *semicolon = strchr(p, ';'), *value = p + 6 + strspn(p + 6, " ");
		int none = value == semicolon;

		fixture_sql(
			fx,
			"INSERT INTO exit_site(function,begin,end,expr_begin,expr_end,line,editable) VALUES(%d,%d,%d,%d,%d,%d,%d)",
			id, (int)(p - text), (int)(semicolon - text) + 1, none ? -1 : (int)(value - text),
			none ? -1 : (int)(semicolon - text), line, p[6] != '/');
	}
	return id;
}

/* kind: direct, pointer, ...; a callee with a body has the USR that fixture_function gives it. */
static inline int fixture_call(struct fixture *fx, int file, int caller, const char *caller_name, const char *callee,
			       const char *kind, const char *signature, int wrappable)
{
	const char *text = fx->text[file], *body = fixture_body(fx, file, caller_name), *p, *end;
	char head[128];

	snprintf(head, sizeof head, "%s(", callee);
	p = strstr(body, head);
	if (!p)
		fixture_die("no call of", callee);
	end = fixture_matching(p + strlen(head) - 1, '(', ')') + 1;
	fixture_sql(fx,
		    "INSERT INTO call(caller,file,begin,end,line,col,callee,callee_usr,kind,signature,wrappable,reason,"
		    "in_loop,args) VALUES(%d,%d,%d,%d,1,1,%Q,'%q%q',%Q,%Q,%d,'',0,'[]')",
		    caller, file, (int)(p - text), (int)(end - text), callee, strcmp(kind, "pointer") ? "c:@F@" : "",
		    strcmp(kind, "pointer") ? callee : "", kind, signature, wrappable);
	return (int)sqlite3_last_insert_rowid(fx->db);
}

static inline void fixture_address(struct fixture *fx, int file, const char *function, const char *signature,
				   const char *how, const char *target, int caller)
{
	fixture_sql(fx, "INSERT INTO address VALUES('c:@F@%q',%Q,%Q,%Q,%Q,0,%d,1,%d)", function, function, signature,
		    how, target, file, caller);
}

static inline void fixture_open(struct fixture *fx)
{
	struct vprof_error err;

	sqlite3_close(fx->db);
	fx->db = NULL;
	if (vprof_facts_open(&fx->facts, fx->db_path, &err) || vprof_callgraph_build(&fx->graph, fx->facts, &err))
		fixture_die("facts", err.message);
}

static inline char *fixture_path(const struct fixture *fx, const char *name)
{
	return vprof_path_join(fx->root, name);
}

static inline void fixture_release(struct fixture *fx)
{
	vprof_callgraph_free(fx->graph);
	vprof_facts_free(fx->facts);
	vprof_dir_remove(fx->root, NULL);
	for (int i = 0; i <= FIXTURE_FILES; i++)
		free(fx->text[i]);
}

#endif
