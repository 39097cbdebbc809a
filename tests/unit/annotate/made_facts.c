/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A facts.db made by hand. Aborts when anything fails: then the test itself is wrong. */
#include "made_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/facts/facts_schema.h"
#include "common/files.h"

static void run(struct made *m, char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(m->db, sql, NULL, NULL, &message) != SQLITE_OK) {
		fprintf(stderr, "made_facts: %s\n%s\n", message, sql);
		abort();
	}
	sqlite3_free(sql);
}

static int last_id(struct made *m)
{
	return (int)sqlite3_last_insert_rowid(m->db);
}

void made_open(struct made *m, const char *dir)
{
	char path[256];

	*m = (struct made){ .dir = dir };
	snprintf(path, sizeof path, "%s/facts.db", dir);
	remove(path);
	if (sqlite3_open(path, &m->db) != SQLITE_OK)
		abort();
	run(m, sqlite3_mprintf("%s", VPROF_FACTS_SCHEMA));
	run(m, sqlite3_mprintf("INSERT INTO meta VALUES('version','%d'),('root',%Q),('scanner','made by hand')",
			       VPROF_FACTS_VERSION, dir));
}

void made_close(struct made *m)
{
	sqlite3_close(m->db);
}

void made_file(struct made *m, const char *name, const char *text, const char *lang)
{
	char path[256], hash[17];
	int cxx = strcmp(lang, "c") != 0;

	snprintf(path, sizeof path, "%s/%s", m->dir, name);
	if (vprof_file_write(path, text, strlen(text), NULL) || vprof_file_hash(path, hash, NULL))
		abort();
	run(m, sqlite3_mprintf("INSERT INTO file(path,hash,size,in_project) VALUES(%Q,%Q,%d,1)", path, hash,
			       (int)strlen(text)));
	m->file = last_id(m);
	m->text = text;
	run(m, sqlite3_mprintf("INSERT INTO tu(path,directory,output,arguments,lang,status,diagnostics) VALUES(%Q,%Q,"
			       "'%q.o','[\"%s\",\"-O2\",\"-Wall\",\"-fno-strict-aliasing\",\"-fno-tree-vrp\","
			       "\"-DFLAG=7\",\"-c\",\"%q\",\"-o\",\"%q.o\"]',%Q,'ok','')",
			       path, m->dir, path, cxx ? "g++" : "gcc", path, path, lang));
	run(m, sqlite3_mprintf("INSERT INTO tu_file VALUES(%d,%d)", last_id(m), m->file));
}

int made_function(struct made *m, const struct made_function *f)
{
	char needle[128];
	const char *at;
	int begin, line = 1;

	snprintf(needle, sizeof needle, "%s(", f->name);
	at = strstr(m->text, needle);
	at = at ? strchr(at, '{') : NULL;
	if (!at)
		abort();
	begin = (int)(at + 1 - m->text);
	for (; at > m->text; at--)
		line += at[-1] == '\n';
	run(m,
	    sqlite3_mprintf("INSERT INTO "
			    "function(file,name,display,usr,line,end_line,body_begin,body_end,lang,is_static,"
			    "is_tiny,returns,return_kind,params,signature,instrumentable,reason) VALUES(%d,%Q,%Q,"
			    "'c:@F@%q%s',%d,%d,%d,-1,(SELECT lang FROM tu ORDER BY id DESC LIMIT "
			    "1),%d,0,%Q,%Q,%Q,%Q,%d,%Q)",
			    m->file, f->name, f->display ? f->display : f->name, f->name, f->is_static ? "#static" : "",
			    line, line, begin, f->is_static, f->returns, f->return_kind, f->params, f->signature,
			    !f->not_instrumentable, f->not_instrumentable ? "naked" : ""));
	return last_id(m);
}

int made_call(struct made *m, int caller, const char *callee, const char *kind, const char *signature, int in_loop,
	      const char *args)
{
	static int offset;
	int pointer = !strcmp(kind, "pointer");

	offset += 10;
	run(m, sqlite3_mprintf("INSERT INTO "
			       "call(caller,file,begin,end,line,col,callee,callee_usr,kind,signature,wrappable,"
			       "reason,in_loop,args) VALUES(%d,%d,%d,%d,1,1,%Q,'%q%q',%Q,%Q,1,'',%d,%Q)",
			       caller, m->file, offset, offset + 5, callee, pointer ? "" : "c:@F@",
			       pointer ? "" : callee, kind, signature, in_loop, args));
	return last_id(m);
}

void made_address(struct made *m, const char *function, const char *signature, const char *how, const char *target,
		  int arg)
{
	run(m, sqlite3_mprintf("INSERT INTO address VALUES('c:@F@%q',%Q,%Q,%Q,%Q,%d,%d,1,0)", function, function,
			       signature, how, target, arg, m->file));
}
