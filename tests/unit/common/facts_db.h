/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A facts.db made by hand, through the real schema. */
#ifndef TEST_FACTS_DB_H
#define TEST_FACTS_DB_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/facts/facts.h"
#include "common/facts/facts_schema.h"

static char db_path[] = "/tmp/vprof-facts-XXXXXX";
static sqlite3 *db;

static inline void db_exec(const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

static inline void db_new(void)
{
	int fd = mkstemp(db_path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
	db_exec(VPROF_FACTS_SCHEMA);
	db_exec("INSERT INTO meta VALUES('version', '" VPROF_FACTS_VERSION_TEXT "'), ('root', '/p');"
		"INSERT INTO file VALUES(1, '/p/src/a.c', '0000000000000000', 1, 1),"
		" (2, '/p/other/b.c', '0000000000000000', 1, 1);");
}

/* `usr` is also the name; the body begins at `id`. */
static inline void db_function(int id, int file, const char *name, const char *usr, const char *signature)
{
	char *sql = sqlite3_mprintf("INSERT INTO function VALUES(%d, %d, %Q, %Q, %Q, %d, %d, %d, %d, 'c', 0, 0, 'int',"
				    " 'scalar', '[]', %Q, 1, '', -1, -1, -1, 'head')",
				    id, file, name, name, usr, id, id, id * 10, id * 10 + 5, signature);

	db_exec(sql);
	sqlite3_free(sql);
}

static inline void db_call(int id, int caller, const char *callee, const char *usr, const char *kind,
			   const char *signature)
{
	char *sql = sqlite3_mprintf(
		"INSERT INTO call SELECT %d, %d, file, %d, %d, 1, 1, %Q, %Q, %Q, %Q, 1, 'statement', '', 0, '[]'"
		" FROM function WHERE id = %d",
		id, caller, id * 4, id * 4 + 3, callee, usr, kind, signature, caller);

	db_exec(sql);
	sqlite3_free(sql);
}

static inline void db_address(const char *usr, const char *signature)
{
	char *sql = sqlite3_mprintf("INSERT INTO address VALUES(%Q, %Q, %Q, 'initializer', 't', -1, 1, 1, 0)", usr, usr,
				    signature);

	db_exec(sql);
	sqlite3_free(sql);
}

static inline struct vprof_facts *db_facts(void)
{
	struct vprof_error err = { "" };
	struct vprof_facts *f = NULL;

	if (vprof_facts_open(&f, db_path, &err))
		fail_msg("%s", err.message);
	return f;
}

static inline void db_free(void)
{
	sqlite3_close(db);
	unlink(db_path);
	snprintf(db_path, sizeof db_path, "/tmp/vprof-facts-XXXXXX");
}

#endif
